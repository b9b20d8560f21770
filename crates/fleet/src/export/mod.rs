//! Fleets as text, Markdown, CSV, JSON and pages.
//!
//! [`FORMATS`] lists all formats; a new one needs one file and two lines here.

mod contents;
mod csv;
mod grid;
mod html;
mod json;
mod text;

use gpubench_model::format::Formats;

use super::Fleet;

pub use contents::{Format, View};
pub use text::TABLE;

/// Every format of a fleet; the first is for people at a terminal.
pub static FORMATS: Formats<Fleet, View> = Formats {
    all: &[&TABLE, &json::JSON, &csv::CSV, &text::MARKDOWN, &html::HTML],
    refused: &[
        ("png", "png charts are files: use 'gpubench plot' to draw them"),
        ("svg", "svg charts are files: use 'gpubench plot' to draw them"),
    ],
};

#[cfg(test)]
mod tests;
