//! Writes the report and the answer derived from it as JSON; `schema/report-v3.json` describes both.

use gpubench_answer::Answered;
use gpubench_model::format::Makes;
use gpubench_model::report::file::{COMPRESSED_NAME, FILE_NAME, File, to_json_gz, to_json_text};

use super::view::Format;

/// The report as JSON.
pub static JSON: Format = Format {
    name: "json",
    summary: "everything, raw samples included; the format that plot and compare read",
    by_default: true,
    makes: Makes::Text(FILE_NAME, |report, _| to_json_text(&Answered::of(report))),
};

/// The report as JSON that gzip has compressed.
pub(super) static JSON_GZ: Format = Format {
    name: "json.gz",
    summary: "report.json compressed by gzip, about a tenth of its size",
    by_default: false,
    makes: Makes::Files {
        has: |name| name == COMPRESSED_NAME,
        render: |report, _| {
            let bytes = to_json_gz(&Answered::of(report))?;
            Ok(vec![File { name: COMPRESSED_NAME.into(), bytes }])
        },
    },
};
