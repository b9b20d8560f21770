//! What every large chart has around its data: titles, axes, a legend, captions. Pure data; knows no pixels.

use gpubench_text::palette::Role;

use super::axis::Axis;
use super::series::Style;

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Frame {
    /// Name of its file, without extension: `time-matmul-f32`, or `time-matmul-f32-cold` beside hot ones.
    pub name: String,
    pub title: String,
    /// A line under the title.
    pub subtitle: String,
    /// Lines at the foot: machine, clocks, date.
    pub captions: Vec<String>,
    pub x: Axis,
    pub y: Axis,
    /// Rows of text above the plot that the chart fills itself.
    pub(crate) rows_above: usize,
    /// The legend, from the top.
    pub(crate) legend: Vec<Row>,
}

/// A row of the legend.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Row {
    Heading(String),
    /// What something looks like, and what it is.
    Entry(Sample, String),
    Note(String),
}

impl Row {
    pub(crate) fn text(&self) -> &str {
        match self {
            Row::Heading(text) | Row::Entry(_, text) | Row::Note(text) => text,
        }
    }

    /// A heading and lines of text under it; nothing where there are no lines.
    pub(crate) fn notes(heading: &str, lines: Vec<String>) -> Vec<Row> {
        let heading = (!lines.is_empty()).then(|| Row::Heading(heading.to_owned()));
        heading.into_iter().chain(lines.into_iter().map(Row::Note)).collect()
    }
}

/// What stands beside a text of the legend.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Sample {
    /// A line with a marker.
    Line(Style),
    /// A line without one.
    Rule(Style),
    Marker(Style),
    Swatch(Role),
}

impl Sample {
    /// Its length in pixels.
    pub(crate) fn length(self) -> f64 {
        match self {
            Sample::Line(_) | Sample::Rule(_) => 64.0,
            Sample::Marker(_) | Sample::Swatch(_) => 26.0,
        }
    }
}
