//! Draws the frame of a chart and its markers on a canvas.

use crate::palette::Role;

use super::axis::Tick;
use super::canvas::{Align, Canvas, Paint, Type};
use super::font::{Weight, fitted};
use super::frame::{Frame, LegendRow, LegendSample};
use super::geometry::{CanvasPoint, Plane, Rect, corners};
use super::layout::{Axes, CAPTION, Extent, FrameLayout, MARGIN, SAMPLE_GAP, TEXT, TITLE, below, picture};
use super::series::{Marks, Stroke, Style};

/// Thickness of the lines of series.
pub(crate) const LINE: f64 = 3.2;
/// Half the side of the square that a marker takes.
pub(crate) const MARKER: f64 = 9.0;
/// Length of the arms of a cross over the radius of its marker.
const CROSS: f64 = 0.55;
/// The looks of a marker in the explanation of marks.
const SAMPLE: Style = Style { hue: Role::Soft, stroke: Stroke::Solid, marker: 0, filled: true };
/// Height of digits and capitals over the em, in Roboto.
const CAP_HEIGHT: f64 = 0.711;

pub(crate) fn kind(em: f64, paint: impl Into<Paint>, align: Align) -> Type {
    Type { em, weight: Weight::Regular, paint: paint.into(), align }
}

pub(crate) fn medium(em: f64, paint: impl Into<Paint>, align: Align) -> Type {
    Type { weight: Weight::Medium, ..kind(em, paint, align) }
}

/// The baseline that puts the middle of digits and capitals at `middle`.
pub(crate) fn baseline(middle: f64, em: f64) -> f64 {
    middle + em * CAP_HEIGHT / 2.0
}

/// A marker with a rim of the ground's colour, so that it is visible over lines; open ones are empty inside.
pub(crate) fn marker(
    canvas: &Canvas,
    place: CanvasPoint,
    style: Style,
    paint: impl Into<Paint>,
    radius: f64,
) {
    let shape = |radius| corners(style.marker, place, radius);
    canvas.fill(&shape(radius + 1.8), Role::Ground);
    canvas.fill(&shape(radius), paint);
    if !style.filled {
        canvas.fill(&shape(radius * 0.6), Role::Ground);
    }
}

/// The colour of ties, which is no side's.
const TIE: Role = Role::Soft;

/// A marker with the marks of its point: open and grey for a tie, with a cross inside for grade D.
pub(crate) fn marked(canvas: &Canvas, place: CanvasPoint, style: Style, marks: Marks, radius: f64) {
    let filled = style.filled && !marks.is_tie;
    let own = if marks.is_tie { TIE } else { style.hue };
    marker(canvas, place, Style { filled, ..style }, own, radius);
    if !marks.grade_d {
        return;
    }
    let (arm, hue) = (CROSS * radius, if filled { Role::Ground } else { own });
    for slope in [-1.0, 1.0] {
        let ends = [(place.0 - arm, place.1 - slope * arm), (place.0 + arm, place.1 + slope * arm)];
        canvas.rule(ends, hue, (0.28 * radius).max(1.4));
    }
}

/// The mark of a crossover: a ring with a dot in it.
pub(crate) fn crossover(canvas: &Canvas, place: CanvasPoint, hue: Role, radius: f64) {
    let ring = Style { hue, stroke: Stroke::Solid, marker: 0, filled: false };
    marker(canvas, place, ring, hue, 1.2 * radius);
    canvas.fill(&corners(0, place, 0.35 * radius), hue)
}

/// A sample of a legend that starts at the place; `scale` is 1 in a legend of full size.
pub(crate) fn sample(canvas: &Canvas, sample: LegendSample, (left, middle): CanvasPoint, scale: f64) {
    let right = left + sample.length();
    let line = |style: Style| {
        let ends = [(left, middle), (right, middle)];
        canvas.stroke(&ends, style.hue, LINE, style.stroke)
    };
    let center = (f64::midpoint(left, right), middle);
    let mark = |style: Style| marker(canvas, center, style, style.hue, MARKER * scale);
    match sample {
        LegendSample::Rule(style) => line(style),
        LegendSample::Line(style) => {
            line(style);
            mark(style);
        }
        LegendSample::Marker(style) => mark(style),
        LegendSample::Mark(shown) => marked(canvas, center, SAMPLE, shown, MARKER * scale),
        LegendSample::Crossover => crossover(canvas, center, Role::Ink, MARKER * scale),
        LegendSample::Swatch(hue) => {
            let area = Rect::around(center, sample.length() / 2.0, 10.0 * scale);
            canvas.rectangle(area.corners(), hue)
        }
    }
}

/// Sets lines at the foot of the picture, cut to its width.
pub(crate) fn captions(canvas: &Canvas, lines: &[String]) {
    let picture = picture();
    for (index, text) in lines.iter().rev().enumerate() {
        let baseline = picture.bottom - MARGIN / 2.0 - 6.0 - index as f64 * CAPTION * 1.4;
        let text = fitted(text, CAPTION, Weight::Regular, picture.right - 2.0 * MARGIN);
        canvas.text(&text, (MARGIN, baseline), kind(CAPTION, Role::Soft, Align::Left));
    }
}

/// The lines at the labels of both axes, and the axes.
pub(crate) fn grid(canvas: &Canvas, plane: &Plane<'_>) {
    let plot = plane.area;
    let down = |x: f64, role: Role| canvas.rule([(x, plot.top), (x, plot.bottom)], role, 1.0);
    plane.x.minor.iter().for_each(|&value| down(plane.across(value), Role::MinorLine));
    let across = |value: f64, role: Role, thickness| {
        let y = plane.down(value);
        canvas.rule([(plot.left, y), (plot.right, y)], role, thickness)
    };
    plane.y.minor.iter().for_each(|&value| across(value, Role::MinorLine, 1.0));
    plane.y.ticks.iter().for_each(|tick| across(tick.value, Role::Line, 1.4));
    for tick in &plane.x.ticks {
        let x = plane.across(tick.value);
        down(x, Role::Line);
        canvas.rule([(x, plot.bottom), (x, plot.bottom + 8.0)], Role::Axis, 2.0);
    }
    let axes = [(plot.left, plot.top), (plot.left, plot.bottom), (plot.right, plot.bottom)];
    canvas.stroke(&axes, Role::Axis, 2.0, Stroke::Solid)
}

/// The labels under the x axis.
pub(crate) fn x_labels(canvas: &Canvas, plane: &Plane<'_>, em: f64) {
    for (x, label) in below(plane, em) {
        let place = (x, plane.area.bottom + 14.0 + em);
        canvas.text(&label, place, kind(em, Role::Ink, Align::Center));
    }
}

/// The labels to the left of the y axis.
pub(crate) fn y_labels(canvas: &Canvas, plane: &Plane<'_>, em: f64) {
    for tick in labelled(plane, em) {
        let place = (plane.area.left - 12.0, baseline(plane.down(tick.value), em));
        canvas.text(&tick.label, place, kind(em, Role::Ink, Align::Right));
    }
}

/// The ticks of the y axis that labels have room for, those near 1 first.
pub(crate) fn labelled<'a>(plane: &Plane<'a>, em: f64) -> Vec<&'a Tick> {
    let mut order: Vec<&Tick> = plane.y.ticks.iter().collect();
    order.sort_by(|a, b| a.value.ln().abs().total_cmp(&b.value.ln().abs()));
    let mut kept: Vec<&Tick> = vec![];
    for tick in order {
        let distance = |other: &&Tick| (plane.down(tick.value) - plane.down(other.value)).abs();
        if kept.iter().all(|other| distance(other) > 1.25 * em) {
            kept.push(tick);
        }
    }
    kept
}

pub(crate) struct FrameDrawing<'a> {
    pub(crate) canvas: &'a Canvas,
    pub(crate) frame: &'a Frame,
    pub layout: FrameLayout<'a>,
}

impl<'a> FrameDrawing<'a> {
    pub(crate) fn begin(canvas: &'a Canvas, frame: &'a Frame, axes: &'a Axes, extent: Extent) -> Self {
        let layout = FrameLayout::of(frame, axes, extent);
        canvas.rectangle(layout.picture.corners(), Role::Ground);
        FrameDrawing { canvas, frame, layout }
    }

    /// Names of the axes and, of a file, title, subtitle and captions.
    pub(crate) fn titles(&self) {
        let (canvas, frame, Plane { area: plot, x, y }) = (self.canvas, self.frame, self.layout.plane);
        let (ink, soft) = (Role::Ink, Role::Soft);
        let under = (plot.middle().0, plot.bottom + 86.0);
        canvas.text(&x.title, under, kind(TEXT, ink, Align::Center));
        if self.layout.extent == Extent::Page {
            return canvas.text(&y.title, (4.0, 28.0), kind(TEXT, ink, Align::Left));
        }
        canvas.text(&frame.title, (MARGIN, 62.0), medium(TITLE, ink, Align::Left));
        canvas.text(&frame.subtitle, (MARGIN, 100.0), kind(TEXT, soft, Align::Left));
        canvas.text(&y.title, (MARGIN, 150.0), kind(TEXT, ink, Align::Left));
        captions(canvas, &frame.captions)
    }

    pub(crate) fn legend(&self) {
        let (left, em, ink) = (self.layout.legend.left, self.layout.legend_em, Role::Ink);
        for entry in &self.layout.entries {
            let (y, left) = (baseline(entry.middle, em), left + entry.indent);
            match &entry.row {
                LegendRow::Heading(text) => self.canvas.text(text, (left, y), medium(em, ink, Align::Left)),
                LegendRow::Note(text) => self.canvas.text(text, (left, y), kind(em, ink, Align::Left)),
                LegendRow::Entry(shown, text) => {
                    let right = left + shown.length();
                    sample(self.canvas, *shown, (left, entry.middle), em / TEXT);
                    self.canvas.text(text, (right + SAMPLE_GAP, y), kind(em, ink, Align::Left));
                }
            }
        }
    }
}
