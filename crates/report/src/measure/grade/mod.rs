//! Grades how far a measurement can be trusted, from A to D, with the reasons.
//!
//! The grade is the worst that any fact allows. Each fact that costs a grade becomes a [`Warning`] with the next step.
//! The table in `docs/measurement.md` has the limits; one costs a grade when it is exceeded, not when it is reached.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::drift::Drift;
use super::modality::Modes;
use super::stopping::Reason;
use crate::PageFaults;
use crate::report::QuotaPauses;

mod checks;

pub use checks::{WHOLE_CPUS, quota_text};

/// Trustworthiness of a measurement; A is best and smallest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Grade {
    /// Precise and undisturbed: without a warning.
    A,
    /// Comparable, with a warning.
    B,
    /// An estimate.
    C,
    /// Not reliable.
    D,
}

impl fmt::Display for Grade {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(["A", "B", "C", "D"][*self as usize])
    }
}

/// Facts about the sampling of one cell, from which its grade follows.
#[derive(Clone, Debug)]
pub struct SamplingFacts<'a> {
    /// The cell ran on the GPU.
    pub side_is_gpu: bool,
    /// Requested relative half width of the interval.
    pub precision: f64,
    /// The samples kept, in the order they were taken.
    pub samples: &'a [f64],
    /// Difference between the rounds, if they can be compared.
    pub drift: Option<Drift>,
    /// The two clusters of the samples, if there are two.
    pub modes: Option<Modes>,
    /// Samples discarded because the clock was low.
    pub discarded: u32,
    /// Samples kept although the clock was low.
    pub throttled: u32,
    /// Raw time over the timer overhead, where that is known.
    pub overhead_ratio: Option<f64>,
    /// Samples with an involuntary context switch; CPU only.
    pub disturbed: u32,
    /// Median page faults of an execution; CPU only.
    pub page_faults: Option<PageFaults>,
    /// Other processes seen on the GPU.
    pub others: &'a [String],
    /// The driver's reasons for throttling the GPU's clocks before or after a round, such as `power limit`.
    pub throttle_reasons: &'a [String],
    /// Share of the CPUs' time that other programs used while the run started, from 0 to 1; CPU only.
    pub other_programs: Option<f64>,
    /// The control group's CPU quota, in CPUs, and its pauses so far; CPU only.
    pub quota: Option<(f64, QuotaPauses)>,
    /// Memory was allocated, or plans or kernels were created, during sampling.
    pub setup: bool,
    /// Warm-up reached a steady state.
    pub steady: bool,
    /// The reason that sampling ended.
    pub stopped: Reason,
    /// The reason that the worker was lost for good; `None` where it was not.
    pub lost_because: Option<&'a str>,
}

/// Kind of a warning.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WarningKind {
    /// The interval is wider than requested.
    Spread,
    /// The rounds differ.
    Drift,
    /// The clock was low.
    Throttled,
    /// The worker was lost for good before the last round.
    EndedEarly,
    /// Too few samples.
    FewSamples,
    /// The time is close to the timer overhead.
    LaunchBound,
    /// The samples form two clusters.
    Bimodal,
    /// The system interrupted the thread.
    Disturbed,
    /// Memory was touched for the first time within the timed work.
    PageFaults,
    /// Another process was on the GPU.
    OtherProcess,
    /// Other programs were using the CPU.
    BusyMachine,
    /// The control group's CPU quota paused the run.
    CpuQuota,
    /// Something was set up during sampling.
    Setup,
    /// Warm-up ended before the times settled.
    NotWarm,
}

/// One reason for a grade below A.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Warning {
    /// Kind of the warning.
    pub kind: WarningKind,
    /// The best grade it leaves.
    pub at_best: Grade,
    /// The finding, with its figure.
    pub text: String,
    /// The next step for the user.
    pub next: String,
}

/// A grade and its reasons.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Assessment {
    /// The worst grade that any warning leaves; A without warnings.
    pub grade: Grade,
    /// The reasons, most serious first.
    pub warnings: Vec<Warning>,
}

/// Grades a cell.
pub fn assess(facts: &SamplingFacts) -> Assessment {
    let mut warnings: Vec<Warning> = checks::ALL.iter().filter_map(|check| check(facts)).collect();
    warnings.sort_by_key(|warning| std::cmp::Reverse(warning.at_best));
    Assessment { grade: warnings.first().map_or(Grade::A, |warning| warning.at_best), warnings }
}

#[cfg(test)]
mod tests;
