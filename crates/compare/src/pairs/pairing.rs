//! Joins OLD, NEW and the history by cell: an outer join of OLD and NEW.

use std::collections::HashMap;

use gpubench_model::Side;
use gpubench_model::case::Cell;
use gpubench_model::report::Row;

use super::evidence::{CellEvidence, CellTimes};
use crate::Runs;

/// A cell of either side.
#[derive(Clone, Debug)]
pub(crate) struct Pair {
    pub cell: Cell,
    /// Side of the CPU-GPU comparison.
    pub side: Side,
    pub old: CellEvidence,
    pub new: CellEvidence,
    /// Its results in earlier, unchanged runs.
    pub history: CellEvidence,
    /// True if one of the runs found it far behind the best of its side and sampled it briefly.
    pub is_screened: bool,
}

impl Pair {
    /// Returns the times of each side that has some.
    pub(crate) fn timed(&self) -> impl Iterator<Item = &CellTimes> {
        [&self.old, &self.new].into_iter().filter_map(|evidence| evidence.times.as_ref())
    }

    /// Returns the logarithms of the run medians of OLD, NEW and the history, as far as they have any.
    pub(crate) fn runs(&self) -> impl Iterator<Item = &[f64]> {
        let evidence = [&self.old, &self.new, &self.history].into_iter().filter_map(|s| s.times.as_ref());
        evidence.map(|evidence| evidence.runs.as_slice())
    }

    /// Returns the times of both sides, if both have some.
    pub(crate) fn both(&self) -> Option<(&CellTimes, &CellTimes)> {
        Some((self.old.times.as_ref()?, self.new.times.as_ref()?))
    }
}

/// Returns every cell of either side: those of OLD in the order of its runs, then those that only NEW has. Cells that both
/// sides sampled briefly, because they are far behind, and copies of a library that one side did not choose are left out.
pub(crate) fn pairs(old: &Runs, new: &Runs, history: &Runs) -> Vec<Pair> {
    let (mut order, mut rows) = (Vec::new(), HashMap::<String, [Vec<&Row>; 3]>::new());
    for (place, runs) in [old, new, history].into_iter().enumerate() {
        for run in &runs.runs {
            let mut seen = std::collections::HashSet::new();
            // Refinement adds different sizes to each run, so such cells have no counterpart.
            for row in run.report.rows.iter().filter(|row| !row.added_by_refinement) {
                let key = key(row);
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
        Some(Pair { cell, side, old, new, history, is_screened })
    };
    order.iter().filter_map(pair).collect()
}

/// Returns the identity of a cell: its name and its seed, which the name omits.
fn key(row: &Row) -> String {
    format!("{} seed {}", row.cell(), row.case.seed)
}

/// Returns the variance of a run's median as estimated within the runs, mean over both sides.
pub(crate) fn within(pair: &Pair) -> Option<f64> {
    let variances: Vec<f64> = pair.timed().map(|evidence| evidence.within).collect();
    (!variances.is_empty()).then(|| variances.iter().sum::<f64>() / variances.len() as f64)
}
