//! Groups cells by backend and op, and computes the geometric mean of each group in each run.

use gpubench_text::grouped::distinct;

use crate::pairs::evidence::CellTimes;
use crate::pairs::pace::{ASSUMED_DF, Pace};
use crate::pairs::pairing::Pair;
use crate::variance::run_variance::RunVariance;
use crate::{Limits, Runs};

/// Smallest number of cells for which a mean is tested.
const MIN_CELLS: usize = 3;

/// Default threshold for means, relative.
pub(crate) const MEAN_THRESHOLD: f64 = 0.02;

/// The cells of the sweep, of a backend, or of an op on a backend.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Group {
    /// The op; `None` for all.
    pub op: Option<String>,
    /// The backend; `None` for all.
    pub backend: Option<String>,
    /// Indices of its cells among the pairs.
    pub members: Vec<usize>,
}

/// The mean of the logarithms of a group's times, one value per run.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Series {
    pub old: Vec<f64>,
    pub new: Vec<f64>,
    /// One value per run of the history; empty if any of these runs lacks a cell.
    pub history: Vec<f64>,
}

/// Returns the groups of at least three cells: the whole sweep, each backend, and each op of each backend. Groups with
/// the same cells appear once. `members` are the indices of the cells that may be in a mean.
pub(crate) fn groups(pairs: &[Pair], members: &[usize]) -> Vec<Group> {
    let mut found: Vec<Group> = vec![];
    let mut add = |op: Option<&str>, backend: Option<&str>| {
        let is_member = |place: &&usize| {
            let cell = &pairs[**place].cell;
            op.is_none_or(|op| cell.case.op == op) && backend.is_none_or(|backend| cell.backend == backend)
        };
        let members: Vec<usize> = members.iter().filter(is_member).copied().collect();
        if members.len() >= MIN_CELLS && !found.iter().any(|group| group.members == members) {
            found.push(Group { op: op.map(str::to_owned), backend: backend.map(str::to_owned), members });
        }
    };
    add(None, None);
    let cells = members.iter().map(|place| &pairs[*place].cell);
    let kinds = distinct(cells.map(|cell| (cell.backend.as_str(), cell.case.op.as_str())));
    distinct(kinds.iter().map(|(backend, _)| backend))
        .into_iter()
        .for_each(|backend| add(None, Some(backend)));
    kinds.iter().for_each(|(backend, op)| add(Some(op), Some(backend)));
    found
}

/// Returns the cells with a time in every run of both sides, so that the means of all runs cover the same cells.
pub(crate) fn complete(pairs: &[Pair], old: &Runs, new: &Runs) -> Vec<usize> {
    let is_complete = |pair: &Pair| {
        pair.both()
            .is_some_and(|(was, is)| was.runs.len() == old.runs.len() && is.runs.len() == new.runs.len())
    };
    (0..pairs.len()).filter(|place| is_complete(&pairs[*place])).collect()
}

impl Group {
    /// Computes its mean in each run.
    pub(crate) fn series(&self, pairs: &[Pair], history: &Runs) -> Series {
        let of = |pick: fn(&Pair) -> Option<&CellTimes>| -> Vec<&[f64]> {
            let evidence = self.members.iter().filter_map(|place| pick(&pairs[*place]));
            evidence.map(|evidence| evidence.runs.as_slice()).collect()
        };
        let past = of(|pair| pair.history.times.as_ref());
        let is_whole =
            past.len() == self.members.len() && past.iter().all(|runs| runs.len() == history.runs.len());
        Series {
            old: mean_by_run(&of(|pair| pair.old.times.as_ref())),
            new: mean_by_run(&of(|pair| pair.new.times.as_ref())),
            history: if is_whole { mean_by_run(&past) } else { vec![] },
        }
    }

    /// Returns the mean change of the multiprocessor clock over its cells, as a logarithm. Cells without a recorded clock
    /// count as unchanged.
    pub(crate) fn clock_change(&self, pairs: &[Pair]) -> f64 {
        let mean = |clocks: &[f64]| clocks.iter().sum::<f64>() / clocks.len() as f64;
        let of_cell = |place: &usize| match pairs[*place].both() {
            Some((old, new)) if !old.clocks.is_empty() && !new.clocks.is_empty() => {
                mean(&new.clocks) - mean(&old.clocks)
            }
            _ => 0.0,
        };
        self.members.iter().map(of_cell).sum::<f64>() / self.members.len() as f64
    }

    /// Returns its relative threshold: the mean of the thresholds of its cells.
    pub(crate) fn threshold(&self, limits: &[Limits]) -> f64 {
        let of_cell = |place: &usize| limits[*place].mean_threshold.unwrap_or(MEAN_THRESHOLD);
        self.members.iter().map(of_cell).sum::<f64>() / self.members.len() as f64
    }

    /// Returns the lower bound for the variance of its mean in a run: that of independent cells with the minimum variance of
    /// each.
    pub(crate) fn min_variance(&self, pairs: &[Pair]) -> f64 {
        let of_cell = |place: &usize| Pace::of(&pairs[*place]).min_variation().powi(2);
        self.members.iter().map(of_cell).sum::<f64>() / (self.members.len() as f64).powi(2)
    }

    /// Returns the variance of its mean that is assumed if each side has one run, with its degrees of freedom. A single run
    /// cannot show the effects that all its cells share, so a cautious estimate of these is added to the cells' variance.
    pub(crate) fn assumed_variance(
        &self,
        pairs: &[Pair],
        limits: &[Limits],
        variances: &[Option<RunVariance>],
    ) -> (f64, f64) {
        let count = self.members.len() as f64;
        let common = |place: &usize| {
            limits[*place].variation_between_runs.unwrap_or(Pace::of(&pairs[*place]).cautious_variation())
        };
        let common = self.members.iter().map(common).sum::<f64>() / count;
        let own = |place: &usize| variances[*place].map_or(0.0, |own| own.variance);
        let own = self.members.iter().map(own).sum::<f64>() / count.powi(2);
        (common.powi(2) + own, ASSUMED_DF)
    }
}

/// Returns the mean over the cells for each run; all cells have the same runs.
fn mean_by_run(cells: &[&[f64]]) -> Vec<f64> {
    let runs = cells.first().map_or(0, |runs| runs.len());
    (0..runs).map(|run| cells.iter().map(|cell| cell[run]).sum::<f64>() / cells.len() as f64).collect()
}
