//! Computes the number of runs per side needed to detect a change, from the variation between runs of the sweep.

use gpubench_model::case::Cell;

use super::calibration::{Calibrated, calibrate};
use crate::statistics::shift::{OWN_SHARE, detectable, significant, standard_error};
use crate::{Policy, Runs};

/// Smallest number of runs per side that measures the variation; a plan cannot rely on an assumed one.
const MIN_RUNS: usize = 2;

/// Largest number of runs per side that a plan considers.
pub const MAX_RUNS: usize = 50;

/// Probability of detecting the change.
pub const POWER: f64 = 0.95;

/// Degrees of freedom that the sweep's other cells add to a cell's variance, a cautious value.
const LENT_DF: f64 = 4.0;

/// The number of runs per side needed for each cell.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// The slowdown to detect, relative.
    pub see: f64,
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
    pub run_spread: f64,
    /// Runs per side; `None` if [`MAX_RUNS`] are too few.
    pub runs: Option<usize>,
}

/// Plans the detection of each of these slowdowns in any cell of the runs.
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

/// Returns the number of runs per side that detects a slowdown of `see` in one of `tested` cells with probability
/// [`POWER`], at a threshold of half of it and with a standard deviation of `run_spread` between runs; `None` if
/// [`MAX_RUNS`] are too few.
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
    /// Returns the largest number of runs that any cell needs; `None` if one needs more than [`MAX_RUNS`].
    pub fn runs(&self) -> Option<usize> {
        self.cells.iter().map(|cell| cell.runs).try_fold(0, |most, runs| Some(most.max(runs?)))
    }
}
