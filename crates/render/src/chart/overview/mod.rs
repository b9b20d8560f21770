//! Overview sheets: the three speed-ups of every op of a report, in small.

mod draw;
mod layout;

use gpubench_answer::Kind;
use gpubench_model::case::{DType, density_clause};

use super::axis::Axis;
use super::frame::Sample;
use super::lines::speed_up::{self, kind_style};
use super::lines::{Crossing, Reference, sizes};
use super::series::{Series, Stroke, Style};
use super::sheet::{Part, Sheet};
pub(super) use draw::draw;
use gpubench_text::palette::Role;

/// Panels that one sheet holds; in more, texts would be too small.
pub(super) const MOST_PANELS: usize = 9;

/// The name of one op's panel, distinct from the region names of large charts.
const REFERENCE: Reference = Reference { value: 1.0, above: "", below: "" };

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Overview {
    /// Name of its file, without extension: `overview`, `overview-2`.
    pub name: String,
    pub title: String,
    pub captions: Vec<String>,
    /// The legend of lines and marks.
    pub(crate) legend: Vec<(Sample, String)>,
    /// Ratios, for every panel the same.
    pub y: Axis,
    /// The panels, row by row; 1 to [`MOST_PANELS`].
    pub panels: Vec<Panel>,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Panel {
    /// The op, and what it is about.
    pub heading: String,
    pub x: Axis,
    /// A line a kind of speed-up.
    pub series: Vec<Series>,
    pub(crate) crossings: Vec<Crossing>,
}

/// A panel before it is known which others are on its page.
#[derive(Clone)]
struct Draft {
    dtype: DType,
    panel: Panel,
    /// The heading for a page whose title has the element type.
    without_dtype: String,
}

/// The sheets of one report: one where all panels fit, else one or more an element type.
pub(crate) fn sheets(sheets: &[Sheet<'_>], captions: &[String]) -> Vec<Overview> {
    let parts = sheets.iter().flat_map(|sheet| sheet.parts.iter().map(move |part| (sheet, part)));
    let mut panels: Vec<Draft> = parts.flat_map(|(sheet, part)| panels_of(sheet, part)).collect();
    let several = panels.len() > MOST_PANELS;
    if several {
        // Stable, so that ops keep their order.
        panels.sort_by_key(|draft| draft.dtype);
    }
    let mut pages: Vec<Vec<Draft>> = vec![];
    for group in panels.chunk_by(|a, b| !several || a.dtype == b.dtype) {
        let count = group.len().div_ceil(MOST_PANELS);
        pages.extend(group.chunks(group.len().div_ceil(count)).map(<[_]>::to_vec));
    }
    let sheet = |(index, page): (usize, Vec<Draft>)| overview(index, page, captions);
    pages.into_iter().enumerate().map(sheet).collect()
}

fn overview(index: usize, page: Vec<Draft>, captions: &[String]) -> Overview {
    let first = page[0].dtype;
    let is_shared = page.iter().all(|draft| draft.dtype == first);
    let dtype = if is_shared { format!(", {}", first.words()) } else { String::new() };
    // The title has the element type that all share.
    let panels = page.into_iter().map(|Draft { panel, without_dtype, .. }| match is_shared {
        true => Panel { heading: without_dtype, ..panel },
        false => panel,
    });
    let panels: Vec<Panel> = panels.collect();
    let points = panels.iter().flat_map(|panel| &panel.series).flat_map(|series| &series.points);
    let values: Vec<f64> = points.map(|point| point.y).collect();
    Overview {
        name: if index == 0 { "overview".into() } else { format!("overview-{}", index + 1) },
        title: format!("Is the GPU faster? Speed-up of the best variants by size{dtype}"),
        captions: captions.to_vec(),
        legend: legend(),
        y: Axis::ratios("", &values),
        panels,
    }
}

fn legend() -> Vec<(Sample, String)> {
    let words = |kind| match kind {
        Kind::Kernel => "kernel: computation only",
        Kind::Resident => "resident: with launch and wait",
        Kind::EndToEnd => "end to end: with copies",
    };
    let lines = Kind::ALL.map(|kind| (Sample::Line(kind_style(kind)), words(kind).to_owned()));
    let ring = Style { hue: Role::Ink, stroke: Stroke::Solid, marker: 0, filled: false };
    lines
        .into_iter()
        .chain([(Sample::Marker(ring), "GPU faster from N (bar: interval)".to_owned())])
        .collect()
}

/// One panel a density with a size that both sides have.
fn panels_of<'a>(sheet: &'a Sheet<'_>, part: &'a Part<'_>) -> impl Iterator<Item = Draft> + 'a {
    part.by_density().filter_map(move |comparisons| {
        let lines = speed_up::by_kind(part, comparisons);
        let density = density_clause(comparisons[0].density.filter(|_| part.shows_density));
        let series: Vec<Series> = lines.iter().map(|line| only_last_label(&line.series)).collect();
        let sizes = sizes(&series);
        let panel = Panel {
            heading: format!("{}{density}", sheet.heading()),
            x: Axis::sizes("", &sizes),
            series,
            crossings: lines.iter().filter_map(speed_up::crossing).collect(),
        };
        let without_dtype = format!("{}{density}", sheet.heading_without_dtype());
        (!sizes.is_empty()).then_some(Draft { dtype: sheet.subject.dtype, panel, without_dtype })
    })
}

/// A line whose last point alone has a label.
fn only_last_label(series: &Series) -> Series {
    let mut series = series.clone();
    let last = series.points.len().saturating_sub(1);
    series.points.iter_mut().take(last).for_each(|point| point.label = None);
    series
}

#[cfg(test)]
mod tests;
