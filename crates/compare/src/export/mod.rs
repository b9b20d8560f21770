//! A comparison as text, Markdown, JSON and the formats that pipelines read. Knows no reports and prints nothing.
//!
//! [`FORMATS`] is the list of all of them; a new format is one file and two lines here.

mod benchmark;
mod bmf;
mod cells;
mod csv;
mod github;
mod groups;
mod json;
mod junit;
mod markdown;
mod names;
mod plain;
mod summary;
mod table;
mod words;

use super::Comparison;

pub use github::job_summary;
pub use names::names;
pub(super) use words::{change_with_interval, mean_with_interval, percent};

/// How a comparison is shown.
#[derive(Clone, Copy, Debug, Default)]
pub struct View {
    /// Every cell has its line, unchanged ones and those that were not judged included.
    pub all_cells: bool,
    /// ANSI colours for what became better, worse or could not be told.
    pub color: bool,
}

/// A format of a comparison.
pub trait Format: Sync {
    /// The word that names it on the command line.
    fn name(&self) -> &'static str;

    /// What it makes and who reads that, in one line.
    fn summary(&self) -> &'static str;

    /// The name of its file.
    fn file_name(&self) -> &'static str;

    /// The text of a comparison whose texts have no control characters and whose figures are finite.
    fn render(&self, comparison: &Comparison, view: &View) -> String;

    /// The text of any comparison: what broken reports brought into it does no harm in a terminal or a file.
    fn text(&self, comparison: &Comparison, view: &View) -> String {
        self.render(&plain::plain(comparison), view)
    }
}

/// Every format; the first is the default.
pub static FORMATS: &[&dyn Format] = &[
    &table::Table,
    &json::Json,
    &markdown::Markdown,
    &junit::JUnit,
    &github::GitHub,
    &bmf::Bmf,
    &benchmark::GitHubActionBenchmark,
    &csv::Csv,
    &csv::MeansCsv,
];

/// The format of that name.
pub fn find(name: &str) -> Option<&'static dyn Format> {
    FORMATS.iter().copied().find(|format| format.name() == name)
}

#[cfg(test)]
mod tests;
