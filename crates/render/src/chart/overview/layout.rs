//! Computes the places of an overview's panels in pixels.

use super::Overview;
use crate::chart::axis::Axis;
use crate::chart::font::{Weight, width};
use crate::chart::geometry::Rect;
use crate::chart::layout::{CAPTION, MARGIN, picture};

pub(crate) const SMALL: f64 = 20.0;
pub(crate) const HEADING: f64 = 23.0;
/// Top of the first row of panels.
const TOP: f64 = 152.0;
/// Height of a heading.
const HEADING_ROW: f64 = 34.0;
/// Room for the labels of the x axis.
const FOOT: f64 = 40.0;
/// Room between columns.
const GAP: f64 = 30.0;

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Layout {
    /// The area between the axes of each panel.
    pub(crate) plots: Vec<Rect>,
    pub columns: usize,
    /// The places in the order of the ticks of the y axis that have labels.
    pub labelled: Vec<usize>,
}

impl Layout {
    pub(crate) fn of(overview: &Overview) -> Layout {
        let (picture, count) = (picture(), overview.panels.len());
        let columns = columns(count);
        let rows = count.div_ceil(columns);
        let labels = overview.y.ticks.iter().map(|tick| width(&tick.label, SMALL, Weight::Regular));
        let left = MARGIN + labels.fold(0.0, f64::max) + 12.0;
        let bottom = picture.bottom - MARGIN / 2.0 - overview.captions.len() as f64 * CAPTION * 1.4 - 10.0;
        let pitch = (picture.right - MARGIN - left + GAP) / columns as f64;
        let height = (bottom - TOP) / rows as f64;
        let plot = |index: usize| {
            let (row, column) = ((index / columns) as f64, (index % columns) as f64);
            let (left, top) = (left + column * pitch, TOP + row * height);
            let bottom = top + height - FOOT;
            Rect { left, top: top + HEADING_ROW, right: left + pitch - GAP, bottom }
        };
        let plots: Vec<Rect> = (0..count).map(plot).collect();
        let room = plots.first().map_or(0.0, Rect::height);
        Layout { labelled: labelled(&overview.y, room), plots, columns }
    }
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
fn labelled(axis: &Axis, room: f64) -> Vec<usize> {
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
