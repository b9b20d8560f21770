//! Follows the times of cells over many reports and finds steps in them.
//!
//! It reads reports only and uses no device. `docs/trend.md` describes the method.

mod gather;
mod likelihood;
pub mod select;
mod series;
mod steps;

pub use gather::left_out_text;

use std::path::PathBuf;

use self::steps::Fit;
use crate::compare::Difference;
use crate::compare::result::FlatCell;
use crate::compare::runs::ReportRef;
use anyhow::{Result, ensure};
use gpubench_report::case::Cell;
use gpubench_report::pattern::Pattern;
use gpubench_report::report::Outcome;
use gpubench_report::{Accuracy, Side};
use gpubench_text::count::counted;
use serde::Serialize;

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
    gpubench_version: &'static str,
    /// The smallest reported step, relative.
    pub threshold: f64,
    /// The reports in order of time, then path.
    pub reports: Vec<ReportRef>,
    /// JSON files that are not readable reports.
    pub left_out: Vec<IgnoredFile>,
    /// The series, by op in the order of [`gpubench_ops::OPS`], element type, state of the caches, shape, density, matrix and size.
    pub series: Vec<CellSeries>,
}

/// A file that is not a readable report.
#[derive(Clone, Debug, Serialize)]
pub struct IgnoredFile {
    name: String,
    /// The reason, in one line that starts with the path.
    reason: String,
}

/// The times of one cell on one model of device.
#[derive(Clone, Debug, Serialize)]
pub struct CellSeries {
    /// The cell.
    #[serde(flatten, with = "FlatCell")]
    pub cell: Cell,
    /// Side of the CPU-GPU comparison.
    pub side: Side,
    /// Model of the processor it ran on. Times of different models are never joined.
    pub device: String,
    /// Arithmetic of the variant. Times of different arithmetic are never joined.
    pub accuracy: Accuracy,
    /// Number of reports whose times are ignored because their operands differ from those of the newest report.
    pub other_operands: usize,
    /// The times, in order of the reports; at least one.
    pub points: Vec<TimePoint>,
    /// Reports that contain the cell without a time, in order.
    pub without_time: Vec<Absence>,
    /// Levels of the piecewise constant fit, at least one, with the noise around them.
    #[serde(flatten)]
    pub fit: Fit,
    /// Steps from each level to the next.
    pub steps: Vec<TimeStep>,
    /// The change of the newest reports, if they differ from the last level and are too few to confirm a step.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub latest: Option<TimeStep>,
    /// The time of the newest report that has one, in seconds.
    pub newest_s: f64,
    /// The shortest time of a level, in seconds.
    pub best_level_s: f64,
}

/// The time of a cell in one report.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct TimePoint {
    /// Index in [`Trend::reports`].
    pub report: usize,
    /// Median time, in seconds.
    pub median_s: f64,
    /// 95 % interval of that median, in seconds; it does not include the variation between runs.
    pub ci95_s: [f64; 2],
}

/// A report that contains a cell without a time.
#[derive(Clone, Debug, Serialize)]
pub struct Absence {
    /// Index in [`Trend::reports`].
    pub report: usize,
    /// The outcome: incorrect, skipped or failed.
    pub outcome: Outcome,
    /// The reason in its row.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// A run of points on one level.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct TimeLevel {
    /// Index of its first point in [`CellSeries::points`].
    pub first: usize,
    /// Number of its points.
    pub count: usize,
    /// Median of its times, in seconds.
    pub median_s: f64,
}

/// A step from one level of times to the next.
#[derive(Clone, Debug, Serialize)]
pub struct TimeStep {
    /// Index in [`Trend::reports`] of the last report before it.
    pub last_before: usize,
    /// Index in [`Trend::reports`] of the first report after it.
    pub first_after: usize,
    /// `slower` or `faster`.
    pub direction: &'static str,
    /// Time after over time before: above 1 is slower.
    pub ratio: f64,
    /// Median time before it, in seconds.
    pub before_s: f64,
    /// Median time after it, in seconds.
    pub after_s: f64,
    /// Number of reports of the level before it.
    pub reports_before: usize,
    /// Number of reports of the level after it.
    pub reports_after: usize,
    /// Facts that affect the cell's times and differ between the two reports, without ignored ones.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub environment: Vec<Difference>,
}

/// Returns the direction of a step with this ratio of the time after to the time before.
pub fn direction(ratio: f64) -> &'static str {
    if ratio > 1.0 { "slower" } else { "faster" }
}

impl TimeStep {
    /// Returns the factor by which times became slower or faster, at least 1.
    pub fn factor(&self) -> f64 {
        self.ratio.max(1.0 / self.ratio)
    }
}

impl CellSeries {
    /// Returns whether another series is of the same cell except for the seed.
    pub fn is_same_but_for_seed(&self, other: &CellSeries) -> bool {
        let mut cell = other.cell.clone();
        cell.case.seed = self.cell.case.seed;
        self.cell == cell
    }

    /// Returns the newest time over the best level: 1.1 is 10 % slower.
    pub fn newest_over_best(&self) -> f64 {
        self.newest_s / self.best_level_s
    }

    /// Returns its steps and the unconfirmed change at its end; the flag is true for confirmed ones.
    pub fn changes(&self) -> impl Iterator<Item = (&TimeStep, bool)> {
        self.steps.iter().map(|step| (step, true)).chain(self.latest.iter().map(|step| (step, false)))
    }

    /// Returns true without a step, a drift or an unconfirmed change.
    pub fn is_steady(&self) -> bool {
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
        gather::paths(&request.folders)
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
