//! Draws an overview.

use crate::palette::Role;

use super::layout::{HEADING, LEGEND, OverviewLayout, SAMPLE_GAP, SMALL, labelled};
use super::{Figure, Overview, OverviewPanel};
use crate::chart::axis::Axis;
use crate::chart::canvas::{Align, Canvas};
use crate::chart::draw::{baseline, captions, kind, marked, medium, sample};
use crate::chart::font::{Weight, fitted, width};
use crate::chart::frame::LegendRow;
use crate::chart::geometry::{Plane, Rect};
use crate::chart::layout::{MARGIN, TITLE, below, picture, tick_labels};
use crate::chart::lines::Lines;
use crate::chart::lines::labels::PlotContents;
use crate::chart::lines::strokes::Strokes;
use crate::chart::series::Stroke;

/// Half the side of the square that a marker takes.
pub(super) const MARKER: f64 = 6.5;
/// Em of the labels next to points.
pub(super) const POINT_TEXT: f64 = 20.0;
/// Em of the notice.
const NOTICE: f64 = 26.0;
/// Em of the speed-ups in words, and the height of their rows.
const FIGURE: f64 = 24.0;
const FIGURE_ROW: f64 = 40.0;
/// Room before the names of speed-ups in words, and the least width of their column.
const NAME: f64 = 26.0;
const MIN_NAME_WIDTH: f64 = 96.0;
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
        if !panel.figures.is_empty() {
            draw_figures(panel, plot, canvas);
            continue;
        }
        let plane = Plane { area: *plot, x: &panel.x, y: &overview.y };
        draw_panel(&panel.heading, &panel.lines, plane, canvas);
        if index % layout.columns == 0 {
            axis_labels(&plane, &layout.labelled, canvas);
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
    axis_labels(&plane, &labelled(y, area.height()), &canvas);
    canvas
}

/// The labels of the y axis at these of its ticks.
fn axis_labels(plane: &Plane<'_>, ticks: &[usize], canvas: &Canvas) {
    ticks.iter().map(|tick| &plane.y.ticks[*tick]).for_each(|tick| {
        let place = (plane.area.left - 10.0, baseline(plane.down(tick.value), SMALL));
        canvas.text(&tick.label, place, kind(SMALL, Role::Ink, Align::Right))
    })
}

/// The heading of a panel, and its speed-ups in words.
fn draw_figures(panel: &OverviewPanel, plot: &Rect, canvas: &Canvas) {
    heading(&panel.heading, plot, canvas);
    let names = panel.figures.iter().map(|figure| width(figure.name, SMALL, Weight::Regular));
    let column = plot.left + NAME + names.fold(MIN_NAME_WIDTH, f64::max) + 12.0;
    for (index, Figure { style, marks, name, texts: [text, interval] }) in panel.figures.iter().enumerate() {
        let middle = plot.top + 24.0 + index as f64 * FIGURE_ROW;
        let y = baseline(middle, FIGURE);
        marked(canvas, (plot.left + MARKER, middle), *style, *marks, MARKER);
        canvas.text(name, (plot.left + NAME, y), kind(SMALL, Role::Ink, Align::Left));
        canvas.text(text, (column, y), medium(FIGURE, Role::Ink, Align::Left));
        let left = column + width(text, FIGURE, Weight::Medium) + 12.0;
        let interval = fitted(interval, SMALL, Weight::Regular, plot.right - left);
        canvas.text(&interval, (left, y), kind(SMALL, Role::Soft, Align::Left));
    }
}

fn heading(text: &str, plot: &Rect, canvas: &Canvas) {
    let text = fitted(text, HEADING, Weight::Medium, plot.width());
    canvas.text(&text, (plot.left, plot.top - 10.0), medium(HEADING, Role::Ink, Align::Left))
}

fn draw_panel(name: &str, lines: &Lines, plane: Plane<'_>, canvas: &Canvas) {
    let plot = plane.area;
    let contents = PlotContents { plane, lines, marker: MARKER, em: POINT_TEXT };
    let strokes = Strokes { canvas, contents };
    strokes.ground();
    grid(&plane, canvas);
    strokes.lines();
    heading(name, &plot, canvas);
    for label in below(&plane, SMALL) {
        let place = (label.x, plot.bottom + 26.0);
        canvas.text(&label.text, place, kind(SMALL, Role::Ink, Align::Center));
    }
}

fn grid(plane: &Plane<'_>, canvas: &Canvas) {
    let Rect { left, top, right, bottom } = plane.area;
    let across = |value: f64, thickness: f64| {
        let y = plane.down(value);
        canvas.rule([(left, y), (right, y)], Role::Line, thickness)
    };
    plane.y.minor.iter().for_each(|value| across(*value, 0.8));
    plane.y.ticks.iter().for_each(|tick| across(tick.value, 1.8));
    for value in &plane.x.minor {
        let x = plane.across(*value);
        canvas.rule([(x, top), (x, bottom)], Role::MinorLine, 1.0);
    }
    for tick in &plane.x.ticks {
        let x = plane.across(tick.value);
        canvas.rule([(x, top), (x, bottom)], Role::Line, 1.0);
        canvas.rule([(x, bottom), (x, bottom + 6.0)], Role::Axis, 1.6);
    }
    let axes = [(left, top), (left, bottom), (right, bottom)];
    canvas.stroke(&axes, Role::Axis, 1.6, Stroke::Solid)
}
