//! Computes the places of the parts of a frame in pixels: plot, legend, titles, captions.

use super::SIZE;
use super::axis::{Axis, Tick};
use super::font::{Weight, width, wrapped};
use super::frame::{Frame, LegendRow};
use super::geometry::{Plane, Rect};

/// Em of tick labels, axis titles and the legend, in pixels.
pub(crate) const TEXT: f64 = 24.0;
pub(crate) const TITLE: f64 = 38.0;
pub(crate) const CAPTION: f64 = 19.0;
/// Room between a sample in the legend and its text.
pub(crate) const SAMPLE_GAP: f64 = 14.0;
/// Room at the edges of the picture.
pub(crate) const MARGIN: f64 = 36.0;
const ROW: f64 = 40.0;
const LEAST_ROW: f64 = 17.0;
/// Indent of the further lines of a note.
const NOTE_INDENT: f64 = 18.0;
/// Room before a heading, in rows.
const GAP: f64 = 0.5;

/// The room that a chart has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Extent {
    /// A file of [`SIZE`], with title, legend and captions.
    File,
    /// A smaller drawing in a page, which has these as text.
    Page,
}

impl Extent {
    pub(crate) fn size(self) -> (u32, u32) {
        match self {
            Extent::File => SIZE,
            Extent::Page => (840, 560),
        }
    }

    fn picture(self) -> Rect {
        let (right, bottom) = self.size();
        Rect { left: 0.0, top: 0.0, right: right.into(), bottom: bottom.into() }
    }
}

/// A row of the legend in its place.
pub(crate) struct Entry {
    /// The row, or a further line of one whose text is wider than the strip.
    pub row: LegendRow,
    /// Pixels from the left end of the strip.
    pub indent: f64,
    /// The middle of the row, in pixels from the top.
    pub middle: f64,
}

/// The axes of a chart with one plot.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Axes {
    pub x: Axis,
    pub y: Axis,
}

pub(crate) struct FrameLayout<'a> {
    pub extent: Extent,
    pub picture: Rect,
    pub(crate) plane: Plane<'a>,
    pub(crate) legend: Rect,
    pub entries: Vec<Entry>,
    pub(crate) legend_em: f64,
}

impl<'a> FrameLayout<'a> {
    /// The places in a file, or in a page those of the plot with its axes alone.
    pub(crate) fn of(frame: &Frame, axes: &'a Axes, extent: Extent) -> FrameLayout<'a> {
        let (Axes { x, y }, picture) = (axes, extent.picture());
        let labels = tick_labels(y, TEXT, 0.0);
        if extent == Extent::Page {
            let (right, bottom) = (picture.right - 24.0, picture.bottom - 98.0);
            let area = Rect { left: labels + 20.0, top: 52.0, right, bottom };
            let legend = Rect { left: right, ..area };
            let plane = Plane { area, x, y };
            return FrameLayout { extent, picture, plane, legend, entries: vec![], legend_em: TEXT };
        }
        let bottom = above_captions(&frame.captions) - 112.0;
        let wide = |row: &LegendRow| indent(row) + width(row.text(), TEXT, weight(row));
        let strip = (frame.legend.iter().map(wide).fold(0.0, f64::max) + 4.0).clamp(200.0, 480.0);
        let (left, right) = (MARGIN + labels + 16.0, picture.right - MARGIN - strip - 28.0);
        let area = Rect { left, top: 172.0, right, bottom };
        let legend = Rect { left: right + 28.0, top: 172.0, right: picture.right - MARGIN, bottom };
        let (entries, legend_em) = entries(&frame.legend, &legend);
        FrameLayout { extent, picture, plane: Plane { area, x, y }, legend, entries, legend_em }
    }
}

/// Width of the widest label of an axis, `least` or more.
pub(crate) fn tick_labels(axis: &Axis, em: f64, least: f64) -> f64 {
    axis.ticks.iter().map(|tick| width(&tick.label, em, Weight::Regular)).fold(least, f64::max)
}

/// The picture of a file.
pub(crate) fn picture() -> Rect {
    Extent::File.picture()
}

/// The lower end of what is above the captions of a file.
pub(crate) fn above_captions(captions: &[String]) -> f64 {
    picture().bottom - MARGIN / 2.0 - captions.len() as f64 * CAPTION * 1.4
}

fn weight(row: &LegendRow) -> Weight {
    if matches!(row, LegendRow::Heading(_)) { Weight::Medium } else { Weight::Regular }
}

/// Room that a row's sample takes before its text.
fn indent(row: &LegendRow) -> f64 {
    if let LegendRow::Entry(sample, _) = row { sample.length() + SAMPLE_GAP } else { 0.0 }
}

/// Places the legend's rows; what does not fit even when set small is counted in the last row.
fn entries(rows: &[LegendRow], legend: &Rect) -> (Vec<Entry>, f64) {
    let mut rows: Vec<(LegendRow, f64)> = rows.iter().flat_map(|row| lines(row, legend.width())).collect();
    let room = (legend.height() / LEAST_ROW) as usize;
    if rows.len() > room {
        let left = rows.len() - room + 1;
        rows.truncate(room - 1);
        rows.push((LegendRow::Note(format!("and {left} more")), 0.0));
    }
    let gaps = rows.iter().skip(1).filter(|(row, _)| matches!(row, LegendRow::Heading(_))).count();
    let height = (legend.height() / (rows.len() as f64 + GAP * gaps as f64).max(1.0)).min(ROW);
    let em = TEXT * (height / ROW).powf(0.7);
    let mut middle = legend.top - height / 2.0;
    let mut placed = vec![];
    for (index, (row, indent)) in rows.into_iter().enumerate() {
        let is_heading = matches!(row, LegendRow::Heading(_));
        middle += if is_heading && index > 0 { height * (1.0 + GAP) } else { height };
        placed.push(Entry { row, indent, middle });
    }
    (placed, em)
}

/// A row in lines as wide as the strip, each with its indent.
fn lines(row: &LegendRow, strip: f64) -> Vec<(LegendRow, f64)> {
    let texts = wrapped(row.text(), TEXT, weight(row), strip - indent(row));
    let line = |(index, text): (usize, String)| match row {
        LegendRow::Heading(_) => {
            (if index == 0 { LegendRow::Heading(text) } else { LegendRow::Note(text) }, 0.0)
        }
        LegendRow::Entry(sample, _) if index == 0 => (LegendRow::Entry(*sample, text), 0.0),
        LegendRow::Entry(..) => (LegendRow::Note(text), indent(row)),
        LegendRow::Note(_) => (LegendRow::Note(text), if index == 0 { 0.0 } else { NOTE_INDENT }),
    };
    texts.into_iter().enumerate().map(line).collect()
}

/// Room between labels.
const APART: f64 = 14.0;

/// The labels of the x axis, each with the place of its middle, that have room next to those before them and to the last, which always stays.
pub(crate) fn below(plane: &Plane<'_>, em: f64) -> Vec<(f64, String)> {
    let wide = |text: &str| width(text, em, Weight::Regular);
    let apart = |left: &(f64, String), right: &(f64, String)| {
        right.0 - left.0 > f64::midpoint(wide(&left.1), wide(&right.1)) + APART
    };
    let label = |tick: &Tick| (plane.across(tick.value), tick.label.clone());
    let mut labels: Vec<(f64, String)> = plane.x.ticks.iter().map(label).collect();
    let Some(last) = labels.pop() else { return vec![] };
    let mut kept: Vec<(f64, String)> = vec![];
    for label in labels {
        if kept.last().is_none_or(|before| apart(before, &label)) && apart(&label, &last) {
            kept.push(label);
        }
    }
    kept.push(last);
    kept
}
