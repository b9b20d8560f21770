//! Formats a comparison as text, Markdown, JSON and the formats that pipelines read.
//!
//! [`FORMATS`] lists all formats; a new one needs one file and two lines here.

mod csv;
mod github;
mod junit;
mod names;
mod services;

use gpubench_analysis::compare::Comparison;
use gpubench_document::comparison::{ComparisonDetail, document};
use gpubench_document::table::WIDTH;
use gpubench_report::format::{Format, Formats, Makes};
use gpubench_report::report::file::to_json_text;

use crate::markdown;
use crate::terminal::{Screen, blocks};

pub use github::GITHUB;

/// A format of a comparison.
pub type ComparisonFormat = Format<Comparison, View>;

/// View options of a comparison.
#[derive(Clone, Copy, Debug, Default)]
pub struct View {
    /// Show a line for every cell, including unchanged and not judged ones.
    pub all_cells: bool,
    /// Use ANSI colours for better, worse and inconclusive cells.
    pub color: bool,
}

/// The comparison for people at a terminal.
pub static TABLE: ComparisonFormat = ComparisonFormat {
    name: "table",
    summary: "text for the terminal: the conclusion, then cells, worst first",
    by_default: true,
    makes: Makes::Text("compare.txt", |comparison, view| {
        let detail = ComparisonDetail { all_cells: view.all_cells, folds: false };
        Ok(blocks(&document(comparison, detail).blocks, Screen { width: WIDTH, color: view.color }))
    }),
};

/// The comparison as Markdown, which stays below the 65 536 characters of a comment on GitHub.
static MARKDOWN: ComparisonFormat = ComparisonFormat {
    name: "md",
    summary: "Markdown for a comment on a pull request or the summary of a job",
    by_default: false,
    makes: Makes::Text("compare.md", |comparison, view| Ok(markdown_text(comparison, view.all_cells))),
};

/// Writes a comparison as Markdown in which no name is a mention, which would notify a user.
///
/// GitHub finds mentions in the rendered text, so a backslash or an entity does not prevent one; an HTML comment does.
fn markdown_text(comparison: &Comparison, all_cells: bool) -> String {
    let detail = ComparisonDetail { all_cells, folds: true };
    markdown::document(&document(comparison, detail)).replace('@', "@<!-- -->")
}

/// Returns the Markdown to append to the file that `GITHUB_STEP_SUMMARY` names.
pub fn job_summary(comparison: &Comparison) -> String {
    markdown_text(comparison, false)
}

/// The comparison itself, as `schema/compare-v2.json` describes it.
static JSON: ComparisonFormat = ComparisonFormat {
    name: "json",
    summary: "everything, for programs; `gpubench schema compare` describes it",
    by_default: true,
    makes: Makes::Text("compare.json", |comparison, _| to_json_text(comparison)),
};

/// Every format of a comparison; the first is for people at a terminal.
pub static FORMATS: Formats<Comparison, View> = Formats {
    all: &[
        &TABLE,
        &JSON,
        &MARKDOWN,
        &junit::JUNIT,
        &GITHUB,
        &services::BMF,
        &services::GITHUB_ACTION_BENCHMARK,
        &csv::CSV,
    ],
    refused: &[],
};

#[cfg(test)]
mod tests;
