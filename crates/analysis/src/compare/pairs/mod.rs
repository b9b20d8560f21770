//! Joins the two sides cell by cell and collects the times that the runs of each side have for a cell.
//!
//! All later steps (variances, verdicts, means) read these pairs instead of reports.

pub(crate) mod evidence;
pub(crate) mod pace;

use std::collections::{HashMap, HashSet};

use gpubench_report::Side;
use gpubench_report::case::Cell;
use gpubench_report::report::Row;

use self::evidence::{CellEvidence, CellTimes};
use crate::compare::Runs;
use crate::compare::statistics::mean;

#[derive(Clone, Debug)]
pub(crate) struct CellPair {
    pub cell: Cell,
    pub side: Side,
    pub old: CellEvidence,
    pub new: CellEvidence,
    /// Results of earlier, unchanged runs.
    pub history: CellEvidence,
    /// True if one of the runs found it far behind the best of its side and sampled it briefly.
    pub is_screened: bool,
}

impl CellPair {
    pub(crate) fn timed(&self) -> impl Iterator<Item = &CellTimes> {
        [&self.old, &self.new].into_iter().filter_map(|evidence| evidence.times.as_ref())
    }

    /// Returns the logarithms of the run medians of OLD, NEW and the history, as far as they have any.
    pub(crate) fn runs(&self) -> impl Iterator<Item = &[f64]> {
        let times = self.timed().chain(&self.history.times);
        times.map(|times| times.runs.as_slice())
    }

    pub(crate) fn both(&self) -> Option<(&CellTimes, &CellTimes)> {
        self.old.times.as_ref().zip(self.new.times.as_ref())
    }

    /// Returns the reason why the times of both sides cannot be compared, with the next step.
    pub(crate) fn incomparable(&self) -> Option<(String, &'static str)> {
        self.both().and_then(|(old, new)| incomparable(old, new))
    }
}

/// Returns the cells of OLD, then those of NEW alone; without those that both screened, or a side passed over.
pub(crate) fn pairs(old: &Runs, new: &Runs, history: &Runs) -> Vec<CellPair> {
    let (mut order, mut rows) = (Vec::new(), HashMap::<String, [Vec<&Row>; 3]>::new());
    for (place, runs) in [old, new, history].into_iter().enumerate() {
        for run in &runs.runs {
            let mut seen = HashSet::new();
            // Refinement adds different sizes to each run, so such cells have no counterpart.
            for row in run.report.rows.iter().filter(|row| !row.added_by_refinement) {
                let key = row.cell().key();
                // Only the first of several rows of one cell in one report counts.
                if !seen.insert(key.clone()) {
                    continue;
                }
                let of_cell = rows.entry(key.clone()).or_insert_with(|| {
                    order.push(key);
                    Default::default()
                });
                of_cell[place].push(row);
            }
        }
    }
    let pair = |key: &String| {
        let [old, new, history] = rows.get(key)?;
        // A cell that only the history has is not compared.
        let row = old.first().or(new.first())?;
        let of_both = || old.iter().chain(new);
        if of_both().all(|row| row.screened) || of_both().any(|row| row.is_passed_over()) {
            return None;
        }
        let (cell, side, is_screened) = (row.cell(), row.side, of_both().any(|row| row.screened));
        let [old, new, history] = [old, new, history].map(|rows| CellEvidence::of(rows));
        Some(CellPair { cell, side, old, new, history, is_screened })
    };
    order.iter().filter_map(pair).collect()
}

/// Returns the variance of a run's median as estimated within the runs, mean over both sides.
pub(crate) fn within(pair: &CellPair) -> Option<f64> {
    pair.timed().next()?;
    Some(mean(pair.timed().map(|times| times.within)))
}

/// Returns the reason why the times of both sides cannot be compared, with the next step; `None` if they can.
pub(crate) fn incomparable(old: &CellTimes, new: &CellTimes) -> Option<(String, &'static str)> {
    if let Some((first, other)) = disagree(&old.timers, &new.timers) {
        let reason =
            format!("some runs were timed by the {}, others by the {}", first.words(), other.words());
        return Some((reason, "run both sides again, on the same kind of device"));
    }
    if let Some((first, other)) = disagree(&old.accuracies, &new.accuracies) {
        let (first, other) = (first.name(), other.name());
        let reason = format!("the variant's accuracy class is {first} in some runs and {other} in others");
        return Some((reason, "compare builds in which this variant has the same accuracy class"));
    }
    disagree(&old.inputs, &new.inputs)?;
    Some(("the operands differ although the seed is the same".into(), "run both sides with the same build"))
}

/// Returns two different values among those of the runs of both sides; `None` if all agree.
fn disagree<'a, T: PartialEq>(old: &'a [T], new: &'a [T]) -> Option<(&'a T, &'a T)> {
    let mut values = old.iter().chain(new);
    let first = values.next()?;
    Some((first, values.find(|other| *other != first)?))
}
