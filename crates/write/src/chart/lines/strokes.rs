//! Draws lines with their bands, markers, crossings and labels between two axes.

use crate::palette::{Role, Tint};

use super::{CrossingMark, PlotLines};
use crate::chart::canvas::{Align, Canvas, Paint};
use crate::chart::draw::{LINE, baseline, crossover, marked, medium};
use crate::chart::geometry::{CanvasPoint, Plane, Rect};
use crate::chart::placing::{Placed, Room};
use crate::chart::series::{ChartSeries, Point, Stroke};

/// Bands of crossings that are narrower than this many pixels are drawn as wide.
const LEAST_BAND: f64 = 2.0;

/// Thickness of the measured peaks.
const LEVEL: f64 = 2.6;

/// Lines between two axes, and the canvas on which they are drawn.
pub(crate) struct Strokes<'a> {
    pub(crate) canvas: &'a Canvas,
    pub(crate) plane: Plane<'a>,
    pub(crate) lines: &'a PlotLines,
    /// Half the side of the square that a marker takes.
    pub(crate) marker: f64,
    /// Em of the labels.
    pub(crate) em: f64,
}

impl Strokes<'_> {
    /// Everything but the ground and the grid.
    pub(crate) fn lines(&self) {
        let PlotLines { series, crossings, levels, has_sides } = self.lines;
        crossings.iter().for_each(|crossing| self.crossing_band(crossing));
        for level in levels {
            self.across(level.value, level.style.hue, LEVEL, level.style.stroke);
        }
        if *has_sides {
            self.across(1.0, Role::Ink, 2.4, Stroke::Solid);
        }
        series.iter().for_each(|series| self.band(series));
        // In reverse, so that the first of the legend lies on top.
        series.iter().rev().for_each(|series| self.line(series));
        for crossing in crossings {
            crossover(self.canvas, self.plane.place(crossing.size, 1.0), crossing.hue, self.marker);
        }
        self.labels().iter().for_each(|(label, hue)| self.label(label, *hue));
        // The notes are on top of everything: those of the first series of the legend last, as its line is.
        for point in series.iter().rev().flat_map(|series| &series.points) {
            self.canvas.note(&point.note, self.plane.place(point.x, point.y), 1.5 * self.marker);
        }
    }

    /// The labels of points and crossings that find a free place, with their colours. The greatest sizes come first.
    pub(super) fn labels(&self) -> Vec<(Placed, Role)> {
        let (mut room, mut labels, line) = (self.obstacles(), vec![], self.plane.down(1.0));
        let points = self
            .lines
            .series
            .iter()
            .flat_map(|series| series.points.iter().map(move |point| (series, point)));
        let labelled =
            points.filter_map(|(series, point)| Some((series.style.hue, point, point.label.as_deref()?)));
        let mut labelled: Vec<(Role, &Point, &str)> = labelled.collect();
        labelled.sort_by(|(_, a, _), (_, b, _)| b.x.total_cmp(&a.x));
        for (hue, point, text) in labelled {
            let place = self.plane.place(point.x, point.y);
            let placed = room.place_near(place, self.marker, text, self.em, point.y < 1.0);
            // On the other side of 1, a label would name the wrong winner.
            let is_right =
                |area: &Rect| !self.lines.has_sides || (area.middle().1 < line) == (place.1 < line);
            labels.extend(placed.filter(|placed| is_right(&placed.area)).map(|placed| (placed, hue)));
        }
        for crossing in &self.lines.crossings {
            let place = self.plane.place(crossing.size, 1.0);
            // Lines rise from left to right, so that there is room below.
            let placed = room.place_near(place, self.marker + 3.0, &crossing.label, self.em, true);
            labels.extend(placed.map(|placed| (placed, crossing.hue)));
        }
        labels
    }

    /// The plot with its markers and lines.
    fn obstacles(&self) -> Room {
        let (plane, half) = (&self.plane, self.marker + 3.0);
        let mut room = Room::of(&plane.area);
        for series in &self.lines.series {
            let places = series.points.iter().map(|point| plane.place(point.x, point.y));
            places.for_each(|place| room.keep(Rect::around(place, half, half)));
            let path: Vec<CanvasPoint> = series.path().into_iter().map(|(x, y)| plane.place(x, y)).collect();
            room.keep_line(&path);
        }
        if self.lines.has_sides {
            let y = plane.down(1.0);
            room.keep_line(&[(plane.area.left, y), (plane.area.right, y)]);
            for crossing in &self.lines.crossings {
                room.keep(Rect::around((plane.across(crossing.size), y), half, half));
            }
        }
        room
    }

    /// Tints the parts of `area` above and below the line at 1.
    pub(crate) fn tints(&self, area: &Rect) {
        if !self.lines.has_sides {
            return;
        }
        let line = self.plane.down(1.0);
        if area.top < line {
            let above = Rect { bottom: line.min(area.bottom), ..*area };
            self.canvas.rectangle(above.corners(), Paint::Tinted(Tint::GPU_REGION));
        }
        if area.bottom > line {
            let below = Rect { top: line.max(area.top), ..*area };
            self.canvas.rectangle(below.corners(), Paint::Tinted(Tint::CPU_REGION));
        }
    }

    /// A line across the plot.
    fn across(&self, value: f64, hue: Role, thickness: f64, stroke: Stroke) {
        let plane = &self.plane;
        let y = plane.down(value);
        self.canvas.stroke(&[(plane.area.left, y), (plane.area.right, y)], hue, thickness, stroke);
    }

    /// The intervals: an area along the line, as wide as its marker at a point without neighbours.
    fn band(&self, series: &ChartSeries) {
        let (plane, paint) = (&self.plane, Paint::Clear(series.style.hue, 0.2));
        let high = |point: &Point| plane.place(point.x, point.high);
        let low = |point: &Point| plane.place(point.x, point.low);
        series.bands().for_each(|points| {
            if let [one] = points {
                let half = self.marker;
                let [(x, top), (_, bottom)] = [high(one), low(one)];
                return self.canvas.rectangle([(x - half, top), (x + half, bottom)], paint);
            }
            let corners: Vec<CanvasPoint> =
                points.iter().map(high).chain(points.iter().rev().map(low)).collect();
            self.canvas.fill(&corners, paint)
        })
    }

    fn line(&self, series: &ChartSeries) {
        let plane = &self.plane;
        let path: Vec<CanvasPoint> = series.path().into_iter().map(|(x, y)| plane.place(x, y)).collect();
        self.canvas.stroke(&path, series.style.hue, LINE, series.style.stroke);
        series.points.iter().for_each(|point| {
            let place = plane.place(point.x, point.y);
            marked(self.canvas, place, series.style, point.marks, self.marker)
        })
    }

    /// The interval of a crossing, over the whole height.
    fn crossing_band(&self, crossing: &CrossingMark) {
        let plane = &self.plane;
        let ends = [plane.area.left, plane.area.right];
        let [left, right] = crossing.interval.map(|size| plane.across(size).clamp(ends[0], ends[1]));
        let half = ((right - left) / 2.0).max(LEAST_BAND / 2.0);
        let middle = (f64::midpoint(left, right), plane.area.middle().1);
        let area = Rect::around(middle, half, plane.area.height() / 2.0);
        let strength = if half > 3.0 { 0.18 } else { 0.55 };
        self.canvas.rectangle(area.corners(), Paint::Clear(crossing.hue, strength))
    }

    /// A label on cleared ground, so that no grid line or band runs through it.
    fn label(&self, label: &Placed, hue: Role) {
        let ground = Rect { left: label.area.left - 2.0, right: label.area.right + 2.0, ..label.area };
        self.canvas.rectangle(ground.corners(), Role::Ground);
        self.tints(&ground);
        let place = (label.area.left, baseline(label.area.middle().1, self.em));
        self.canvas.text(&label.text, place, medium(self.em, hue.text(), Align::Left))
    }
}
