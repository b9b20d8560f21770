//! Draws lines with their bands, markers, crossings and labels between two axes.

use crate::palette::{Role, Tint};

use super::CrossingMark;
use super::labels::{Labels, PlotContents, REGION_TEXT};
use crate::chart::canvas::{Align, Canvas};
use crate::chart::draw::{LINE, OFF_LINE, TIE, baseline, crossover, marked, medium};
use crate::chart::geometry::{CanvasPoint, Rect};
use crate::chart::paint::Paint;
use crate::chart::placing::Placed;
use crate::chart::series::{ChartSeries, Point};

/// Bands of crossings that are narrower than this many pixels are drawn as wide.
const LEAST_BAND: f64 = 2.0;

/// Thickness of the measured peaks.
const LEVEL: f64 = 2.6;

pub(crate) struct Strokes<'a> {
    pub(crate) canvas: &'a Canvas<'a>,
    pub contents: PlotContents<'a>,
}

impl Strokes<'_> {
    pub(crate) fn ground(&self) -> anyhow::Result<()> {
        self.tints(&self.contents.plane.area)
    }

    /// Everything but the ground and the grid.
    pub(crate) fn lines(&self) -> anyhow::Result<()> {
        let PlotContents { series, crossings, .. } = self.contents;
        let labels = Labels::of(&self.contents);
        self.grounds(&labels)?;
        crossings.iter().try_for_each(|crossing| self.crossing_band(crossing))?;
        self.levels()?;
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

    /// The measured peaks, under everything.
    fn levels(&self) -> anyhow::Result<()> {
        let plane = &self.contents.plane;
        self.contents.levels.iter().try_for_each(|level| {
            let y = plane.down(level.value);
            let ends = [(plane.area.left, y), (plane.area.right, y)];
            self.canvas.stroke(&ends, level.style.hue, LEVEL, level.style.stroke)
        })
    }

    /// The intervals: an area along the line, and a bar at each point that no line connects.
    fn band(&self, series: &ChartSeries) -> anyhow::Result<()> {
        let (plane, hue) = (&self.contents.plane, series.style.hue);
        let ends = |point: &Point| [point.low, point.high].map(|value| plane.place(point.x, value));
        let connected: Vec<&Point> = series.connected().collect();
        let is_alone = connected.len() == 1;
        for (point, _) in series.marked().filter(|(_, off_line)| *off_line || is_alone) {
            self.canvas.rule(ends(point), hue, 2.0)?;
        }
        if is_alone {
            return Ok(());
        }
        let high = connected.iter().map(|point| ends(point)[1]);
        let low = connected.iter().rev().map(|point| ends(point)[0]);
        let corners: Vec<CanvasPoint> = high.chain(low).collect();
        self.canvas.fill(&corners, Paint::Clear(hue, 0.2))
    }

    fn line(&self, series: &ChartSeries) -> anyhow::Result<()> {
        let plane = &self.contents.plane;
        let path: Vec<CanvasPoint> = series.path().into_iter().map(|(x, y)| plane.place(x, y)).collect();
        self.canvas.stroke(&path, series.style.hue, LINE, series.style.stroke)?;
        series.marked().try_for_each(|(point, off_line)| {
            let radius = self.contents.marker * if off_line { OFF_LINE } else { 1.0 };
            marked(self.canvas, plane.place(point.x, point.y), series.style, point.marks, radius)
        })
    }

    /// The interval of a crossing, over the whole height.
    fn crossing_band(&self, crossing: &CrossingMark) -> anyhow::Result<()> {
        let plane = &self.contents.plane;
        let ends = [plane.area.left, plane.area.right];
        let [left, right] = crossing.interval.map(|size| plane.across(size).clamp(ends[0], ends[1]));
        let half = ((right - left) / 2.0).max(LEAST_BAND / 2.0);
        let middle = (f64::midpoint(left, right), plane.area.middle().1);
        let area = Rect::around(middle, half, plane.area.height() / 2.0);
        let strength = if half > 3.0 { 0.18 } else { 0.55 };
        self.canvas.rectangle(area.corners(), Paint::Clear(crossing.hue, strength))
    }

    /// A ring where a series meets the reference line.
    fn crossing(&self, crossing: &CrossingMark) -> anyhow::Result<()> {
        let Some(reference) = self.contents.reference else { return Ok(()) };
        let place = self.contents.plane.place(crossing.size, reference.value);
        crossover(self.canvas, place, crossing.hue, self.contents.marker)
    }

    fn labels(&self, labels: &Labels) -> anyhow::Result<()> {
        let PlotContents { series, crossings, em, .. } = self.contents;
        for (is_above, region) in &labels.regions {
            self.label(region, REGION_TEXT, if *is_above { Role::Blue } else { Role::Vermilion })?;
        }
        for (index, label) in &labels.crossings {
            self.label(label, em, crossings[*index].hue)?;
        }
        for label in &labels.points {
            let hue = match series.len() {
                _ if label.is_tie => TIE,
                1 => Role::Ink,
                _ => series[label.series].style.hue,
            };
            self.label(&label.placed, em, hue)?;
        }
        Ok(())
    }

    fn label(&self, label: &Placed, em: f64, hue: Role) -> anyhow::Result<()> {
        let place = (label.area.left, baseline(label.area.middle().1, em));
        self.canvas.text(&label.text, place, medium(em, hue, Align::Left))
    }
}
