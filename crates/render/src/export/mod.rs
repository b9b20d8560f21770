//! Writes a report as table, JSON, CSV, Markdown, charts or a page.
//!
//! [`FORMATS`] lists all formats; a new one takes one file and two lines here.

mod by_backend;
pub(crate) mod cautions;
pub(crate) mod csv;
pub(crate) mod environment;
mod free_memory;
mod html;
mod image;
mod json;
mod markdown;
pub(crate) mod method;
mod phases;
pub(crate) mod problems;
pub(crate) mod screen;
mod table;
pub(crate) mod tables;
mod view;

use gpubench_answer::{Contender, Pair};
use gpubench_model::format::Formats;
use gpubench_model::report::Report;
use gpubench_text::table::{Field, Tone};

pub use image::{PNG, SVG};
pub use json::JSON;
pub use problems::nothing_measured;
pub use table::TABLE;
pub use view::{Format, View};

/// Every format of a report; the first is for people at a terminal.
pub static FORMATS: Formats<Report, View> =
    Formats { all: &[&TABLE, &JSON, &json::JSON_GZ, &csv::CSV, &markdown::MARKDOWN, &html::HTML, &PNG, &SVG], refused: &[] };

/// `GPU 34x` in the tone of its winner, with a question mark where it is not reliable.
fn speed_up(pair: &Pair<'_>) -> Field {
    Field { text: pair.speed_up_text(), tone: tone(pair.speed_up.winner()) }
}

/// The tone of the faster contender; plain where neither is measurably faster.
fn tone(winner: Option<Contender>) -> Tone {
    match winner {
        Some(Contender::A) => Tone::Cpu,
        Some(Contender::B) => Tone::Gpu,
        None => Tone::Plain,
    }
}

#[cfg(test)]
mod tests;
