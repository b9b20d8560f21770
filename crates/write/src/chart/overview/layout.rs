//! Computes the places of an overview's panels in pixels.

use super::Overview;
use crate::chart::axis::Axis;
use crate::chart::font::{Weight, width};
use crate::chart::frame::LegendRow;
use crate::chart::geometry::{CanvasPoint, Rect};
use crate::chart::layout::{MARGIN, above_captions, picture, tick_labels};

pub(crate) const SMALL: f64 = 20.0;
pub(crate) const HEADING: f64 = 23.0;
/// Em of the legend, the middle of its first row, and the height of a row.
pub(crate) const LEGEND: f64 = 22.0;
const LEGEND_TOP: f64 = 108.0;
const LEGEND_ROW: f64 = 34.0;
/// Room between a sample of the legend and its text, and between its entries.
pub(crate) const SAMPLE_GAP: f64 = 10.0;
const ENTRY_GAP: f64 = 34.0;
/// Height of a heading.
const HEADING_ROW: f64 = 34.0;
/// Room for the labels of the x axis.
const FOOT: f64 = 40.0;
/// Room between columns.
const GAP: f64 = 30.0;

pub(crate) struct OverviewLayout {
    /// The left ends of the entries of the legend, at their middle.
    pub(crate) legend: Vec<CanvasPoint>,
    /// The area between the axes of each panel.
    pub(crate) plots: Vec<Rect>,
    pub columns: usize,
    /// The places in the order of the ticks of the y axis that have labels.
    pub labelled: Vec<usize>,
}

impl OverviewLayout {
    pub(crate) fn of(overview: &Overview) -> OverviewLayout {
        let (picture, count) = (picture(), overview.panels.len());
        let columns = columns(count);
        let rows = count.div_ceil(columns);
        let left = MARGIN + tick_labels(&overview.y, SMALL, 0.0) + 12.0;
        let bottom = above_captions(&overview.frame.captions) - 10.0;
        let legend = legend(overview, picture.right - MARGIN);
        let top = legend.last().map_or(legend_top(overview), |place| place.1) + 42.0;
        let pitch = (picture.right - MARGIN - left + GAP) / columns as f64;
        let height = (bottom - top) / rows as f64;
        let plot = |index: usize| {
            let (row, column) = ((index / columns) as f64, (index % columns) as f64);
            let (left, top) = (left + column * pitch, top + row * height);
            let bottom = top + height - FOOT;
            Rect { left, top: top + HEADING_ROW, right: left + pitch - GAP, bottom }
        };
        let plots: Vec<Rect> = (0..count).map(plot).collect();
        let room = plots.first().map_or(0.0, Rect::height);
        OverviewLayout { legend, labelled: labelled(&overview.y, room), plots, columns }
    }
}

/// The middle of the first row of the legend, under the notice.
fn legend_top(overview: &Overview) -> f64 {
    if overview.notice.is_some() { LEGEND_TOP + LEGEND_ROW } else { LEGEND_TOP }
}

/// The places of the entries of the legend, in rows up to `right`.
fn legend(overview: &Overview, right: f64) -> Vec<CanvasPoint> {
    let (mut left, mut middle) = (MARGIN, legend_top(overview));
    let entries = overview.frame.legend.iter().map(|row| {
        let sample = if let LegendRow::Entry(sample, _) = row { sample.length() + SAMPLE_GAP } else { 0.0 };
        let wide = sample + width(row.text(), LEGEND, Weight::Regular);
        if left > MARGIN && left + wide > right {
            (left, middle) = (MARGIN, middle + LEGEND_ROW);
        }
        let place = (left, middle);
        left += wide + ENTRY_GAP;
        place
    });
    entries.collect()
}

/// The number of columns for a number of panels, so that few cells stay empty.
fn columns(count: usize) -> usize {
    match count {
        0..=3 => count.max(1),
        4 => 2,
        5 | 6 | 9 => 3,
        _ => 4,
    }
}

/// The ticks that labels have room for, those near 1 first.
pub(crate) fn labelled(axis: &Axis, room: f64) -> Vec<usize> {
    let mut order: Vec<usize> = (0..axis.ticks.len()).collect();
    order.sort_by(|a, b| {
        let distance = |index: usize| axis.ticks[index].value.ln().abs();
        distance(*a).total_cmp(&distance(*b))
    });
    let place = |index: usize| axis.fraction(axis.ticks[index].value) * room;
    let mut kept: Vec<usize> = vec![];
    for index in order {
        if kept.iter().all(|&other| (place(index) - place(other)).abs() > 1.25 * SMALL) {
            kept.push(index);
        }
    }
    kept
}
