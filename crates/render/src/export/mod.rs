//! Exporters: a report as table, JSON, CSV, Markdown, charts or a page. They read reports only and touch no device.
//!
//! [`EXPORTERS`] is the list of all of them; a new exporter is one file and two lines here.

pub(crate) mod cautions;
pub(crate) mod csv;
pub(crate) mod environment;
mod html;
mod image;
mod json;
mod markdown;
pub(crate) mod method;
mod phases;
pub(crate) mod problems;
mod screen;
mod table;
pub(crate) mod tables;

use std::io::Write;

use anyhow::{Context, bail};
use gpubench_model::Side;
use gpubench_model::report::Report;
use gpubench_text::grid::Tone;

use crate::chart::Theme;

pub use gpubench_model::report::file::{File, save_all};

/// How a report is shown.
#[derive(Clone, Copy, Debug, Default)]
pub struct View {
    /// Tables of every case follow the answer.
    pub tables: bool,
    /// In tables every variant has its line, not only the best of each side.
    pub all_variants: bool,
    /// ANSI colours for winners and wrong answers.
    pub color: bool,
    /// The look of charts.
    pub theme: Theme,
}

/// A format of a report.
pub trait Exporter: Sync {
    /// The word that names it on the command line.
    fn name(&self) -> &'static str;

    /// What it makes, in one line.
    fn summary(&self) -> &'static str;

    /// The extension of its files.
    fn extension(&self) -> &'static str;

    /// Its files: one for text formats; one a chart, perhaps none, for images.
    ///
    /// # Errors
    /// The report cannot be drawn or written as text.
    fn files(&self, report: &Report, view: &View) -> anyhow::Result<Vec<File>>;

    /// Writes its one file to `out`.
    ///
    /// # Errors
    /// The report makes no file or several in this format, or `out` cannot be written.
    fn write(&self, report: &Report, view: &View, out: &mut dyn Write) -> anyhow::Result<()> {
        match self.files(report, view)?.as_slice() {
            [file] => out.write_all(&file.bytes).context("cannot write to the output"),
            [] => bail!("nothing measured, so there is no {} to write; see the table for why", self.name()),
            files => bail!("{} makes {} files; name a folder with --out", self.name(), files.len()),
        }
    }
}

/// Every exporter.
pub static EXPORTERS: &[&dyn Exporter] =
    &[&table::Table, &json::Json, &csv::Csv, &markdown::Markdown, &html::Html, &image::PNG, &image::SVG];

/// The exporter of that name.
pub fn find(name: &str) -> Option<&'static dyn Exporter> {
    EXPORTERS.iter().copied().find(|exporter| exporter.name() == name)
}

/// The tone of the faster side; none where neither is measurably faster.
fn tone(winner: Option<Side>) -> Tone {
    match winner {
        Some(Side::Cpu) => Tone::Cpu,
        Some(Side::Gpu) => Tone::Gpu,
        None => Tone::Plain,
    }
}

#[cfg(test)]
mod tests;
