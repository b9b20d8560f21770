//! Follows the times of cells over many reports and finds steps in them.
//!
//! It reads reports only and uses no device. `docs/trend.md` describes the method.

#![forbid(unsafe_code)]

mod causes;
mod chart;
mod cost;
mod descriptions;
pub mod export;
pub(crate) mod gather;
mod levels;
mod likelihood;
mod select;
mod series;
mod steps;

use std::path::{Path, PathBuf};

use anyhow::{Result, ensure};
use gpubench_compare::Difference;
use gpubench_model::case::{Cache, Case, Cell};
use gpubench_model::pattern::Pattern;
use gpubench_model::report::Outcome;
use gpubench_model::{Accuracy, Side};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use causes::CellIndex;

/// Version of the layout of a trend in JSON, independent of the program's version.
pub(crate) const TREND_VERSION: u32 = 1;

/// Name of the JSON file of a trend.
pub const FILE_NAME: &str = "trend.json";

/// The parameters of a trend.
#[derive(Clone, Debug, PartialEq)]
pub struct Request {
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
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Trend {
    /// [`TREND_VERSION`] of the writer.
    pub(crate) trend_version: u32,
    /// Version of gpubench that made the trend.
    pub(crate) gpubench_version: String,
    /// The smallest reported step, relative.
    pub(crate) threshold: f64,
    /// The reports in order of time, then path.
    pub(crate) reports: Vec<ReportRef>,
    /// JSON files that are not readable reports.
    pub(crate) left_out: Vec<IgnoredFile>,
    /// The series, by op in the order of [`gpubench_ops::OPS`], element type, state of the caches, density and size.
    pub(crate) series: Vec<Series>,
}

/// The identity of a report in a trend.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ReportRef {
    pub(crate) name: String,
    /// Start of the run, RFC 3339.
    pub(crate) started: String,
    pub(crate) host: String,
    pub(crate) gpubench_version: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) gpubench_revision: Option<String>,
    /// Git revision of the folder the run was started in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) git_revision: Option<String>,
}

/// A file that is not a readable report.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct IgnoredFile {
    pub(crate) name: String,
    /// The reason, in one line that starts with the path.
    pub(crate) reason: String,
}

/// The times of one cell on one model of device.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Series {
    /// `op`, `n`, `dtype`, `density` (sparse ops) and `seed`.
    #[serde(flatten)]
    pub(crate) case: Case,
    pub(crate) backend: String,
    pub(crate) variant: String,
    pub(crate) cache: Cache,
    /// Side of the CPU-GPU comparison.
    pub(crate) side: Side,
    /// Model of the processor it ran on. Times of different models are never joined.
    pub(crate) device: String,
    /// Arithmetic of the variant. Times of different arithmetic are never joined.
    pub(crate) accuracy: Accuracy,
    /// Number of reports whose times are ignored because their operands differ from those of the newest report.
    #[serde(default)]
    pub(crate) other_operands: usize,
    /// The times, in order of the reports; at least one.
    pub(crate) points: Vec<Point>,
    /// Reports that contain the cell without a time, in order.
    pub(crate) without_time: Vec<Absence>,
    /// Relative standard deviation between successive reports; `None` for fewer than 3 points.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) noise: Option<f64>,
    /// Correlation of that noise between successive reports, from 0 to 0.9; `None` for fewer than 20 points.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) correlation: Option<f64>,
    /// Time at the end over time at the beginning, if a steady drift explains the points better than steps.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) drift: Option<f64>,
    /// Levels of the piecewise constant fit, in order; at least one.
    pub(crate) levels: Vec<Level>,
    /// Steps from each level to the next.
    pub(crate) steps: Vec<Step>,
    /// The change of the newest reports, if they differ from the last level and are too few to confirm a step.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) latest: Option<Step>,
    pub(crate) newest_s: f64,
    /// The shortest time of a level, in seconds.
    pub(crate) best_level_s: f64,
}

/// The time of a cell in one report.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Point {
    /// Index in [`Trend::reports`].
    pub(crate) report: usize,
    pub(crate) median_s: f64,
    /// 95 % interval of that median, in seconds; it does not include the variation between runs.
    pub ci95_s: [f64; 2],
}

/// A report that contains a cell without a time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Absence {
    /// Index in [`Trend::reports`].
    pub(crate) report: usize,
    pub(crate) outcome: Outcome,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) reason: Option<String>,
}

/// A run of points on one level.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Level {
    /// Index of its first point in [`Series::points`].
    pub(crate) first: usize,
    pub(crate) count: usize,
    pub(crate) median_s: f64,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Step {
    /// Index in [`Trend::reports`] of the last report before it.
    pub(crate) last_before: usize,
    /// Index in [`Trend::reports`] of the first report after it.
    pub(crate) first_after: usize,
    pub(crate) direction: Direction,
    /// Time after over time before: above 1 is slower.
    pub(crate) ratio: f64,
    pub(crate) before_s: f64,
    pub(crate) after_s: f64,
    pub(crate) reports_before: usize,
    pub(crate) reports_after: usize,
    /// Facts that affect the cell's times and differ between the two reports, without ignored ones.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) environment: Vec<Difference>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Direction {
    Slower,
    Faster,
}

impl Direction {
    /// Returns the direction of a step with this ratio of the time after to the time before.
    fn of(ratio: f64) -> Direction {
        if ratio > 1.0 { Direction::Slower } else { Direction::Faster }
    }

    /// The word used in tables, charts and JSON.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Direction::Slower => "slower",
            Direction::Faster => "faster",
        }
    }
}

impl Step {
    /// Returns the factor by which times became slower or faster, at least 1.
    pub(crate) fn factor(&self) -> f64 {
        self.ratio.max(1.0 / self.ratio)
    }
}

impl Series {
    pub(crate) fn cell(&self) -> Cell {
        Cell {
            case: self.case.clone(),
            backend: self.backend.clone(),
            variant: self.variant.clone(),
            cache: self.cache,
        }
    }

    /// Returns the newest time over the best level: 1.1 is 10 % slower.
    pub(crate) fn newest_over_best(&self) -> f64 {
        self.newest_s / self.best_level_s
    }

    /// Returns its steps and the unconfirmed change at its end; the flag is true for confirmed ones.
    pub(crate) fn changes(&self) -> impl Iterator<Item = (&Step, bool)> {
        self.steps.iter().map(|step| (step, true)).chain(self.latest.iter().map(|step| (step, false)))
    }

    /// Returns true without a step, a drift or an unconfirmed change.
    pub(crate) fn is_steady(&self) -> bool {
        self.steps.is_empty() && self.drift.is_none() && self.latest.is_none()
    }
}

/// Reads all reports and finds the steps of every series.
///
/// # Errors
/// Fails with one line if a folder is unreadable, there is no report, or no selected row has a time.
pub fn trend(request: &Request) -> Result<Trend> {
    let found = gather::gather(&request.folders)?;
    let mut series = series::series(&found.reports, request);
    let index = CellIndex::of(&found.reports);
    series.par_iter_mut().for_each(|series| index.add_changes(series));
    let shown: Vec<String> = request.folders.iter().map(|path| path.display().to_string()).collect();
    ensure!(
        !series.is_empty(),
        "no row of the {} in {} has a time for the selected ops and variants; omit --ops and --variants to see all",
        descriptions::counted(found.reports.len(), "report"),
        shown.join(", ")
    );
    let reports = found.reports.into_iter().map(|report| report.report_ref).collect();
    Ok(Trend {
        trend_version: TREND_VERSION,
        gpubench_version: env!("CARGO_PKG_VERSION").into(),
        threshold: request.threshold,
        reports,
        left_out: found.left_out,
        series,
    })
}

/// Returns one line that says which cases have no chart because there are too many; `None` if all have one.
pub fn missing_charts_text(trend: &Trend) -> Option<String> {
    chart::missing(trend)
}

/// Returns one line that counts and names the files that are not readable reports; `None` without any.
pub fn ignored_files_text(trend: &Trend) -> Option<String> {
    descriptions::left_out(&trend.left_out)
}

/// Returns true for files other than reports that a trend, a run on several devices or a baseline writes.
fn is_own(path: &Path) -> bool {
    let names =
        [FILE_NAME, gpubench_model::report::file::FLEET_FILE_NAME, gpubench_compare::baseline::FILE_NAME];
    path.file_name().is_some_and(|name| names.iter().any(|own| name == *own))
}

#[cfg(test)]
mod tests;
