//! Follows the times of cells over many reports and finds steps in them.
//!
//! It reads reports only and uses no device. `docs/trend.md` describes the method.

#![forbid(unsafe_code)]

mod chart;
mod descriptions;
pub mod export;
mod gather;
mod likelihood;
mod select;
mod series;
mod steps;

use std::path::PathBuf;

use anyhow::{Result, ensure};
use gpubench_compare::Difference;
use gpubench_report::case::{Cache, Case};
use gpubench_report::pattern::Pattern;
use gpubench_report::report::Outcome;
use gpubench_report::{Accuracy, Side};
use gpubench_text::count::counted;
use serde::Serialize;
use steps::Fit;

pub use chart::missing_charts_text;

/// Name of the JSON file of a trend.
pub const FILE_NAME: &str = "trend.json";

/// The parameters of a trend.
#[derive(Clone, Debug, PartialEq)]
pub struct TrendRequest {
    /// Folders whose reports, including those in subfolders, are read; or single report files.
    pub folders: Vec<PathBuf>,
    /// Ops to include; all if `None`.
    pub ops: Option<Vec<String>>,
    /// Variants to include; all if `None`.
    pub variants: Option<Vec<Pattern>>,
    /// The smallest step to report, relative: 0.02 is 2 %.
    pub threshold: f64,
}

/// Every series of the reports and its steps.
#[derive(Clone, Debug, Serialize)]
pub struct Trend {
    /// Version of the layout in JSON, independent of the program's version.
    trend_version: u32,
    /// Version of gpubench that made the trend.
    gpubench_version: &'static str,
    /// The smallest reported step, relative.
    threshold: f64,
    /// The reports in order of time, then path.
    reports: Vec<ReportRef>,
    /// JSON files that are not readable reports.
    left_out: Vec<IgnoredFile>,
    /// The series, by op in the order of [`gpubench_ops::OPS`], element type, state of the caches, density and size.
    series: Vec<CellSeries>,
}

/// The identity of a report in a trend.
#[derive(Clone, Debug, Serialize)]
struct ReportRef {
    name: String,
    /// Start of the run, RFC 3339.
    started: String,
    host: String,
    gpubench_version: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    gpubench_revision: Option<String>,
    /// Git revision of the folder the run was started in.
    #[serde(skip_serializing_if = "Option::is_none")]
    git_revision: Option<String>,
}

/// A file that is not a readable report.
#[derive(Clone, Debug, Serialize)]
struct IgnoredFile {
    name: String,
    /// The reason, in one line that starts with the path.
    reason: String,
}

/// The times of one cell on one model of device.
#[derive(Clone, Debug, Serialize)]
struct CellSeries {
    /// `op`, `n`, `dtype`, `density` (sparse ops) and `seed`.
    #[serde(flatten)]
    case: Case,
    backend: String,
    variant: String,
    cache: Cache,
    /// Side of the CPU-GPU comparison.
    side: Side,
    /// Model of the processor it ran on. Times of different models are never joined.
    device: String,
    /// Arithmetic of the variant. Times of different arithmetic are never joined.
    accuracy: Accuracy,
    /// Number of reports whose times are ignored because their operands differ from those of the newest report.
    other_operands: usize,
    /// The times, in order of the reports; at least one.
    points: Vec<TimePoint>,
    /// Reports that contain the cell without a time, in order.
    without_time: Vec<Absence>,
    /// Levels of the piecewise constant fit, at least one, with the noise around them.
    #[serde(flatten)]
    fit: Fit,
    /// Steps from each level to the next.
    steps: Vec<TimeStep>,
    /// The change of the newest reports, if they differ from the last level and are too few to confirm a step.
    #[serde(skip_serializing_if = "Option::is_none")]
    latest: Option<TimeStep>,
    /// The time of the newest report that has one, in seconds.
    newest_s: f64,
    /// The shortest time of a level, in seconds.
    best_level_s: f64,
}

/// The time of a cell in one report.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
struct TimePoint {
    /// Index in [`Trend::reports`].
    report: usize,
    median_s: f64,
    /// 95 % interval of that median, in seconds; it does not include the variation between runs.
    ci95_s: [f64; 2],
}

/// A report that contains a cell without a time.
#[derive(Clone, Debug, Serialize)]
struct Absence {
    /// Index in [`Trend::reports`].
    report: usize,
    outcome: Outcome,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
}

/// A run of points on one level.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
struct TimeLevel {
    /// Index of its first point in [`CellSeries::points`].
    first: usize,
    count: usize,
    median_s: f64,
}

#[derive(Clone, Debug, Serialize)]
struct TimeStep {
    /// Index in [`Trend::reports`] of the last report before it.
    last_before: usize,
    /// Index in [`Trend::reports`] of the first report after it.
    first_after: usize,
    /// `slower` or `faster`.
    direction: &'static str,
    /// Time after over time before: above 1 is slower.
    ratio: f64,
    before_s: f64,
    after_s: f64,
    reports_before: usize,
    reports_after: usize,
    /// Facts that affect the cell's times and differ between the two reports, without ignored ones.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    environment: Vec<Difference>,
}

/// Returns the direction of a step with this ratio of the time after to the time before.
fn direction(ratio: f64) -> &'static str {
    if ratio > 1.0 { "slower" } else { "faster" }
}

impl TimeStep {
    /// Returns the factor by which times became slower or faster, at least 1.
    fn factor(&self) -> f64 {
        self.ratio.max(1.0 / self.ratio)
    }
}

impl CellSeries {
    /// The name of the cell, without its seed.
    fn cell_text(&self) -> String {
        format!("{} {}/{} {}", self.case, self.backend, self.variant, self.cache)
    }

    /// Returns what the series of one chart share: the case except for its seed, and the cache state.
    fn shared_case(&self) -> impl PartialEq {
        (&self.case.op, self.case.n, self.case.dtype, self.case.density, self.cache)
    }

    /// Returns whether another series is of the same cell except for the seed.
    fn is_same_but_for_seed(&self, other: &CellSeries) -> bool {
        self.shared_case() == other.shared_case()
            && self.backend == other.backend
            && self.variant == other.variant
    }

    /// Returns the newest time over the best level: 1.1 is 10 % slower.
    fn newest_over_best(&self) -> f64 {
        self.newest_s / self.best_level_s
    }

    /// Returns its steps and the unconfirmed change at its end; the flag is true for confirmed ones.
    fn changes(&self) -> impl Iterator<Item = (&TimeStep, bool)> {
        self.steps.iter().map(|step| (step, true)).chain(self.latest.iter().map(|step| (step, false)))
    }

    /// Returns true without a step, a drift or an unconfirmed change.
    fn is_steady(&self) -> bool {
        self.steps.is_empty() && self.fit.drift.is_none() && self.latest.is_none()
    }
}

/// Reads all reports and finds the steps of every series.
///
/// # Errors
/// Fails with one line if a folder is unreadable, there is no report, or no selected row has a time.
pub fn trend(request: &TrendRequest) -> Result<Trend> {
    let found = gather::gather(&request.folders)?;
    let series = series::series(&found.reports, request);
    ensure!(
        !series.is_empty(),
        "no row of the {} in {} has a time for the selected ops and variants; omit --ops and --variants to see all",
        counted(found.reports.len(), "report"),
        descriptions::paths(&request.folders)
    );
    Ok(Trend {
        trend_version: 1,
        gpubench_version: env!("CARGO_PKG_VERSION"),
        threshold: request.threshold,
        reports: found.reports.into_iter().map(|report| report.report_ref).collect(),
        left_out: found.left_out,
        series,
    })
}

/// Returns one line that counts and names the files that are not readable reports; `None` without any.
pub fn ignored_files_text(trend: &Trend) -> Option<String> {
    descriptions::left_out(&trend.left_out)
}

#[cfg(test)]
mod tests;
