//! JSON: the report and the answer derived from it, as `schema/report-v2.json` describes them.

use gpubench_answer::Answered;
use gpubench_model::report::Report;
use gpubench_model::report::file::{FILE_NAME, to_json};

use super::{Exporter, File, View};

/// The report as JSON.
pub struct Json;

impl Exporter for Json {
    fn name(&self) -> &'static str {
        "json"
    }

    fn summary(&self) -> &'static str {
        "everything, raw samples included; the format that plot and compare read"
    }

    fn extension(&self) -> &'static str {
        "json"
    }

    fn files(&self, report: &Report, _: &View) -> anyhow::Result<Vec<File>> {
        Ok(vec![File { name: FILE_NAME.into(), bytes: to_json(&Answered::of(report))? }])
    }
}
