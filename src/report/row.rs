//! One row of a report.

use serde::{Deserialize, Serialize};

use crate::backend::{Accuracy, SetupCounts, Side};
use crate::case::{Case, Cell};
use crate::measure::stats::{Summary, quantile};
use crate::op::{Checked, Work};

/// What became of a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    /// The answer was right, and it was timed.
    Measured,
    /// The answer was wrong; it has no time.
    Incorrect,
    /// Something it needs is missing, or it does not fit.
    Skipped,
    /// A call failed, or the worker crashed or ran out of time.
    Failed,
}

impl Outcome {
    /// The word used in reports.
    pub fn name(self) -> &'static str {
        match self {
            Outcome::Measured => "measured",
            Outcome::Incorrect => "incorrect",
            Outcome::Skipped => "skipped",
            Outcome::Failed => "failed",
        }
    }
}

/// The clock of the samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Clock {
    /// CUDA events around the work, on its stream.
    DeviceEvents,
    /// The host's monotonic clock.
    Host,
    /// The clock of the simulated device.
    Simulated,
}

impl Clock {
    /// The clock in words: `device clock`.
    pub fn words(self) -> &'static str {
        match self {
            Clock::DeviceEvents => "device clock",
            Clock::Host => "host clock",
            Clock::Simulated => "simulated clock",
        }
    }
}

/// The timed phase.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Execute {
    /// Clock of `samples_s` and of every figure but the host's.
    pub clock: Clock,
    /// Samples in seconds, in the order they were taken.
    pub samples_s: Vec<f64>,
    /// Median, in seconds.
    pub median_s: f64,
    /// Smallest sample, in seconds.
    pub min_s: f64,
    /// Largest sample, in seconds.
    pub max_s: f64,
    /// Median absolute deviation, in seconds.
    pub mad_s: f64,
    /// 95 % interval of the median, in seconds.
    pub ci95_s: [f64; 2],
    /// The same repetitions by the host's clock, in seconds, launch and synchronisation included.
    pub host_samples_s: Vec<f64>,
    /// Their median, in seconds.
    pub host_median_s: f64,
    /// Executions spent on warming up.
    pub warmups: u32,
    /// Allocations, plans and compilations while samples were taken.
    pub setup_while_sampling: SetupCounts,
}

impl Execute {
    /// The summary of the samples, as statistics code takes it.
    pub fn summary(&self) -> Summary {
        let mut sorted = self.samples_s.clone();
        sorted.sort_by(f64::total_cmp);
        Summary {
            p05: quantile(&sorted, 0.05),
            p25: quantile(&sorted, 0.25),
            p75: quantile(&sorted, 0.75),
            p95: quantile(&sorted, 0.95),
            median: self.median_s,
            min: self.min_s,
            max: self.max_s,
            mad: self.mad_s,
            low: self.ci95_s[0],
            high: self.ci95_s[1],
        }
    }
}

/// Host seconds of the phases around the timed one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Phases {
    /// Making the operands.
    pub inputs_s: f64,
    /// Allocating, planning, compiling and uploading.
    pub prepare_s: f64,
    /// The first execution.
    pub first_s: f64,
    /// Copying the answer to the host.
    pub download_s: f64,
    /// Judging the answer.
    pub check_s: f64,
}

/// One cell and its outcome.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// `op`, `n`, `dtype`, `density` (sparse ops) and `seed`.
    #[serde(flatten)]
    pub case: Case,
    /// Name of the backend.
    pub backend: String,
    /// Name of the variant.
    pub variant: String,
    /// Side of the comparison.
    pub side: Side,
    /// Arithmetic of the variant.
    pub accuracy: Accuracy,
    /// What became of it.
    pub outcome: Outcome,
    /// Why it has no time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The step that would fix it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fix: Option<String>,
    /// The error found and its bound, where the answer was checked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<Checked>,
    /// Work of one execution.
    pub work: Work,
    /// Fingerprint of the operands, in hexadecimal; equal in all rows of a case.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inputs: Option<String>,
    /// Phases around the timed one, where they happened.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub phases: Option<Phases>,
    /// The timed phase, when measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub execute: Option<Execute>,
}

impl Row {
    /// The cell this row is about.
    pub fn cell(&self) -> Cell {
        Cell { case: self.case.clone(), backend: self.backend.clone(), variant: self.variant.clone() }
    }

    /// The median, when measured.
    pub fn median_s(&self) -> Option<f64> {
        self.execute.as_ref().map(|execute| execute.median_s)
    }
}
