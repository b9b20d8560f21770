//! Formats a comparison as text, Markdown, JSON and the formats that pipelines read.
//!
//! [`FORMATS`] lists all formats; a new one needs one file and two lines here.

mod cells;
mod csv;
mod github;
mod groups;
mod junit;
mod markdown;
mod names;
mod sanitized;
mod services;
mod summary;
mod table;

use gpubench_report::format::{Format, Formats, Makes};
use gpubench_report::report::file::to_json_text;

pub use github::{GITHUB, job_summary};
pub use sanitized::Sanitized;
pub use table::TABLE;

/// A format of a comparison.
pub type ComparisonFormat = Format<Sanitized, View>;

/// View options of a comparison.
#[derive(Clone, Copy, Debug, Default)]
pub struct View {
    /// Show a line for every cell, including unchanged and not judged ones.
    pub all_cells: bool,
    /// Use ANSI colours for better, worse and inconclusive cells.
    pub color: bool,
}

/// The comparison itself, as `schema/compare-v2.json` describes it.
static JSON: ComparisonFormat = ComparisonFormat {
    name: "json",
    summary: "everything, for programs; `gpubench schema compare` describes it",
    by_default: true,
    makes: Makes::Text("compare.json", |comparison, _| to_json_text(&**comparison)),
};

/// Every format of a comparison; the first is for people at a terminal.
pub static FORMATS: Formats<Sanitized, View> = Formats {
    all: &[
        &TABLE,
        &JSON,
        &markdown::MARKDOWN,
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
