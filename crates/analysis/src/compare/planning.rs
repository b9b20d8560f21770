//! Analyses unchanged runs: the variation of each cell, and the number of runs needed to detect a change.

use gpubench_report::case::Cell;
use gpubench_report::report::Outcome;

use crate::compare::pairs::{CellPair, incomparable, pairs};
use crate::compare::statistics::shift::{OWN_SHARE, Shift, standard_error};
use crate::compare::variance::{RunVariance, run_variances, threshold};
use crate::compare::{Limits, Policy, Runs};

/// The variation of one cell.
#[derive(Clone, Debug, PartialEq)]
pub struct Calibrated {
    /// The cell.
    pub cell: Cell,
    /// Relative standard deviation between runs, moderated by that of the sweep's other cells.
    pub variation_between_runs: f64,
    /// True if several runs have a time, so that the variation was measured; otherwise it was assumed.
    pub(crate) is_measured: bool,
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
    let pairs = cells_of(runs);
    let limits: Vec<Limits> = pairs.iter().map(|pair| policy.limits(&pair.cell)).collect();
    let variances = run_variances(&pairs, &limits, &runs.baseline_variation);
    let calibrated = |((pair, limits), run_variance): ((&CellPair, &Limits), &Option<RunVariance>)| {
        let (times, run_variance) = (pair.old.times.as_ref()?, (*run_variance)?);
        let [least, most] = [f64::min, f64::max].map(|end| times.runs.iter().copied().reduce(end));
        Some(Calibrated {
            cell: pair.cell.clone(),
            variation_between_runs: run_variance.variance.sqrt(),
            is_measured: run_variance.own.is_some(),
            pass_range: (most? - least?).exp_m1(),
            threshold: threshold(pair, limits),
        })
        .filter(|_| !limits.is_ignored())
    };
    pairs.iter().zip(&limits).zip(&variances).filter_map(calibrated).collect()
}

fn cells_of(runs: &Runs) -> Vec<CellPair> {
    pairs(runs, &Runs::default(), &Runs::default())
}

/// Returns the cells whose times cannot be compared between the runs, each with the reason.
pub fn incomparable_cells(runs: &Runs) -> Vec<(Cell, String)> {
    let of_cell = |pair: CellPair| {
        let times = pair.old.times.as_ref()?;
        let (reason, _) = incomparable(times, times)?;
        Some((pair.cell, reason))
    };
    cells_of(runs).into_iter().filter_map(of_cell).collect()
}

/// Returns the cells that are incorrect or failed in any run, or have a time in only some runs, each with the reason.
pub fn unusable(runs: &Runs) -> Vec<(Cell, String)> {
    let of_cell = |pair: CellPair| {
        let evidence = pair.old;
        let skipped = evidence.skipped.filter(|_| evidence.times.is_some()).map(|(reason, _)| reason);
        let reasons = [
            (Outcome::Incorrect, evidence.incorrect),
            (Outcome::Failed, evidence.failed),
            (Outcome::Skipped, skipped),
        ];
        let (outcome, reason) = reasons.into_iter().find_map(|(outcome, reason)| Some((outcome, reason?)))?;
        Some((pair.cell, format!("{} in a pass: {reason}", outcome.name())))
    };
    cells_of(runs).into_iter().filter_map(of_cell).collect()
}

/// Smallest number of runs per side that measures the variation; a plan cannot rely on an assumed one.
const MIN_RUNS: usize = 2;

/// Largest number of runs per side that a plan considers, and of passes of a baseline or runs compared with them.
pub const MAX_RUNS: usize = 50;

/// Probability of detecting the change.
pub const POWER: f64 = 0.95;

/// Degrees of freedom that the sweep's other cells add to a cell's variance, a cautious value.
const OTHER_CELLS_DF: f64 = 4.0;

/// The number of runs per side needed for each cell.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// The slowdown to detect, relative.
    pub slowdown: f64,
    /// The threshold to compare with: half the slowdown, so that its interval can lie beyond the threshold.
    pub threshold: f64,
    /// Cells, in the order of the runs.
    pub cells: Vec<Planned>,
    /// True if runs measured the variation; otherwise it was assumed.
    pub measured: bool,
}

/// One cell of a plan.
#[derive(Clone, Debug, PartialEq)]
pub struct Planned {
    /// The cell.
    pub cell: Cell,
    /// Relative standard deviation between runs.
    pub variation_between_runs: f64,
    /// Runs per side; `None` if [`MAX_RUNS`] are too few.
    pub runs: Option<usize>,
}

/// Plans the detection of each of these slowdowns in any cell of the runs.
pub fn plans(runs: &Runs, slowdowns: &[f64], policy: &Policy) -> Vec<Plan> {
    let cells = calibrate(runs, policy);
    let measured = cells.iter().any(|cell| cell.is_measured) || !runs.baseline_variation.is_empty();
    let plan = |slowdown: &f64| {
        let planned = |cell: &Calibrated| Planned {
            runs: runs_to_detect(*slowdown, cell.variation_between_runs, policy.alpha, cells.len()),
            cell: cell.cell.clone(),
            variation_between_runs: cell.variation_between_runs,
        };
        Plan {
            slowdown: *slowdown,
            threshold: slowdown / 2.0,
            cells: cells.iter().map(planned).collect(),
            measured,
        }
    };
    slowdowns.iter().map(plan).collect()
}

/// Returns the runs per side that detect `slowdown` in one of `tested` cells, at half of it as threshold, with [`POWER`].
pub(crate) fn runs_to_detect(slowdown: f64, variation: f64, alpha: f64, tested: usize) -> Option<usize> {
    let of_cell = alpha / tested.max(1) as f64;
    let detects = |runs: &usize| {
        let own_df = 2.0 * (*runs as f64 - 1.0);
        let error = standard_error(variation.powi(2), *runs, *runs);
        let shift = |df| Shift { log: 0.0, error, df };
        shift(own_df + OTHER_CELLS_DF).smallest_detectable(slowdown / 2.0, of_cell, POWER) <= slowdown
            && shift(own_df).smallest_significant(OWN_SHARE * alpha, POWER) <= slowdown
    };
    (MIN_RUNS..=MAX_RUNS).find(detects)
}

/// Returns the largest number of runs that any of the cells needs; `None` if one needs more than [`MAX_RUNS`].
pub fn most_runs<'a>(cells: impl IntoIterator<Item = &'a Planned>) -> Option<usize> {
    cells.into_iter().map(|cell| cell.runs).try_fold(0, |most, runs| Some(most.max(runs?)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_of_the_documentation_has_the_numbers_that_a_plan_has() {
        let page = include_str!("../../../../docs/ci.md");
        let rows = page.lines().skip_while(|line| !line.contains("to detect 3 %")).skip(2);
        let rows: Vec<&str> = rows.take_while(|line| line.starts_with('|')).collect();
        let runs = |variation: f64, slowdown: f64| {
            runs_to_detect(slowdown, variation, 0.01, 60)
                .map_or_else(|| format!("over {MAX_RUNS}"), |runs| runs.to_string())
        };
        let row = |variation: f64| {
            let [three, five, ten] = [0.03, 0.05, 0.10].map(|slowdown| runs(variation, slowdown));
            format!("| {} % | {three} | {five} | {ten} |", (1000.0 * variation).round() / 10.0)
        };
        assert_eq!(rows, [0.002, 0.003, 0.005, 0.01, 0.02, 0.03, 0.05].map(row));
    }
}
