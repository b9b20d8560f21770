//! Draws lines with their bands, markers, crossings and labels between two axes.

use gpubench_text::palette::{Role, Tint};

use super::Crossing;
use super::labels::{Contents, Labels, REGION_TEXT};
use crate::chart::canvas::{Align, Canvas};
use crate::chart::draw::{LINE, baseline, marker, medium};
use crate::chart::geometry::{Place, Rect};
use crate::chart::paint::Paint;
use crate::chart::placing::Placed;
use crate::chart::series::{Point, Series, Stroke, Style};

/// Bands of crossings that are narrower than this many pixels are drawn as wide.
const LEAST_BAND: f64 = 2.0;

pub(crate) struct Strokes<'a> {
    pub(crate) canvas: &'a Canvas<'a>,
    pub contents: Contents<'a>,
}

impl Strokes<'_> {
    pub(crate) fn ground(&self) -> anyhow::Result<()> {
        self.tints(&self.contents.plane.area)
    }

    /// Everything but the ground and the grid.
    pub(crate) fn lines(&self) -> anyhow::Result<()> {
        let Contents { series, crossings, .. } = self.contents;
        let labels = Labels::of(&self.contents);
        self.grounds(&labels)?;
        crossings.iter().try_for_each(|crossing| self.crossing_band(crossing))?;
        self.reference()?;
        series.iter().try_for_each(|series| self.band(series))?;
        // In reverse, so that the first of the legend lies on top.
        series.iter().rev().try_for_each(|series| self.line(series))?;
        crossings.iter().try_for_each(|crossing| self.crossing(crossing))?;
        self.labels(&labels)
    }

    /// Tints the parts of `area` above and below the reference line.
    fn tints(&self, area: &Rect) -> anyhow::Result<()> {
        let Some(reference) = self.contents.reference else { return Ok(()) };
        let line = self.contents.plane.down(reference.value);
        if area.top < line {
            let above = Rect { bottom: line.min(area.bottom), ..*area };
            self.canvas.rectangle(above.corners(), Paint::Tinted(Tint::GPU_REGION))?;
        }
        if area.bottom > line {
            let below = Rect { top: line.max(area.top), ..*area };
            self.canvas.rectangle(below.corners(), Paint::Tinted(Tint::CPU_REGION))?;
        }
        Ok(())
    }

    /// Clears the ground of labels, so that no grid line runs through them.
    fn grounds(&self, labels: &Labels) -> anyhow::Result<()> {
        for label in labels.all() {
            let ground = Rect { left: label.area.left - 4.0, right: label.area.right + 4.0, ..label.area };
            self.canvas.rectangle(ground.corners(), Role::Ground)?;
            self.tints(&ground)?;
        }
        Ok(())
    }

    fn reference(&self) -> anyhow::Result<()> {
        let Some(reference) = self.contents.reference else { return Ok(()) };
        let plane = &self.contents.plane;
        let y = plane.down(reference.value);
        self.canvas.rule([(plane.area.left, y), (plane.area.right, y)], Role::Ink, 2.4)
    }

    fn places(&self, series: &Series, value: impl Fn(&Point) -> f64) -> Vec<Place> {
        let plane = &self.contents.plane;
        series.points.iter().map(|point| plane.place(point.x, value(point))).collect()
    }

    /// The interval: an area along the line, or a bar at an isolated point.
    fn band(&self, series: &Series) -> anyhow::Result<()> {
        let hue = series.style.hue;
        let mut low = self.places(series, |point| point.low);
        let high = self.places(series, |point| point.high);
        if let ([low], [high]) = (low.as_slice(), high.as_slice()) {
            return self.canvas.rule([*low, *high], hue, 2.0);
        }
        low.reverse();
        let corners: Vec<Place> = high.into_iter().chain(low).collect();
        self.canvas.fill(&corners, Paint::Clear(hue, 0.2))
    }

    fn line(&self, series: &Series) -> anyhow::Result<()> {
        let plane = &self.contents.plane;
        let path: Vec<Place> = series.path().into_iter().map(|(x, y)| plane.place(x, y)).collect();
        let (hue, radius) = (series.style.hue, self.contents.marker);
        self.canvas.stroke(&path, hue, LINE, series.style.stroke)?;
        let places = self.places(series, |point| point.y);
        places.iter().try_for_each(|&place| marker(self.canvas, place, series.style, hue, radius))
    }

    /// The interval of a crossing, over the whole height.
    fn crossing_band(&self, crossing: &Crossing) -> anyhow::Result<()> {
        let plane = &self.contents.plane;
        let ends = [plane.area.left, plane.area.right];
        let [left, right] = crossing.interval.map(|size| plane.across(size).clamp(ends[0], ends[1]));
        let half = ((right - left) / 2.0).max(LEAST_BAND / 2.0);
        let middle = (f64::midpoint(left, right), plane.area.middle().1);
        let area = Rect::around(middle, half, plane.area.height() / 2.0);
        let strength = if half > 3.0 { 0.18 } else { 0.55 };
        self.canvas.rectangle(area.corners(), Paint::Clear(crossing.hue, strength))
    }

    /// An open ring where a series meets the reference line.
    fn crossing(&self, crossing: &Crossing) -> anyhow::Result<()> {
        let Some(reference) = self.contents.reference else { return Ok(()) };
        let place = self.contents.plane.place(crossing.size, reference.value);
        let ring = Style { hue: crossing.hue, stroke: Stroke::Solid, marker: 0, filled: false };
        marker(self.canvas, place, ring, crossing.hue, self.contents.marker)
    }

    fn labels(&self, labels: &Labels) -> anyhow::Result<()> {
        let Contents { series, crossings, em, .. } = self.contents;
        for (is_above, region) in &labels.regions {
            self.label(region, REGION_TEXT, if *is_above { Role::Blue } else { Role::Vermilion })?;
        }
        for (index, label) in &labels.crossings {
            self.label(label, em, crossings[*index].hue)?;
        }
        for (index, label) in &labels.points {
            let own = series[*index].style.hue;
            self.label(label, em, if series.len() > 1 { own } else { Role::Ink })?;
        }
        Ok(())
    }

    fn label(&self, label: &Placed, em: f64, hue: Role) -> anyhow::Result<()> {
        let place = (label.area.left, baseline(label.area.middle().1, em));
        self.canvas.text(&label.text, place, medium(em, hue, Align::Left))
    }
}
