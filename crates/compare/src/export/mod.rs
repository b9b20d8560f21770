//! Formats a comparison as text, Markdown, JSON and the formats that pipelines read.
//!
//! [`FORMATS`] lists all formats; a new one needs one file and two lines here.

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
mod phrases;
mod sanitized;
mod summary;
mod table;
mod view;

use gpubench_model::format::Formats;

pub use github::{GITHUB, job_summary};
pub use names::names;
pub(super) use phrases::{change_with_interval, mean_with_interval, percent};
pub use sanitized::Sanitized;
pub use table::TABLE;
pub use view::{Format, View};

/// Every format of a comparison; the first is for people at a terminal.
pub static FORMATS: Formats<Sanitized, View> = Formats {
    all: &[
        &TABLE,
        &json::JSON,
        &markdown::MARKDOWN,
        &junit::JUNIT,
        &GITHUB,
        &bmf::BMF,
        &benchmark::GITHUB_ACTION_BENCHMARK,
        &csv::CSV,
        &csv::MEANS_CSV,
    ],
    refused: &[],
};

#[cfg(test)]
mod tests;
