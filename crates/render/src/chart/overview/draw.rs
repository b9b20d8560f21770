//! Draws an overview.

use gpubench_text::palette::Role;

use super::layout::{HEADING, Layout, SMALL};
use super::{Overview, Panel, REFERENCE};
use crate::chart::canvas::{Align, Canvas};
use crate::chart::draw::{baseline, captions, kind, medium, sample};
use crate::chart::font::{Weight, fitted, width};
use crate::chart::geometry::Rect;
use crate::chart::layout::{MARGIN, TITLE, picture};
use crate::chart::lines::labels::Contents;
use crate::chart::lines::strokes::Strokes;
use crate::chart::plane::Plane;
use crate::chart::series::Stroke;
use crate::chart::ticks::below;

/// Half the side of the square that a marker takes.
const MARKER: f64 = 6.5;
/// Em of the labels next to points.
const POINT_TEXT: f64 = 20.0;
/// Em and middle of the legend.
const LEGEND: (f64, f64) = (22.0, 112.0);

pub(crate) fn draw(overview: &Overview, canvas: &Canvas<'_>) -> anyhow::Result<()> {
    let layout = Layout::of(overview);
    canvas.rectangle(picture().corners(), Role::Ground)?;
    canvas.text(&overview.title, (MARGIN, 62.0), medium(TITLE, Role::Ink, Align::Left))?;
    legend(overview, canvas)?;
    for (index, (panel, plot)) in overview.panels.iter().zip(&layout.plots).enumerate() {
        let plane = Plane { area: *plot, x: &panel.x, y: &overview.y };
        draw_panel(panel, plane, canvas)?;
        if index % layout.columns == 0 {
            for &tick in &layout.labelled {
                let tick = &overview.y.ticks[tick];
                let place = (plot.left - 10.0, baseline(plane.down(tick.value), SMALL));
                canvas.text(&tick.label, place, kind(SMALL, Role::Ink, Align::Right))?;
            }
        }
    }
    captions(canvas, &overview.captions)
}

/// Samples and texts in one row.
fn legend(overview: &Overview, canvas: &Canvas<'_>) -> anyhow::Result<()> {
    let (em, middle) = LEGEND;
    let mut left = MARGIN;
    for (shown, text) in &overview.legend {
        sample(canvas, *shown, (left, middle), 0.8)?;
        left += shown.length() + 10.0;
        canvas.text(text, (left, baseline(middle, em)), kind(em, Role::Ink, Align::Left))?;
        left += width(text, em, Weight::Regular) + 36.0;
    }
    Ok(())
}

fn draw_panel(panel: &Panel, plane: Plane<'_>, canvas: &Canvas<'_>) -> anyhow::Result<()> {
    let plot = plane.area;
    let contents = Contents {
        plane,
        series: &panel.series,
        reference: Some(&REFERENCE),
        crossings: &panel.crossings,
        marker: MARKER,
        em: POINT_TEXT,
    };
    let strokes = Strokes { canvas, contents };
    strokes.ground()?;
    grid(&plane, canvas)?;
    strokes.lines()?;
    let heading = fitted(&panel.heading, HEADING, Weight::Medium, plot.width());
    let place = (plot.left, plot.top - 10.0);
    canvas.text(&heading, place, medium(HEADING, Role::Ink, Align::Left))?;
    for label in below(&plane, SMALL) {
        let place = (label.x, plot.bottom + 26.0);
        canvas.text(&label.text, place, kind(SMALL, Role::Ink, Align::Center))?;
    }
    Ok(())
}

fn grid(plane: &Plane<'_>, canvas: &Canvas<'_>) -> anyhow::Result<()> {
    let Rect { left, top, right, bottom } = plane.area;
    for tick in &plane.y.ticks {
        let y = plane.down(tick.value);
        canvas.rule([(left, y), (right, y)], Role::Line, 1.0)?;
    }
    for tick in &plane.x.ticks {
        let x = plane.across(tick.value);
        canvas.rule([(x, top), (x, bottom)], Role::Line, 1.0)?;
        canvas.rule([(x, bottom), (x, bottom + 6.0)], Role::Axis, 1.6)?;
    }
    let axes = [(left, top), (left, bottom), (right, bottom)];
    canvas.stroke(&axes, Role::Axis, 1.6, Stroke::Solid)
}
