//! Where the parts of a chart stand: plot, legend, titles, captions. Pure geometry in pixels; draws nothing.

use super::SIZE;
use super::font::{Weight, fitted, width};
use super::model::ChartModel;

/// Em of tick labels, axis titles and the legend, in pixels.
pub const TEXT: f64 = 24.0;
/// Em of the title.
pub const TITLE: f64 = 38.0;
/// Em of the captions.
pub const CAPTION: f64 = 19.0;
/// Length of a line's sample in the legend.
pub const SAMPLE: f64 = 64.0;
/// Room at the edges of the picture.
pub const MARGIN: f64 = 36.0;
const ROW: f64 = 40.0;
const LEAST_ROW: f64 = 17.0;
/// Room before a heading, in rows.
const GAP: f64 = 0.5;

/// A rectangle, y downwards.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rect {
    /// Left edge.
    pub left: f64,
    /// Top edge.
    pub top: f64,
    /// Right edge.
    pub right: f64,
    /// Bottom edge.
    pub bottom: f64,
}

impl Rect {
    /// Whether two rectangles share more than an edge.
    pub fn intersects(&self, other: &Rect) -> bool {
        self.left < other.right
            && other.left < self.right
            && self.top < other.bottom
            && other.top < self.bottom
    }

    /// Whether `other` lies wholly inside.
    pub fn holds(&self, other: &Rect) -> bool {
        self.left <= other.left
            && other.right <= self.right
            && self.top <= other.top
            && other.bottom <= self.bottom
    }

    /// Whether the point lies inside.
    pub fn has(&self, (x, y): (f64, f64)) -> bool {
        self.left <= x && x <= self.right && self.top <= y && y <= self.bottom
    }
}

/// What a row of the legend shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shows {
    /// A heading.
    Heading,
    /// The series of that index, with a sample of its line.
    Series(usize),
    /// A line of text.
    Note,
}

/// A row of the legend.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// What it shows.
    pub shows: Shows,
    /// Its text, cut to the strip's width.
    pub text: String,
    /// Its middle, in pixels from the top.
    pub middle: f64,
}

/// The places of a chart's parts.
#[derive(Clone, Debug, PartialEq)]
pub struct Layout {
    /// The whole picture.
    pub picture: Rect,
    /// The area between the axes.
    pub plot: Rect,
    /// The legend's strip.
    pub legend: Rect,
    /// The legend's rows.
    pub entries: Vec<Entry>,
    /// Em of the legend's text.
    pub legend_em: f64,
    /// Captions, cut to the picture's width, each with its baseline.
    pub captions: Vec<(String, f64)>,
}

impl Layout {
    /// The layout of a chart.
    pub fn of(model: &ChartModel) -> Layout {
        let picture = Rect { left: 0.0, top: 0.0, right: f64::from(SIZE.0), bottom: f64::from(SIZE.1) };
        let wide = |text: &str| width(text, TEXT, Weight::Regular);
        let labels = model.y.ticks.iter().map(|tick| wide(&tick.label)).fold(0.0, f64::max);
        let caption_lines = model.captions.len() as f64;
        let bottom = picture.bottom - MARGIN / 2.0 - caption_lines * CAPTION * 1.4 - 112.0;
        let strip = strip_width(model);
        let plot = Rect {
            left: MARGIN + labels + 16.0,
            top: 172.0,
            right: picture.right - MARGIN - strip - 28.0,
            bottom,
        };
        let legend = Rect { left: plot.right + 28.0, top: plot.top, right: picture.right - MARGIN, bottom };
        let (entries, legend_em) = entries(model, &legend);
        let limit = picture.right - 2.0 * MARGIN;
        let captions = model.captions.iter().rev().enumerate().map(|(index, text)| {
            let baseline = picture.bottom - MARGIN / 2.0 - 6.0 - index as f64 * CAPTION * 1.4;
            (fitted(text, CAPTION, Weight::Regular, limit), baseline)
        });
        let captions = captions.collect();
        Layout { picture, plot, legend, entries, legend_em, captions }
    }

    /// Left edge of titles and captions.
    pub fn margin(&self) -> f64 {
        MARGIN
    }

    /// The pixel of a point of the chart.
    pub fn place(&self, model: &ChartModel, x: f64, y: f64) -> (f64, f64) {
        let plot = &self.plot;
        let across = plot.left + model.x.fraction(x) * (plot.right - plot.left);
        let down = plot.bottom - model.y.fraction(y) * (plot.bottom - plot.top);
        (across, down)
    }
}

/// The rows of the legend before they have a place.
fn rows(model: &ChartModel) -> Vec<(Shows, &str)> {
    let mut rows = vec![];
    let mut group = "";
    for (index, series) in model.series.iter().enumerate() {
        if series.group != group {
            group = series.group;
            rows.push((Shows::Heading, group));
        }
        rows.push((Shows::Series(index), series.label.as_str()));
    }
    if let Some(notes) = &model.notes {
        rows.push((Shows::Heading, notes.heading));
        rows.extend(notes.lines.iter().map(|line| (Shows::Note, line.as_str())));
    }
    rows
}

/// The width of a row's text and sample.
fn row_width(shows: Shows, text: &str) -> f64 {
    match shows {
        Shows::Heading => width(text, TEXT, Weight::Medium),
        Shows::Series(_) => SAMPLE + 14.0 + width(text, TEXT, Weight::Regular),
        Shows::Note => width(text, TEXT, Weight::Regular),
    }
}

fn strip_width(model: &ChartModel) -> f64 {
    let widest = rows(model).iter().map(|(shows, text)| row_width(*shows, text)).fold(0.0, f64::max);
    (widest + 4.0).clamp(200.0, 480.0)
}

/// Places the legend's rows; what does not fit even when set small is counted in the last row.
fn entries(model: &ChartModel, legend: &Rect) -> (Vec<Entry>, f64) {
    let mut rows: Vec<(Shows, String)> =
        rows(model).into_iter().map(|(shows, text)| (shows, text.to_owned())).collect();
    let height = legend.bottom - legend.top;
    let room = (height / LEAST_ROW) as usize;
    if rows.len() > room {
        let left = rows.len() - room + 1;
        rows.truncate(room - 1);
        rows.push((Shows::Note, format!("and {left} more")));
    }
    let gaps = rows.iter().skip(1).filter(|(shows, _)| *shows == Shows::Heading).count();
    let row = (height / (rows.len() as f64 + GAP * gaps as f64).max(1.0)).min(ROW);
    let em = TEXT * (row / ROW).powf(0.7);
    let mut middle = legend.top - row / 2.0;
    let mut placed = vec![];
    for (index, (shows, text)) in rows.into_iter().enumerate() {
        middle += if shows == Shows::Heading && index > 0 { row * (1.0 + GAP) } else { row };
        let sample = if matches!(shows, Shows::Series(_)) { SAMPLE + 14.0 } else { 0.0 };
        let weight = if shows == Shows::Heading { Weight::Medium } else { Weight::Regular };
        let text = fitted(&text, em, weight, legend.right - legend.left - sample);
        placed.push(Entry { shows, text, middle });
    }
    (placed, em)
}
