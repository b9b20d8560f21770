//! Draws the charts of reports as PNG, SVG, or fragments of a page.
//!
//! A model says what a chart shows: `lines`, [`panels`]. It is laid out in pixels and drawn on a canvas, the same
//! for every format.

mod axis;
mod bitmap;
mod canvas;
mod draw;
mod font;
mod frame;
mod geometry;
mod layout;
mod linear;
mod lines;
mod overview;
mod paint;
pub mod panels;
mod phases;
mod picture;
mod placing;
mod plane;
mod plot;
mod roofline;
mod series;
mod shape;
mod sheet;
mod svg;
mod text;
mod ticks;

use anyhow::Context;
use gpubench_answer::Names;
use gpubench_model::case::Cache;
use gpubench_model::report::Report;
use gpubench_model::report::file::File;
pub use gpubench_text::palette::Theme;
use rayon::prelude::*;

use canvas::Canvas;
pub(crate) use canvas::SIZE;
use lines::LineChart;
use overview::Overview;
use phases::PhaseChart;
use picture::Picture;
pub use plot::{crowded, names, plot};
use roofline::Roofline;
use sheet::{Sheet, sheets};
pub(crate) use svg::font_faces;
use text::captions;

/// Beginnings of the names of charts' files; the overview's is also a whole one.
const NAMES: [&str; 5] = ["time-", "speedup-", "phases-", "roofline-", "overview-"];

/// Returns whether a file of that name, without extension, is a chart of a report.
pub(crate) fn is_name(name: &str) -> bool {
    name == "overview" || NAMES.iter().any(|beginning| name.starts_with(beginning))
}

/// Charts that are drawn at the same time; each takes about 50 MB while it is drawn.
const AT_ONCE: usize = 8;

/// The format of a chart's file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Portable network graphics, `SIZE` pixels.
    Png,
    /// Scalable vector graphics with the font embedded.
    Svg,
}

impl Format {
    /// Every format.
    pub const ALL: [Format; 2] = [Format::Png, Format::Svg];

    /// The format of that name, `png` or `svg`.
    pub fn find(name: &str) -> Option<Format> {
        Format::ALL.into_iter().find(|format| format.extension() == name)
    }

    /// The extension of its files, which is also its name.
    pub fn extension(self) -> &'static str {
        match self {
            Format::Png => "png",
            Format::Svg => "svg",
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Chart {
    /// Time or speed-ups against size.
    Lines(LineChart),
    /// The phases of a call.
    Phases(PhaseChart),
    /// Cells under the peaks of their machine.
    Roofline(Roofline),
    /// Speed-ups of all ops.
    Overview(Overview),
}

/// The topic of a chart; a page shows the charts of a topic together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Topic {
    Overview,
    Sizes,
    Phases,
    Roofline,
}

impl Chart {
    fn topic(&self) -> Topic {
        match self {
            Chart::Overview(_) => Topic::Overview,
            Chart::Lines(_) => Topic::Sizes,
            Chart::Phases(_) => Topic::Phases,
            Chart::Roofline(_) => Topic::Roofline,
        }
    }

    /// The name of its file, and what it shows in words.
    fn names(&self) -> (&str, &str) {
        let frame = match self {
            Chart::Lines(chart) => &chart.frame,
            Chart::Phases(chart) => &chart.frame,
            Chart::Roofline(chart) => &chart.frame,
            Chart::Overview(chart) => return (&chart.name, &chart.title),
        };
        (&frame.name, &frame.title)
    }
}

impl Picture for Chart {
    fn name(&self) -> &str {
        self.names().0
    }

    fn draw(&self, canvas: &Canvas<'_>) -> anyhow::Result<()> {
        match self {
            Chart::Lines(chart) => lines::draw(chart, canvas),
            Chart::Phases(chart) => phases::draw(chart, canvas),
            Chart::Roofline(chart) => roofline::draw(chart, canvas),
            Chart::Overview(chart) => overview::draw(chart, canvas),
        }
    }
}

/// The charts of one or several named reports. Of one: the overview, then time, speed-ups and phases by op, element type
/// and state of the caches, then the rooflines. Of several, which share charts: time and speed-ups.
///
/// Ops and backends without measured rows have no chart.
pub(crate) fn charts(reports: &[(&str, &Report)]) -> Vec<Chart> {
    let names: Vec<Names> = reports.iter().map(|(_, report)| Names::of(report)).collect();
    let sheets = sheets(reports, &names);
    let alone = if let [(_, report)] = reports { Some(*report) } else { None };
    let mut charts = vec![];
    if alone.is_some() {
        let captions = captions(reports, caches(&sheets), text::OVERVIEW);
        charts.extend(overview::sheets(&sheets, &captions).into_iter().map(Chart::Overview));
    }
    for sheet in &sheets {
        let captions = |how: &str| captions(reports, Some(sheet.subject.cache), how);
        charts.extend(lines::time::chart(sheet, captions(text::POINTS)).map(Chart::Lines));
        charts.extend(lines::speed_up::chart(sheet, captions(text::SPEED_UPS)).map(Chart::Lines));
        if alone.is_some() {
            charts.extend(phases::charts(sheet, &captions(text::PHASES)).into_iter().map(Chart::Phases));
        }
    }
    if let Some(report) = alone {
        let captions = |cache| captions(reports, Some(cache), text::ROOFLINE);
        charts.extend(roofline::charts(report, captions).into_iter().map(Chart::Roofline));
    }
    charts
}

/// The state of the caches that all sheets share.
fn caches(sheets: &[Sheet<'_>]) -> Option<Cache> {
    let first = sheets.first()?.subject.cache;
    sheets.iter().all(|sheet| sheet.subject.cache == first).then_some(first)
}

/// The charts of one or several named reports as files, such as `time-matmul-f32.png`.
///
/// # Errors
/// A chart cannot be drawn or encoded.
pub(crate) fn files(
    reports: &[(&str, &Report)],
    formats: &[Format],
    theme: Theme,
) -> anyhow::Result<Vec<File>> {
    pictures(&charts(reports), formats, theme)
}

/// A chart inside an HTML page.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Fragment {
    /// Its name as a file, without extension: `time-matmul-f32`.
    pub name: String,
    pub topic: Topic,
    pub title: String,
    /// An `svg` element of [`SIZE`]. Its texts are in [`font_faces`], which the page must have once; its colours are the
    /// variables of the palette, which the page must set for each theme.
    pub svg: String,
}

/// The charts of a report for a page of HTML, in the order of [`charts`].
///
/// # Errors
/// A chart cannot be drawn.
pub(crate) fn svg_fragments(report: &Report) -> anyhow::Result<Vec<Fragment>> {
    let charts = charts(&[("", report)]);
    let fragment = |chart: &Chart| {
        let svg = svg::fragment(chart).with_context(|| format!("cannot draw {}", chart.name()))?;
        let (name, title) = chart.names();
        Ok(Fragment { name: name.to_owned(), topic: chart.topic(), title: title.to_owned(), svg })
    };
    charts.par_iter().map(fragment).collect()
}

/// Charts of one kind as files, in each of the formats.
fn pictures<P: Picture>(charts: &[P], formats: &[Format], theme: Theme) -> anyhow::Result<Vec<File>> {
    let pairs: Vec<_> =
        charts.iter().flat_map(|chart| formats.iter().map(move |&format| (chart, format))).collect();
    let mut files = vec![];
    for some in pairs.chunks(AT_ONCE) {
        let drawn: anyhow::Result<Vec<File>> =
            some.par_iter().map(|&(chart, format)| file(chart, format, theme)).collect();
        files.extend(drawn?);
    }
    Ok(files)
}

fn file(chart: &impl Picture, format: Format, theme: Theme) -> anyhow::Result<File> {
    let name = format!("{}.{}", chart.name(), format.extension());
    let bytes = match format {
        Format::Png => bitmap::png(chart, theme),
        Format::Svg => svg::file(chart, theme),
    };
    Ok(File { bytes: bytes.with_context(|| format!("cannot draw {name}"))?, name })
}

#[cfg(test)]
mod tests;
#[cfg(test)]
mod text_dump;
