//! Computes the number of runs per side needed to detect a change, from the variation between runs of the sweep.

use gpubench_model::case::Cell;

use super::calibration::{Calibrated, calibrate};
use crate::statistics::shift::{OWN_SHARE, smallest_detectable, smallest_significant, standard_error};
use crate::{Policy, Runs};

/// Smallest number of runs per side that measures the variation; a plan cannot rely on an assumed one.
const MIN_RUNS: usize = 2;

/// Largest number of runs per side that a plan considers.
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
    slowdowns.iter().map(|slowdown| plan(&cells, *slowdown, measured, policy)).collect()
}

fn plan(cells: &[Calibrated], slowdown: f64, measured: bool, policy: &Policy) -> Plan {
    let planned = |cell: &Calibrated| Planned {
        runs: runs_to_detect(slowdown, cell.variation_between_runs, policy.alpha, cells.len()),
        cell: cell.cell.clone(),
        variation_between_runs: cell.variation_between_runs,
    };
    Plan { slowdown, threshold: slowdown / 2.0, cells: cells.iter().map(planned).collect(), measured }
}

/// Returns the number of runs per side that detects `slowdown` in one of `tested` cells with probability [`POWER`], at a
/// threshold of half of it; `variation` is the standard deviation between runs. `None` if [`MAX_RUNS`] are too few.
pub(crate) fn runs_to_detect(slowdown: f64, variation: f64, alpha: f64, tested: usize) -> Option<usize> {
    let of_cell = alpha / tested.max(1) as f64;
    let detects = |runs: &usize| {
        let own_df = 2.0 * (*runs as f64 - 1.0);
        let error = standard_error(variation.powi(2), *runs, *runs);
        let detectable = smallest_detectable(error, own_df + OTHER_CELLS_DF, slowdown / 2.0, of_cell, POWER);
        detectable.max(smallest_significant(error, own_df, OWN_SHARE * alpha, POWER)) <= slowdown
    };
    (MIN_RUNS..=MAX_RUNS).find(detects)
}

impl Plan {
    /// Returns the largest number of runs that any cell needs; `None` if one needs more than [`MAX_RUNS`].
    pub fn runs(&self) -> Option<usize> {
        self.cells.iter().map(|cell| cell.runs).try_fold(0, |most, runs| Some(most.max(runs?)))
    }
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
