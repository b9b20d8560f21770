//! Measures the variation of each cell in several unchanged runs of one sweep.

use gpubench_model::case::Cell;
use gpubench_model::report::Outcome;

use crate::pairs::comparability::incomparable;
use crate::pairs::evidence::CellTimes;
use crate::pairs::pairing::{Pair, pairs};
use crate::variance::run_variance::{RunVariance, run_variances, threshold};
use crate::{Limits, Policy, Runs};

/// The variation of one cell.
#[derive(Clone, Debug, PartialEq)]
pub struct Calibrated {
    /// The cell.
    pub cell: Cell,
    /// Relative standard deviation between runs, moderated by that of the sweep's other cells.
    pub run_spread: f64,
    /// Relative standard deviation of the cell's own runs alone.
    pub(crate) own_spread: f64,
    /// True if several runs have a time, so that the variation was measured; otherwise it was assumed.
    pub(crate) is_measured: bool,
    /// Degrees of freedom of `run_spread`.
    pub(crate) df: f64,
    /// Relative difference between the slowest and the fastest run: 0.05 is 5 %.
    pub apart: f64,
    /// Relative threshold of this cell.
    pub threshold: f64,
}

impl Calibrated {
    /// Returns true if the runs differ by more than the threshold.
    pub fn disagrees(&self) -> bool {
        self.apart > self.threshold
    }
}

/// Calibrates every cell that has a time and that the policy does not ignore, in the order of the runs.
pub fn calibrate(runs: &Runs, policy: &Policy) -> Vec<Calibrated> {
    let pairs = pairs(runs, &Runs::default(), &Runs::default());
    let limits: Vec<Limits> = pairs.iter().map(|pair| policy.limits(&pair.cell)).collect();
    let spreads = run_variances(&pairs, &limits, &runs.baseline_variation);
    let calibrated = |((pair, limits), spread): ((&Pair, &Limits), &Option<RunVariance>)| {
        let (evidence, spread) = (pair.old.times.as_ref()?, (*spread)?);
        Some(Calibrated {
            cell: pair.cell.clone(),
            run_spread: spread.variance.sqrt(),
            own_spread: spread.own.map_or(spread.variance, |(variance, _)| variance).sqrt(),
            is_measured: spread.own.is_some(),
            df: spread.df,
            apart: apart(evidence),
            threshold: threshold(pair, limits),
        })
        .filter(|_| !limits.ignored)
    };
    pairs.iter().zip(&limits).zip(&spreads).filter_map(calibrated).collect()
}

/// Returns the cells whose times cannot be compared between the runs, each with the reason.
pub fn mixed(runs: &Runs) -> Vec<(Cell, String)> {
    let pairs = pairs(runs, &Runs::default(), &Runs::default());
    let of_cell = |pair: Pair| {
        let evidence = pair.old.times.as_ref()?;
        let (reason, _) = incomparable(evidence, evidence)?;
        Some((pair.cell, reason))
    };
    pairs.into_iter().filter_map(of_cell).collect()
}

/// Returns the cells that are incorrect or failed in any run, or have a time in only some runs, each with the reason.
pub fn unsound(runs: &Runs) -> Vec<(Cell, String)> {
    let pairs = pairs(runs, &Runs::default(), &Runs::default());
    let of_cell = |pair: Pair| {
        let evidence = pair.old;
        let word = |outcome: Outcome, reason: String| format!("{} in a pass: {reason}", outcome.name());
        let skipped = evidence.skipped.filter(|_| evidence.times.is_some()).map(|(reason, _)| reason);
        let reasons = [
            (Outcome::Incorrect, evidence.incorrect),
            (Outcome::Failed, evidence.failed),
            (Outcome::Skipped, skipped),
        ];
        let reason = reasons.into_iter().find_map(|(outcome, reason)| Some(word(outcome, reason?)))?;
        Some((pair.cell, reason))
    };
    pairs.into_iter().filter_map(of_cell).collect()
}

fn apart(evidence: &CellTimes) -> f64 {
    let least = evidence.runs.iter().copied().fold(f64::INFINITY, f64::min);
    let most = evidence.runs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    (most - least).exp_m1()
}
