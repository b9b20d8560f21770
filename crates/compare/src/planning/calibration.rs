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
    pub variation_between_runs: f64,
    /// Relative standard deviation of the cell's own runs alone.
    pub(crate) own_variation: f64,
    /// True if several runs have a time, so that the variation was measured; otherwise it was assumed.
    pub(crate) is_measured: bool,
    /// Degrees of freedom of `variation_between_runs`.
    pub(crate) df: f64,
    /// Relative difference between the slowest and the fastest run: 0.05 is 5 %.
    pub pass_range: f64,
    /// Relative threshold of this cell.
    pub threshold: f64,
}

impl Calibrated {
    /// Returns true if the runs differ by more than the threshold.
    pub fn disagrees(&self) -> bool {
        self.pass_range > self.threshold
    }
}

/// Calibrates every cell that has a time and that the policy does not ignore, in the order of the runs.
pub fn calibrate(runs: &Runs, policy: &Policy) -> Vec<Calibrated> {
    let pairs = pairs(runs, &Runs::default(), &Runs::default());
    let limits: Vec<Limits> = pairs.iter().map(|pair| policy.limits(&pair.cell)).collect();
    let variances = run_variances(&pairs, &limits, &runs.baseline_variation);
    let calibrated = |((pair, limits), run_variance): ((&Pair, &Limits), &Option<RunVariance>)| {
        let (evidence, run_variance) = (pair.old.times.as_ref()?, (*run_variance)?);
        Some(Calibrated {
            cell: pair.cell.clone(),
            variation_between_runs: run_variance.variance.sqrt(),
            own_variation: run_variance.own.map_or(run_variance.variance, |(variance, _)| variance).sqrt(),
            is_measured: run_variance.own.is_some(),
            df: run_variance.df,
            pass_range: pass_range(evidence),
            threshold: threshold(pair, limits),
        })
        .filter(|_| !limits.ignored)
    };
    pairs.iter().zip(&limits).zip(&variances).filter_map(calibrated).collect()
}

/// Returns the cells whose times cannot be compared between the runs, each with the reason.
pub fn incomparable_cells(runs: &Runs) -> Vec<(Cell, String)> {
    let pairs = pairs(runs, &Runs::default(), &Runs::default());
    let of_cell = |pair: Pair| {
        let evidence = pair.old.times.as_ref()?;
        let (reason, _) = incomparable(evidence, evidence)?;
        Some((pair.cell, reason))
    };
    pairs.into_iter().filter_map(of_cell).collect()
}

/// Returns the cells that are incorrect or failed in any run, or have a time in only some runs, each with the reason.
pub fn unusable(runs: &Runs) -> Vec<(Cell, String)> {
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

fn pass_range(evidence: &CellTimes) -> f64 {
    let least = evidence.runs.iter().copied().fold(f64::INFINITY, f64::min);
    let most = evidence.runs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    (most - least).exp_m1()
}
