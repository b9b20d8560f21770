//! The types of one side of a comparison: one or more runs of a sweep, and the variation that a baseline recorded.

use gpubench_report::report::{Environment, Report, Row};
use serde::{Deserialize, Serialize};

/// A run and the file it was read from.
#[derive(Clone, Debug, PartialEq)]
pub struct Run {
    /// Path of its report as the user named it.
    pub name: String,
    /// The report.
    pub report: Report,
}

/// The runs of one side.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Runs {
    /// The runs, at least one, in the order they were named.
    pub runs: Vec<Run>,
    /// Relative standard deviation between runs by cell name, from a baseline: a lower bound for the variation assumed.
    pub baseline_variation: std::collections::BTreeMap<String, f64>,
}

/// The identity of a report.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReportRef {
    /// Path of the report as the user named it.
    pub name: String,
    /// Start of the run, RFC 3339, UTC.
    pub started: String,
    /// Name of the host.
    pub host: String,
    /// Version of gpubench that ran.
    pub gpubench_version: String,
    /// Git revision of gpubench's source, where the report has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gpubench_revision: Option<String>,
    /// Git revision of the folder the run was started in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub git_revision: Option<String>,
}

/// A run, as a comparison records it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunInfo {
    /// The report of the run.
    #[serde(flatten)]
    pub report: ReportRef,
    /// Cells that have a time.
    pub measured: usize,
    /// Cells in all.
    pub rows: usize,
}

/// Digits of a revision that identify it among those of one source.
const REVISION_DIGITS: usize = 8;

impl ReportRef {
    pub(crate) fn of(name: String, environment: &Environment) -> ReportRef {
        ReportRef {
            name,
            started: environment.started.clone(),
            host: environment.host.name.clone(),
            gpubench_version: environment.gpubench_version.clone(),
            gpubench_revision: environment.gpubench_revision.clone(),
            git_revision: environment.git_revision.clone(),
        }
    }

    /// Returns the build of gpubench that ran: the revision of its source in 8 digits, or its version where the report has none.
    pub fn build(&self) -> String {
        let Some(revision) = &self.gpubench_revision else { return self.gpubench_version.clone() };
        let digits = revision.chars().take_while(char::is_ascii_hexdigit).count();
        let (digits, changes) = revision.split_at(digits);
        format!("{}{changes}", &digits[..digits.len().min(REVISION_DIGITS)])
    }
}

impl Runs {
    /// Returns the rows of all runs.
    pub(crate) fn rows(&self) -> impl Iterator<Item = &Row> {
        self.runs.iter().flat_map(|run| &run.report.rows)
    }

    pub(crate) fn is_same_run(&self, other: &Runs) -> bool {
        match (self.runs.as_slice(), other.runs.as_slice()) {
            ([a], [b]) => a.report == b.report,
            _ => false,
        }
    }
}

impl Run {
    pub(crate) fn ended_early(&self) -> bool {
        let rows = &self.report.rows;
        let planned = self.report.environment.planned_rows.unwrap_or(0);
        planned > rows.len() as u64 || rows.iter().any(gpubench_report::report::Row::was_cut_short)
    }

    pub(crate) fn info(&self) -> RunInfo {
        let Report { environment, rows, .. } = &self.report;
        RunInfo {
            report: ReportRef::of(self.name.clone(), environment),
            measured: rows.iter().filter(|row| row.execute.is_some()).count(),
            rows: rows.len(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_is_labelled_by_the_build_of_gpubench_and_not_by_the_folder() {
        let of = |revision: Option<&str>| {
            let mut report = gpubench_report::report::example::full();
            report.environment.gpubench_version = "0.1.0".into();
            report.environment.gpubench_revision = revision.map(str::to_owned);
            report.environment.git_revision = Some("78aec5e071fc40cb805c0661c21969bebcb98809-dirty".into());
            ReportRef::of("a".into(), &report.environment).build()
        };
        assert_eq!(of(Some("8c3ff48e071fc40cb805c0661c21969bebcb9880")), "8c3ff48e");
        assert_eq!(of(Some("8c3ff48e071fc40c-dirty")), "8c3ff48e-dirty");
        assert_eq!(of(Some("8c3ff48")), "8c3ff48");
        assert_eq!(of(None), "0.1.0");
    }
}
