//! A trend as text, JSON, CSV, Markdown and charts.
//!
//! [`FORMATS`] is the list of all formats; a new one is one file and a line here and in `lib.rs`.

use gpubench_model::format::Formats;
use gpubench_render::chart::Theme;

use super::{Trend, csv, image, json, markdown};

pub use super::format::Format;
pub use super::text::TABLE;

/// Every format of a trend; the first is for people at a terminal.
pub static FORMATS: Formats<Trend, Theme> = Formats {
    all: &[&TABLE, &json::JSON, &csv::CSV, &markdown::MARKDOWN, &image::PNG, &image::SVG],
    refused: &[("html", "a trend makes no page: name table, json, csv, md, png or svg")],
};
