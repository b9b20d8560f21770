//! A trend as text, JSON, CSV, Markdown and charts.
//!
//! [`FORMATS`] lists all formats; a new one needs one file and two lines here.

mod csv;
mod image;
mod json;
pub(crate) mod markdown;
pub(crate) mod text;
mod view;

use gpubench_model::format::Formats;
use gpubench_render::chart::Theme;

use crate::Trend;

pub use text::TABLE;
pub use view::Format;

/// Every format of a trend; the first is for people at a terminal.
pub static FORMATS: Formats<Trend, Theme> = Formats {
    all: &[&TABLE, &json::JSON, &csv::CSV, &markdown::MARKDOWN, &image::PNG, &image::SVG],
    refused: &[("html", "a trend has no HTML page: name table, json, csv, md, png or svg")],
};
