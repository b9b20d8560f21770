//! Groups cells by backend and op, and computes the geometric mean of each group in each run.

use gpubench_text::grouped::distinct;

use crate::compare::Limits;
use crate::compare::pairs::CellPair;
use crate::compare::pairs::evidence::CellEvidence;
use crate::compare::pairs::pace::{ASSUMED_DF, Pace};
use crate::compare::statistics::mean;
use crate::compare::variance::JoinedSides;

const MIN_CELLS: usize = 3;

const MEAN_THRESHOLD: f64 = 0.02;

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct MeanGroup {
    pub op: Option<String>,
    pub backend: Option<String>,
    /// Indices of its cells among the pairs.
    pub members: Vec<usize>,
}

/// Returns the groups of at least three cells: the whole sweep, each backend, and each op of each backend. Groups with
/// the same cells appear once. `members` are the indices of the cells that may be in a mean.
pub(crate) fn groups(pairs: &[CellPair], members: &[usize]) -> Vec<MeanGroup> {
    let cells = members.iter().map(|index| &pairs[*index].cell);
    let kinds = distinct(cells.map(|cell| (cell.backend.as_str(), cell.case.op.as_str())));
    let backends = distinct(kinds.iter().map(|(backend, _)| *backend));
    let sweep = std::iter::once((None, None));
    let of_backends = backends.into_iter().map(|backend| (Some(backend), None));
    let of_ops = kinds.iter().map(|(backend, op)| (Some(*backend), Some(*op)));
    let mut groups: Vec<MeanGroup> = vec![];
    for (backend, op) in sweep.chain(of_backends).chain(of_ops) {
        let is_member = |index: &usize| {
            let cell = &pairs[*index].cell;
            op.is_none_or(|op| cell.case.op == op) && backend.is_none_or(|backend| cell.backend == backend)
        };
        let members: Vec<usize> = members.iter().copied().filter(is_member).collect();
        if members.len() >= MIN_CELLS && !groups.iter().any(|group| group.members == members) {
            let [op, backend] = [op, backend].map(|name| name.map(str::to_owned));
            groups.push(MeanGroup { op, backend, members });
        }
    }
    groups
}

/// Returns the cells with a time in every run of both sides, so that the means of all runs cover the same cells.
pub(crate) fn complete(sweep: &JoinedSides) -> Vec<usize> {
    let JoinedSides { pairs, old, new, .. } = *sweep;
    let is_complete = |index: &usize| {
        pairs[*index]
            .both()
            .is_some_and(|(was, is)| was.runs.len() == old.runs.len() && is.runs.len() == new.runs.len())
    };
    (0..pairs.len()).filter(is_complete).collect()
}

impl MeanGroup {
    /// Returns the mean logarithm in each run of OLD, NEW and the history; none of a history that lacks a cell.
    pub(crate) fn series(&self, sweep: &JoinedSides) -> [Vec<f64>; 3] {
        let of = |pick: fn(&CellPair) -> &CellEvidence| -> Vec<&[f64]> {
            let times = self.members.iter().filter_map(|index| pick(&sweep.pairs[*index]).times.as_ref());
            times.map(|times| times.runs.as_slice()).collect()
        };
        let mut past = of(|pair| &pair.history);
        if past.len() < self.members.len() || past.iter().any(|runs| runs.len() != sweep.history.runs.len()) {
            past.clear();
        }
        [of(|pair| &pair.old), of(|pair| &pair.new), past].map(|cells| {
            let runs = 0..cells.first().map_or(0, |runs| runs.len());
            runs.map(|run| mean(cells.iter().map(|cell| cell[run]))).collect()
        })
    }

    fn mean_of(&self, figure: impl Fn(usize) -> f64) -> f64 {
        mean(self.members.iter().map(|index| figure(*index)))
    }

    /// Returns the mean change of the multiprocessor clock as a logarithm; 0 for cells without a recorded clock.
    pub(crate) fn clock_change(&self, pairs: &[CellPair]) -> f64 {
        let mean = |clocks: &[f64]| mean(clocks.iter().copied());
        self.mean_of(|index| match pairs[index].both() {
            Some((old, new)) if !old.clocks.is_empty() && !new.clocks.is_empty() => {
                mean(&new.clocks) - mean(&old.clocks)
            }
            _ => 0.0,
        })
    }

    pub(crate) fn threshold(&self, limits: &[Limits]) -> f64 {
        self.mean_of(|index| limits[index].mean_threshold.unwrap_or(MEAN_THRESHOLD))
    }

    /// Returns the lower bound of the variance: that of independent cells with the minimum variance of each.
    pub(crate) fn min_variance(&self, pairs: &[CellPair]) -> f64 {
        self.of_independent(|index| Pace::of(&pairs[index]).min_variation().powi(2))
    }

    /// Returns the variance of the mean of independent cells with these variances.
    fn of_independent(&self, variance: impl Fn(usize) -> f64) -> f64 {
        let sum = self.members.iter().map(|index| variance(*index)).sum::<f64>();
        sum / (self.members.len() as f64).powi(2)
    }

    /// Returns the variance for one run per side: that of the cells, and a cautious estimate of what they share.
    pub(crate) fn assumed_variance(&self, sweep: &JoinedSides) -> (f64, f64) {
        let JoinedSides { pairs, limits, variances, .. } = *sweep;
        let common = self.mean_of(|index| {
            let cautious = || Pace::of(&pairs[index]).cautious_variation();
            limits[index].variation_between_runs.unwrap_or_else(cautious)
        });
        let own = self.of_independent(|index| variances[index].map_or(0.0, |own| own.variance));
        (common.powi(2) + own, ASSUMED_DF)
    }
}
