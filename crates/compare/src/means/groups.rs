//! The groups of cells whose geometric mean is followed from run to run, with its value in each run.

use crate::pairs::evidence::CellTimes;
use crate::pairs::pace::{ASSUMED_DF, Pace};
use crate::pairs::pairing::Pair;
use crate::variance::run_variance::RunVariance;
use crate::{Limits, Runs};

/// Cells of which a mean says more than they do themselves.
const MIN_CELLS: usize = 3;

/// The change of a mean that counts where a policy names none, relative.
pub(crate) const MEAN_THRESHOLD: f64 = 0.02;

/// Cells of one sweep, backend, or op on a backend.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Group {
    /// The op; `None` for all.
    pub op: Option<String>,
    /// The backend; `None` for all.
    pub backend: Option<String>,
    /// Places of its cells among the pairs.
    pub members: Vec<usize>,
}

/// The mean of the logarithms of a group's times, one value per run.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Series {
    pub old: Vec<f64>,
    pub new: Vec<f64>,
    /// Of each run of the history; empty where a run of it lacks one of the cells.
    pub history: Vec<f64>,
}

/// The whole sweep, each backend, and each op of each backend, as far as `members` make different groups of at least
/// three cells: `members` are the places of the cells that may be in a mean.
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
    let cells: Vec<(&str, &str)> = members
        .iter()
        .map(|place| (pairs[*place].cell.backend.as_str(), pairs[*place].cell.case.op.as_str()))
        .collect();
    cells.iter().for_each(|(backend, _)| add(None, Some(backend)));
    cells.iter().for_each(|(backend, op)| add(Some(op), Some(backend)));
    found
}

/// The cells with a time in every run of both sides: a mean over other cells in each run would compare unlike things.
pub(crate) fn complete(pairs: &[Pair], old: &Runs, new: &Runs) -> Vec<usize> {
    let is_complete = |pair: &Pair| {
        pair.both()
            .is_some_and(|(was, is)| was.runs.len() == old.runs.len() && is.runs.len() == new.runs.len())
    };
    (0..pairs.len()).filter(|place| is_complete(&pairs[*place])).collect()
}

impl Group {
    /// Its mean in each run.
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

    /// How far the clock of the multiprocessors moved in the mean over its cells, as a logarithm: by nothing in cells of
    /// which a side does not know it.
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

    /// The change of its mean that counts, relative: the mean of what counts for its cells.
    pub(crate) fn threshold(&self, limits: &[Limits]) -> f64 {
        let of_cell = |place: &usize| limits[*place].mean_threshold.unwrap_or(MEAN_THRESHOLD);
        self.members.iter().map(of_cell).sum::<f64>() / self.members.len() as f64
    }

    /// The least variance of its mean in a run that is believed: that of cells which differ on their own, each by the
    /// least that is believed of it.
    pub(crate) fn least_variance(&self, pairs: &[Pair]) -> f64 {
        let of_cell = |place: &usize| Pace::of(&pairs[*place]).least().powi(2);
        self.members.iter().map(of_cell).sum::<f64>() / (self.members.len() as f64).powi(2)
    }

    /// The variance of its mean in a run that is assumed where each side has one run, and the degrees of freedom of that
    /// guess. What all cells of a run share cannot be seen in it, so a cautious share is added to the cells' own spread.
    pub(crate) fn assumed_variance(
        &self,
        pairs: &[Pair],
        limits: &[Limits],
        spreads: &[Option<RunVariance>],
    ) -> (f64, f64) {
        let count = self.members.len() as f64;
        let common = |place: &usize| limits[*place].run_spread.unwrap_or(Pace::of(&pairs[*place]).cautious());
        let common = self.members.iter().map(common).sum::<f64>() / count;
        let own = |place: &usize| spreads[*place].map_or(0.0, |spread| spread.variance);
        let own = self.members.iter().map(own).sum::<f64>() / count.powi(2);
        (common.powi(2) + own, ASSUMED_DF)
    }
}

/// The mean over cells of each run; all cells have the same runs.
fn mean_by_run(cells: &[&[f64]]) -> Vec<f64> {
    let runs = cells.first().map_or(0, |runs| runs.len());
    (0..runs).map(|run| cells.iter().map(|cell| cell[run]).sum::<f64>() / cells.len() as f64).collect()
}
