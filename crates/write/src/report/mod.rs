//! Writes a report as table, JSON, CSV, Markdown, charts or a page.
//!
//! [`FORMATS`] lists all formats; a new one takes one file and two lines here.

pub(crate) mod csv;
mod table;

use std::path::PathBuf;

use gpubench_document::report::{Answered, parts};
use gpubench_report::format::{self, Formats, Makes};
use gpubench_report::report::Report;
use gpubench_report::report::file::{COMPRESSED_NAME, FILE_NAME, File, to_json_gz, to_json_text};

use crate::chart::{self, Selection, Theme};
use crate::html::page;
use crate::markdown;
pub use gpubench_document::report::problems::nothing_measured;
pub use table::TABLE;

/// A format of a report.
pub type Format = format::Format<Report, View>;

/// Options of a format.
#[derive(Clone, Debug, Default)]
pub struct View {
    /// Print tables of every case after the answer.
    pub tables: bool,
    /// List every variant in tables, not only the best of each side.
    pub all_variants: bool,
    /// ANSI colours for winners and wrong answers.
    pub color: bool,
    /// Columns of the terminal that the first screen is for; 80 where unknown.
    pub width: Option<usize>,
    /// The folder of the report, where it is known: `gpubench run --resume` goes on there.
    pub folder: Option<PathBuf>,
    /// What `gpubench show` must be given to show the report; `None` where that takes it as the newest run.
    pub shown: Option<PathBuf>,
    /// The look of charts.
    pub theme: Theme,
    /// The kinds of charts.
    pub charts: Selection,
}

/// Every format of a report; the first is for people at a terminal.
pub static FORMATS: Formats<Report, View> =
    Formats { all: &[&TABLE, &JSON, &csv::CSV, &MARKDOWN, &HTML, &PNG, &SVG, &JSON_GZ], refused: &[] };

/// The report and the answer derived from it as JSON; `schema/report-v4.json` describes both.
pub static JSON: Format = Format {
    name: "json",
    summary: "everything, raw samples included; the format that plot and compare read",
    by_default: true,
    makes: Makes::Text(FILE_NAME, |report, _| to_json_text(&Answered::of(report))),
};

/// The report as JSON that gzip has compressed.
static JSON_GZ: Format = Format {
    name: "json.gz",
    summary: "report.json compressed by gzip, about a tenth of its size",
    by_default: false,
    makes: Makes::Files {
        has: |name| name == COMPRESSED_NAME,
        render: |report, _| {
            let bytes = to_json_gz(&Answered::of(report))?;
            Ok(vec![File { name: COMPRESSED_NAME.into(), bytes }])
        },
    },
};

static MARKDOWN: Format = Format {
    name: "md",
    summary: "the answer and the tables as Markdown, with environment and method",
    by_default: true,
    makes: Makes::Text("report.md", |report, view| {
        Ok(markdown::document(&parts::document(report, view.all_variants)))
    }),
};

static HTML: Format = Format {
    name: "html",
    summary: "one page: the answer, charts and every row to sort and filter",
    by_default: false,
    makes: Makes::Text("report.html", |report, _| Ok(page(&[("", report)]))),
};

/// Charts as PNG.
pub static PNG: Format = Format {
    name: "png",
    summary: "charts as pixels",
    by_default: true,
    makes: Makes::Files {
        has: |file| file.strip_suffix(".png").is_some_and(chart::is_name),
        render: |report, view| files(report, view, chart::Format::Png),
    },
};

/// Charts as SVG.
pub static SVG: Format = Format {
    name: "svg",
    summary: "charts as vectors",
    by_default: false,
    makes: Makes::Files {
        has: |file| file.strip_suffix(".svg").is_some_and(chart::is_name),
        render: |report, view| files(report, view, chart::Format::Svg),
    },
};

fn files(report: &Report, view: &View, format: chart::Format) -> anyhow::Result<Vec<File>> {
    let View { theme, charts: selection, .. } = *view;
    chart::files(&[("", report)], &chart::Drawing { formats: &[format], theme, selection })
}

#[cfg(test)]
mod screen_tests;
#[cfg(test)]
mod tests;
