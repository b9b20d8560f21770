//! Draws lines with their bands, markers, crossings and labels between two axes.

use crate::palette::{Role, Tint};

use super::labels::{Labels, PlotContents, REGION_TEXT};
use super::{CrossingMark, PlotLines};
use crate::chart::canvas::{Align, Canvas, Paint};
use crate::chart::draw::{LINE, baseline, crossover, line_break, marked, medium};
use crate::chart::geometry::{CanvasPoint, Rect};
use crate::chart::placing::Placed;
use crate::chart::series::{ChartSeries, Point, Stroke};

/// Bands of crossings that are narrower than this many pixels are drawn as wide.
const LEAST_BAND: f64 = 2.0;

/// Thickness of the measured peaks.
const LEVEL: f64 = 2.6;

pub(crate) struct Strokes<'a> {
    pub(crate) canvas: &'a Canvas,
    pub contents: PlotContents<'a>,
}

impl Strokes<'_> {
    pub(crate) fn ground(&self) {
        self.tints(&self.contents.plane.area)
    }

    /// Everything but the ground and the grid.
    pub(crate) fn lines(&self) {
        let PlotLines { series, crossings, levels, .. } = self.contents.lines;
        let labels = Labels::of(&self.contents);
        crossings.iter().for_each(|crossing| self.crossing_band(crossing));
        for level in levels {
            self.across(level.value, level.style.hue, LEVEL, level.style.stroke);
        }
        if self.contents.lines.regions.is_some() {
            self.across(1.0, Role::Ink, 2.4, Stroke::Solid);
        }
        series.iter().for_each(|series| self.band(series));
        // In reverse, so that the first of the legend lies on top.
        series.iter().rev().for_each(|series| self.line(series));
        crossings.iter().for_each(|crossing| self.crossing(crossing));
        self.grounds(&labels);
        self.labels(&labels);
        self.notes();
    }

    /// The notes of all points, on top of everything: those of the first series of the legend last, as its line is.
    fn notes(&self) {
        let PlotContents { lines, plane, marker, .. } = &self.contents;
        for point in lines.series.iter().rev().flat_map(|series| &series.points) {
            self.canvas.note(&point.note, plane.place(point.x, point.y), 1.5 * marker);
        }
    }

    /// Tints the parts of `area` above and below the line at 1.
    fn tints(&self, area: &Rect) {
        if self.contents.lines.regions.is_none() {
            return;
        }
        let line = self.contents.plane.down(1.0);
        if area.top < line {
            let above = Rect { bottom: line.min(area.bottom), ..*area };
            self.canvas.rectangle(above.corners(), Paint::Tinted(Tint::GPU_REGION));
        }
        if area.bottom > line {
            let below = Rect { top: line.max(area.top), ..*area };
            self.canvas.rectangle(below.corners(), Paint::Tinted(Tint::CPU_REGION));
        }
    }

    /// Clears the ground of labels, so that no grid line or band runs through them.
    fn grounds(&self, labels: &Labels) {
        for label in labels.all() {
            let ground = Rect { left: label.area.left - 2.0, right: label.area.right + 2.0, ..label.area };
            self.canvas.rectangle(ground.corners(), Role::Ground);
            self.tints(&ground);
        }
    }

    /// A line across the plot.
    fn across(&self, value: f64, hue: Role, thickness: f64, stroke: Stroke) {
        let plane = &self.contents.plane;
        let y = plane.down(value);
        self.canvas.stroke(&[(plane.area.left, y), (plane.area.right, y)], hue, thickness, stroke);
    }

    /// The intervals: an area along the line, as wide as its marker at a point without neighbours.
    fn band(&self, series: &ChartSeries) {
        let (plane, paint) = (&self.contents.plane, Paint::Clear(series.style.hue, 0.2));
        let high = |point: &Point| plane.place(point.x, point.high);
        let low = |point: &Point| plane.place(point.x, point.low);
        series.bands().for_each(|points| {
            if let [one] = points {
                let half = self.contents.marker;
                let [(x, top), (_, bottom)] = [high(one), low(one)];
                return self.canvas.rectangle([(x - half, top), (x + half, bottom)], paint);
            }
            let corners: Vec<CanvasPoint> =
                points.iter().map(high).chain(points.iter().rev().map(low)).collect();
            self.canvas.fill(&corners, paint)
        })
    }

    fn line(&self, series: &ChartSeries) {
        let plane = &self.contents.plane;
        let path: Vec<CanvasPoint> = series.path().into_iter().map(|(x, y)| plane.place(x, y)).collect();
        self.canvas.stroke(&path, series.style.hue, LINE, series.style.stroke);
        for ends in series.breaks() {
            let [from, to] = ends.map(|(x, y)| plane.place(x, y));
            let middle = (f64::midpoint(from.0, to.0), f64::midpoint(from.1, to.1));
            line_break(self.canvas, middle, series.style.hue, self.contents.marker);
        }
        series.points.iter().for_each(|point| {
            let place = plane.place(point.x, point.y);
            marked(self.canvas, place, series.style, point.marks, self.contents.marker)
        })
    }

    /// The interval of a crossing, over the whole height.
    fn crossing_band(&self, crossing: &CrossingMark) {
        let plane = &self.contents.plane;
        let ends = [plane.area.left, plane.area.right];
        let [left, right] = crossing.interval.map(|size| plane.across(size).clamp(ends[0], ends[1]));
        let half = ((right - left) / 2.0).max(LEAST_BAND / 2.0);
        let middle = (f64::midpoint(left, right), plane.area.middle().1);
        let area = Rect::around(middle, half, plane.area.height() / 2.0);
        let strength = if half > 3.0 { 0.18 } else { 0.55 };
        self.canvas.rectangle(area.corners(), Paint::Clear(crossing.hue, strength))
    }

    /// A ring where a series meets the line at 1.
    fn crossing(&self, crossing: &CrossingMark) {
        let place = self.contents.plane.place(crossing.size, 1.0);
        crossover(self.canvas, place, crossing.hue, self.contents.marker)
    }

    fn labels(&self, labels: &Labels) {
        let (PlotLines { series, crossings, .. }, em) = (self.contents.lines, self.contents.em);
        for (is_above, region) in &labels.regions {
            self.label(region, REGION_TEXT, if *is_above { Role::Blue } else { Role::Vermilion });
        }
        for (index, label) in &labels.crossings {
            self.label(label, em, crossings[*index].hue);
        }
        for label in &labels.points {
            let hue = series[label.series].style.hue;
            if let Some(leader) = label.leader {
                self.canvas.rule(leader, hue, 1.2);
            }
            self.label(&label.placed, em, hue);
        }
    }

    fn label(&self, label: &Placed, em: f64, hue: Role) {
        let place = (label.area.left, baseline(label.area.middle().1, em));
        self.canvas.text(&label.text, place, medium(em, hue.text(), Align::Left))
    }
}
