//! The texts around the data of a chart: titles, legend, captions.

use crate::palette::Role;

use super::series::{Marks, Style};

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Frame {
    /// Name of its file, without extension: `time-matmul-f32`, or `time-matmul-f32-cold` where there are hot ones too.
    pub name: String,
    pub title: String,
    /// A line under the title.
    pub subtitle: String,
    /// Lines at the foot: machine, clocks, date.
    pub captions: Vec<String>,
    pub(crate) legend: Vec<LegendRow>,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum LegendRow {
    Heading(String),
    /// A sample of a line, marker or area, and its name.
    Entry(LegendSample, String),
    Note(String),
}

impl LegendRow {
    pub(crate) fn text(&self) -> &str {
        match self {
            LegendRow::Heading(text) | LegendRow::Entry(_, text) | LegendRow::Note(text) => text,
        }
    }

    /// A heading and the rows under it; nothing where there are none.
    pub(crate) fn headed(heading: &str, rows: Vec<LegendRow>) -> Vec<LegendRow> {
        let heading = (!rows.is_empty()).then(|| LegendRow::Heading(heading.to_owned()));
        heading.into_iter().chain(rows).collect()
    }

    /// A heading and lines of text under it; nothing where there are no lines.
    pub(crate) fn notes(heading: &str, lines: Vec<String>) -> Vec<LegendRow> {
        LegendRow::headed(heading, lines.into_iter().map(LegendRow::Note).collect())
    }
}

/// The sample next to a text of the legend.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum LegendSample {
    /// A line with a marker.
    Line(Style),
    /// A line without one.
    Rule(Style),
    Marker(Style),
    /// A marker with a mark.
    Mark(Marks),
    /// The mark of a crossover.
    Crossover,
    /// A field of that colour.
    Swatch(Role),
}

impl LegendSample {
    /// The length of the sample in pixels.
    pub(crate) fn length(self) -> f64 {
        if matches!(self, LegendSample::Line(_) | LegendSample::Rule(_)) { 64.0 } else { 26.0 }
    }
}
