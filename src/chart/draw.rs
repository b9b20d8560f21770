//! Draws a chart on a canvas, the same for every format. Knows pixels and models, no report.

use plotters::prelude::DrawingBackend;

use super::canvas::{Align, Canvas, Place, Type};
use super::font::Weight;
use super::image::Picture;
use super::labels::{MARKER, POINT_TEXT, Placed, REGION_TEXT, below, inside};
use super::layout::{CAPTION, Layout, Rect, SAMPLE, Shows, TEXT, TITLE};
use super::model::ChartModel;
use super::series::{Series, Stroke, Style};
use super::shape::corners;
use super::theme::{Hue, Palette, Rgb};

const GPU_HUE: Hue = Hue::Blue;
const CPU_HUE: Hue = Hue::Vermilion;
const LINE: f64 = 3.2;
/// Height of digits and capitals over the em, in Roboto.
const CAP_HEIGHT: f64 = 0.711;

/// A chart being drawn.
struct Drawing<'a, B: DrawingBackend> {
    canvas: &'a Canvas<'a, B>,
    palette: &'static Palette,
    model: &'a ChartModel,
    layout: Layout,
    regions: Vec<Placed>,
    points: Vec<Placed>,
}

impl Picture for ChartModel {
    fn name(&self) -> &str {
        &self.name
    }

    fn draw<B: DrawingBackend>(&self, canvas: &Canvas<'_, B>) -> anyhow::Result<()> {
        draw(self, canvas)
    }
}

fn draw<B: DrawingBackend>(model: &ChartModel, canvas: &Canvas<'_, B>) -> anyhow::Result<()> {
    let layout = Layout::of(model);
    let (regions, points) = inside(model, &layout);
    let drawing = Drawing { canvas, palette: canvas.palette, model, layout, regions, points };
    canvas.rectangle(ends(&drawing.layout.picture), canvas.palette.ground, 1.0)?;
    drawing.titles()?;
    drawing.tints(&drawing.layout.plot)?;
    drawing.grid()?;
    drawing.grounds()?;
    drawing.axis_labels()?;
    for series in &model.series {
        drawing.band(series)?;
    }
    // In reverse, so that the first of the legend lies on top.
    for series in model.series.iter().rev() {
        drawing.line(series)?;
    }
    drawing.labels()?;
    drawing.legend()
}

/// Two opposite corners of an area.
pub fn ends(area: &Rect) -> [Place; 2] {
    [(area.left, area.top), (area.right, area.bottom)]
}

/// Regular type.
pub fn kind(em: f64, color: Rgb, align: Align) -> Type {
    Type { em, weight: Weight::Regular, color, align }
}

/// The baseline that puts the middle of digits and capitals at `middle`.
pub fn baseline(middle: f64, em: f64) -> f64 {
    middle + em * CAP_HEIGHT / 2.0
}

impl<B: DrawingBackend> Drawing<'_, B> {
    fn titles(&self) -> anyhow::Result<()> {
        let (canvas, model, layout) = (self.canvas, self.model, &self.layout);
        let title = Type { weight: Weight::Medium, ..kind(TITLE, self.palette.ink, Align::Left) };
        canvas.text(&model.title, (layout.margin(), 62.0), title)?;
        canvas.text(
            &model.subtitle,
            (layout.margin(), 100.0),
            kind(TEXT, self.palette.soft_ink, Align::Left),
        )?;
        canvas.text(
            &model.y.title,
            (layout.margin(), layout.plot.top - 22.0),
            kind(TEXT, self.palette.ink, Align::Left),
        )?;
        let middle = f64::midpoint(layout.plot.left, layout.plot.right);
        let under = layout.plot.bottom + 86.0;
        canvas.text(&model.x.title, (middle, under), kind(TEXT, self.palette.ink, Align::Center))?;
        for (caption, baseline) in &layout.captions {
            canvas.text(
                caption,
                (layout.margin(), *baseline),
                kind(CAPTION, self.palette.soft_ink, Align::Left),
            )?;
        }
        Ok(())
    }

    /// Tints the parts of `area` above and below the reference line.
    fn tints(&self, area: &Rect) -> anyhow::Result<()> {
        let Some(reference) = &self.model.reference else { return Ok(()) };
        let line = self.layout.place(self.model, self.model.x.low, reference.value).1;
        if area.top < line {
            let above = Rect { bottom: line.min(area.bottom), ..*area };
            self.canvas.rectangle(ends(&above), self.palette.hue(GPU_HUE), self.palette.tints[1])?;
        }
        if area.bottom > line {
            let below = Rect { top: line.max(area.top), ..*area };
            self.canvas.rectangle(ends(&below), self.palette.hue(CPU_HUE), self.palette.tints[0])?;
        }
        Ok(())
    }

    /// Clears the ground of labels, so that no grid line runs through them.
    fn grounds(&self) -> anyhow::Result<()> {
        for label in self.regions.iter().chain(&self.points) {
            let ground = Rect { left: label.area.left - 4.0, right: label.area.right + 4.0, ..label.area };
            self.canvas.rectangle(ends(&ground), self.palette.ground, 1.0)?;
            self.tints(&ground)?;
        }
        Ok(())
    }

    fn grid(&self) -> anyhow::Result<()> {
        let (model, plot) = (self.model, self.layout.plot);
        let across = |value: f64, color, thickness| {
            let y = self.layout.place(model, model.x.low, value).1;
            self.canvas.stroke(&[(plot.left, y), (plot.right, y)], color, thickness, Stroke::Solid)
        };
        model.y.minor.iter().try_for_each(|&value| across(value, self.palette.minor, 1.0))?;
        model.y.ticks.iter().try_for_each(|tick| across(tick.value, self.palette.major, 1.4))?;
        for tick in &model.x.ticks {
            let x = self.layout.place(model, tick.value, model.y.low).0;
            self.canvas.stroke(&[(x, plot.top), (x, plot.bottom)], self.palette.major, 1.0, Stroke::Solid)?;
            self.canvas.stroke(
                &[(x, plot.bottom), (x, plot.bottom + 9.0)],
                self.palette.axis,
                2.0,
                Stroke::Solid,
            )?;
        }
        if let Some(reference) = &model.reference {
            across(reference.value, self.palette.ink, 2.4)?;
        }
        let frame = [(plot.left, plot.top), (plot.left, plot.bottom), (plot.right, plot.bottom)];
        self.canvas.stroke(&frame, self.palette.axis, 2.0, Stroke::Solid)
    }

    fn axis_labels(&self) -> anyhow::Result<()> {
        let (model, plot) = (self.model, self.layout.plot);
        for tick in &model.y.ticks {
            let y = self.layout.place(model, model.x.low, tick.value).1;
            let place = (plot.left - 12.0, baseline(y, TEXT));
            self.canvas.text(&tick.label, place, kind(TEXT, self.palette.ink, Align::Right))?;
        }
        for label in below(model, &self.layout) {
            let place = (label.x, plot.bottom + 38.0);
            self.canvas.text(&label.text, place, kind(TEXT, self.palette.ink, Align::Center))?;
        }
        Ok(())
    }

    fn places(&self, series: &Series, value: impl Fn(&super::series::Point) -> f64) -> Vec<Place> {
        series.points.iter().map(|point| self.layout.place(self.model, point.x, value(point))).collect()
    }

    /// The spread: an area along the line, and a bar at a point that stands alone.
    fn band(&self, series: &Series) -> anyhow::Result<()> {
        let (mut low, high) =
            (self.places(series, |point| point.low), self.places(series, |point| point.high));
        if let ([low], [high]) = (low.as_slice(), high.as_slice()) {
            return self.canvas.stroke(
                &[*low, *high],
                self.palette.hue(series.style.hue),
                2.0,
                Stroke::Solid,
            );
        }
        low.reverse();
        let corners: Vec<Place> = high.into_iter().chain(low).collect();
        self.canvas.fill(&corners, self.palette.hue(series.style.hue), 0.2)
    }

    fn line(&self, series: &Series) -> anyhow::Result<()> {
        let places = self.places(series, |point| point.y);
        self.canvas.stroke(&places, self.palette.hue(series.style.hue), LINE, series.style.stroke)?;
        places.iter().try_for_each(|&place| self.marker(place, series.style))
    }

    /// A marker with a white rim, so that it stands out from lines beneath; open ones are white inside.
    fn marker(&self, place: Place, style: Style) -> anyhow::Result<()> {
        let shape = |radius| corners(style.marker, place, radius);
        self.canvas.fill(&shape(MARKER + 1.8), self.palette.ground, 1.0)?;
        self.canvas.fill(&shape(MARKER), self.palette.hue(style.hue), 1.0)?;
        if style.filled { Ok(()) } else { self.canvas.fill(&shape(MARKER - 3.6), self.palette.ground, 1.0) }
    }

    fn labels(&self) -> anyhow::Result<()> {
        for region in &self.regions {
            let above = self.model.reference.as_ref().is_some_and(|reference| reference.above == region.text);
            self.label(region, REGION_TEXT, self.palette.hue(if above { GPU_HUE } else { CPU_HUE }))?;
        }
        self.points.iter().try_for_each(|point| self.label(point, POINT_TEXT, self.palette.ink))
    }

    fn label(&self, label: &Placed, em: f64, color: Rgb) -> anyhow::Result<()> {
        let place = (label.area.left, baseline(f64::midpoint(label.area.top, label.area.bottom), em));
        self.canvas.text(&label.text, place, Type { weight: Weight::Medium, ..kind(em, color, Align::Left) })
    }

    fn legend(&self) -> anyhow::Result<()> {
        let (left, em) = (self.layout.legend.left, self.layout.legend_em);
        for entry in &self.layout.entries {
            let y = baseline(entry.middle, em);
            let text = kind(em, self.palette.ink, Align::Left);
            match entry.shows {
                Shows::Heading => {
                    self.canvas.text(&entry.text, (left, y), Type { weight: Weight::Medium, ..text })?;
                }
                Shows::Note => self.canvas.text(&entry.text, (left, y), text)?,
                Shows::Series(index) => {
                    let style = self.model.series[index].style;
                    let ends = [(left, entry.middle), (left + SAMPLE, entry.middle)];
                    self.canvas.stroke(&ends, self.palette.hue(style.hue), LINE, style.stroke)?;
                    self.marker((left + SAMPLE / 2.0, entry.middle), style)?;
                    self.canvas.text(&entry.text, (left + SAMPLE + 14.0, y), text)?;
                }
            }
        }
        Ok(())
    }
}
