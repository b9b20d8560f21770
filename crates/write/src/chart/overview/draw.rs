//! Draws an overview.

use super::{Overview, OverviewPanel};
use crate::chart::axis::Axis;
use crate::chart::canvas::{Align, Canvas};
use crate::chart::draw::{baseline, captions, grid, kind, medium, sample, x_labels, y_labels};
use crate::chart::font::{Weight, fitted, width};
use crate::chart::frame::LegendRow;
use crate::chart::geometry::{CanvasPoint, Plane, Rect};
use crate::chart::layout::{MARGIN, TITLE, above_captions, picture, tick_labels};
use crate::chart::lines::PlotLines;
use crate::chart::lines::strokes::Strokes;
use crate::palette::Role;

/// Half the side of the square that a marker takes.
pub(super) const MARKER: f64 = 6.5;
/// Em of the labels next to points.
pub(super) const POINT_TEXT: f64 = 20.0;
/// Em of the notice.
const NOTICE: f64 = 26.0;
/// Width and height of a panel in a page.
pub(crate) const PANEL_SIZE: (u32, u32) = (480, 320);

pub(crate) fn draw(overview: &Overview, canvas: &Canvas) {
    let layout = OverviewLayout::of(overview);
    canvas.rectangle(picture().corners(), Role::Ground);
    canvas.text(&overview.frame.title, (MARGIN, 58.0), medium(TITLE, Role::Ink, Align::Left));
    if let Some(notice) = &overview.notice {
        let notice = fitted(notice, NOTICE, Weight::Medium, picture().right - 2.0 * MARGIN);
        canvas.text(&notice, (MARGIN, 98.0), medium(NOTICE, Role::Worse, Align::Left));
    }
    for (row, &(left, middle)) in overview.frame.legend.iter().zip(&layout.legend) {
        let LegendRow::Entry(shown, text) = row else { continue };
        sample(canvas, *shown, (left, middle), 0.8);
        let place = (left + shown.length() + SAMPLE_GAP, baseline(middle, LEGEND));
        canvas.text(text, place, kind(LEGEND, Role::Ink, Align::Left));
    }
    for (index, (panel, plot)) in overview.panels.iter().zip(&layout.plots).enumerate() {
        let plane = Plane { area: *plot, x: &panel.x, y: &overview.y };
        draw_panel(&panel.heading, &panel.lines, plane, canvas);
        if index % layout.columns == 0 {
            y_labels(canvas, &plane, SMALL);
        }
    }
    captions(canvas, &overview.frame.captions);
}

/// Draws one panel with labels of both axes on a canvas of its own; the page has its heading.
pub(crate) fn draw_alone(panel: &OverviewPanel, y: &Axis) -> Canvas {
    let canvas = Canvas::new(PANEL_SIZE);
    let (right, bottom) = (f64::from(PANEL_SIZE.0), f64::from(PANEL_SIZE.1));
    canvas.rectangle([(0.0, 0.0), (right, bottom)], Role::Ground);
    let left = tick_labels(y, SMALL, 0.0) + 16.0;
    let area = Rect { left, top: 12.0, right: right - 14.0, bottom: bottom - 38.0 };
    let plane = Plane { area, x: &panel.x, y };
    draw_panel("", &panel.lines, plane, &canvas);
    y_labels(&canvas, &plane, SMALL);
    canvas
}

fn draw_panel(name: &str, lines: &PlotLines, plane: Plane<'_>, canvas: &Canvas) {
    let plot = plane.area;
    let strokes = Strokes { canvas, plane, lines, marker: MARKER, em: POINT_TEXT };
    strokes.tints(&plot);
    grid(canvas, &plane);
    strokes.lines();
    let name = fitted(name, HEADING, Weight::Medium, plot.width());
    canvas.text(&name, (plot.left, plot.top - 10.0), medium(HEADING, Role::Ink, Align::Left));
    x_labels(canvas, &plane, SMALL);
}

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
        let plots = (0..count).map(plot).collect();
        OverviewLayout { legend, plots, columns }
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
