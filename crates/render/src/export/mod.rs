//! A report as table, JSON, CSV, Markdown, charts or a page. Reads reports only and touches no device.
//!
//! [`FORMATS`] is the list of all formats; a new one is one file and two lines here.

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

mod view;

use gpubench_model::Side;
use gpubench_model::format::Formats;
use gpubench_model::report::Report;
use gpubench_text::table::Tone;

pub use image::{PNG, SVG};
pub use json::JSON;
pub use table::TABLE;
pub use view::{Format, View};

/// Every format of a report; the first is for people at a terminal.
pub static FORMATS: Formats<Report, View> =
    Formats { all: &[&TABLE, &JSON, &csv::CSV, &markdown::MARKDOWN, &html::HTML, &PNG, &SVG], refused: &[] };

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
