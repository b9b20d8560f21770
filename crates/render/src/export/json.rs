//! Writes the report and the answer derived from it as JSON; `schema/report-v3.json` describes both.

use gpubench_answer::Answered;
use gpubench_model::format::Makes;
use gpubench_model::report::file::{FILE_NAME, to_json_text};

use super::view::Format;

/// The report as JSON.
pub static JSON: Format = Format {
    name: "json",
    summary: "everything, raw samples included; the format that plot and compare read",
    by_default: true,
    makes: Makes::Text(FILE_NAME, |report, _| to_json_text(&Answered::of(report))),
};
