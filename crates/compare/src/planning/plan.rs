//! How many runs per side it takes to see a change, from the spread that runs of the sweep have shown.

use gpubench_model::case::Cell;

use super::calibration::{Calibrated, calibrate};
use crate::statistics::shift::{OWN_SHARE, detectable, significant, standard_error};
use crate::{Policy, Runs};

/// Runs per side below which the spread is not measured but assumed, so that a plan cannot count on it.
const MIN_RUNS: usize = 2;

/// Runs per side beyond which a plan is no help.
pub const MAX_RUNS: usize = 50;

/// Chance with which the change is to be seen.
pub const POWER: f64 = 0.95;

/// Degrees of freedom that a sweep's other cells lend a cell's spread, cautiously.
const LENT_DF: f64 = 4.0;

/// Runs per side by cell.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// The slowdown to be seen, relative.
    pub see: f64,
    /// The threshold to compare with: half of it, so that its interval can lie beyond.
    pub threshold: f64,
    /// Cells, in the order of the runs.
    pub cells: Vec<Planned>,
    /// Whether runs measured the spread; otherwise it was assumed.
    pub measured: bool,
}

/// One cell of a plan.
#[derive(Clone, Debug, PartialEq)]
pub struct Planned {
    /// The cell.
    pub cell: Cell,
    /// Standard deviation from run to run, relative.
    pub run_spread: f64,
    /// Runs per side; `None` when [`MAX_RUNS`] are too few.
    pub runs: Option<usize>,
}

/// The plans for seeing each of these slowdowns in any cell of `runs`' sweep.
pub fn plans(runs: &Runs, slowdowns: &[f64], policy: &Policy) -> Vec<Plan> {
    let cells = calibrate(runs, policy);
    let measured = cells.iter().any(|cell| cell.is_measured) || !runs.baseline_variation.is_empty();
    slowdowns.iter().map(|see| plan(&cells, *see, measured, policy)).collect()
}

fn plan(cells: &[Calibrated], see: f64, measured: bool, policy: &Policy) -> Plan {
    let planned = |cell: &Calibrated| Planned {
        runs: runs_to_see(see, cell.run_spread, policy.alpha, cells.len()),
        cell: cell.cell.clone(),
        run_spread: cell.run_spread,
    };
    Plan { see, threshold: see / 2.0, cells: cells.iter().map(planned).collect(), measured }
}

/// The runs per side with which a slowdown of `see` in one of `tested` cells is called with a chance of [`POWER`] at a
/// threshold of half of it, where its runs differ by `run_spread`; `None` when [`MAX_RUNS`] are too few.
pub(crate) fn runs_to_see(see: f64, run_spread: f64, alpha: f64, tested: usize) -> Option<usize> {
    let of_cell = alpha / tested.max(1) as f64;
    let seen = |runs: &usize| {
        let own_df = 2.0 * (*runs as f64 - 1.0);
        let error = standard_error(run_spread.powi(2), *runs, *runs);
        let called = detectable(error, own_df + LENT_DF, see / 2.0, of_cell, POWER);
        called.max(significant(error, own_df, OWN_SHARE * alpha, POWER)) <= see
    };
    (MIN_RUNS..=MAX_RUNS).find(seen)
}

impl Plan {
    /// The most runs that any cell needs; `None` when one needs more than [`MAX_RUNS`].
    pub fn runs(&self) -> Option<usize> {
        self.cells.iter().map(|cell| cell.runs).try_fold(0, |most, runs| Some(most.max(runs?)))
    }
}
