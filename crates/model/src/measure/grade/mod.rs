//! How far a measurement can be trusted: a grade from A to D with its reasons, from facts; knows no report.
//!
//! The grade is the worst that any fact allows; each fact that costs a grade is a [`Warning`] with the next step.
//! `t` is the target precision; limits are exceeded, not reached, to cost a grade.
//!
//! | fact | at best B | at best C | D |
//! |---|---|---|---|
//! | half the 95 % interval over the median | `t` | 2 `t`, at least 2 % | 5 % on a GPU, 10 % on a CPU, at least C's |
//! | worker lost for good before the last round | | any | |
//! | samples | under 10 | under 6 (no interval of 95 % exists) | under 3 |
//! | rounds differ (p < 0.01), by so much | 2 `t` | 5 %, at least B's | 15 %, at least C's |
//! | samples counted at a low clock | 1 % | 10 % | 50 % |
//! | clocks that the driver held down | any reason | | |
//! | samples set aside for a low clock | 10 % | 50 % | |
//! | time over the device's own floor | under 3 | under 1.2 | |
//! | samples in two clumps | yes | more than 10 % apart | |
//! | samples with involuntary context switches, CPU | 10 % | 50 % | |
//! | page faults at half a microsecond each, over the time, CPU | 1 % | 10 %, or one that reads a disk | |
//! | other processes on the GPU | | any | |
//! | runnable processes per processor when the run started, CPU | 0.1 | 0.5 | |
//! | warm-up without a steady state | yes | | |
//! | allocations, plans or compilations while sampling | | | any |

use std::fmt;

use serde::{Deserialize, Serialize};

use super::drift::Drift;
use super::modality::Modes;
use super::stopping::Reason;
use crate::PageFaults;

mod checks;

/// How far a measurement can be trusted; A is best and smallest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Grade {
    /// Precise, and nothing was wrong.
    A,
    /// Good enough to compare, with a reservation.
    B,
    /// An estimate.
    C,
    /// Not to be relied on.
    D,
}

impl fmt::Display for Grade {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(["A", "B", "C", "D"][*self as usize])
    }
}

/// What is known of one cell's sampling.
#[derive(Clone, Debug)]
pub struct Facts<'a> {
    /// The cell ran on the GPU.
    pub side_is_gpu: bool,
    /// Relative half width of the interval that was asked for.
    pub precision: f64,
    /// The samples that count, in the order they were taken.
    pub samples: &'a [f64],
    /// Whether their rounds differ.
    pub drift: Option<Drift>,
    /// The two clumps that they fall into.
    pub modes: Option<Modes>,
    /// Samples not counted because the clock was low.
    pub discarded: u32,
    /// Samples counted although the clock was low.
    pub throttled: u32,
    /// Raw time over the device's own floor, where the floor is known.
    pub floor_ratio: Option<f64>,
    /// Samples during which the thread was switched out against its will; CPU only.
    pub disturbed: u32,
    /// Page faults of an execution, in the median; CPU only.
    pub page_faults: Option<PageFaults>,
    /// Other processes seen on the GPU.
    pub others: &'a [String],
    /// Why the driver held the GPU's clocks down before or after a round, such as `power limit`.
    pub held_down: &'a [String],
    /// Runnable processes per processor when the run started, on average over a minute; CPU only.
    pub load: Option<f64>,
    /// Something was allocated, planned or compiled while sampling.
    pub setup: bool,
    /// Warm-up reached a steady state.
    pub steady: bool,
    /// Why sampling ended.
    pub stopped: Reason,
    /// Why there will be no more samples, where the worker was lost for good.
    pub lost_to: Option<&'a str>,
}

/// What a warning is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WarningKind {
    /// The interval is wider than asked for.
    Spread,
    /// The rounds differ.
    Drift,
    /// The clock was low.
    Throttled,
    /// The worker was lost for good before the last round.
    EndedEarly,
    /// Too few samples.
    FewSamples,
    /// The time is close to the device's own floor.
    LaunchBound,
    /// The samples come in two clumps.
    Bimodal,
    /// The thread was switched out against its will.
    Disturbed,
    /// Memory was touched for the first time within the timed work.
    PageFaults,
    /// Another process was on the GPU.
    OtherProcess,
    /// Other processes were runnable.
    BusyMachine,
    /// Something was set up while sampling.
    Setup,
    /// Warm-up ended before the times were steady.
    NotWarm,
}

/// One reason for a grade below A.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Warning {
    /// What it is about.
    pub kind: WarningKind,
    /// The best grade it leaves.
    pub at_best: Grade,
    /// What was found, with the figure.
    pub text: String,
    /// What to do about it.
    pub next: String,
}

/// A grade and its reasons.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Assessment {
    /// The worst grade that any warning leaves; A without warnings.
    pub grade: Grade,
    /// The reasons, gravest first.
    pub warnings: Vec<Warning>,
}

/// Grades a cell.
pub fn assess(facts: &Facts) -> Assessment {
    let mut warnings: Vec<Warning> = checks::ALL.iter().filter_map(|check| check(facts)).collect();
    warnings.sort_by_key(|warning| std::cmp::Reverse(warning.at_best));
    Assessment { grade: warnings.first().map_or(Grade::A, |warning| warning.at_best), warnings }
}

#[cfg(test)]
mod tests;
