//! Chooses one of several copies of a library, such as the OpenBLAS of the system, of NumPy and of SciPy: they are
//! compared at one size per op, and the chosen one runs at the others.

use std::collections::BTreeMap;

use super::race::is_slower;
use super::{Competitor, PlannedCell};
use crate::executor::Earlier;
use crate::executor::cell_run::CellRun;

/// Ratio by which the first copy must be slower than another one to lose its place. Nearly equal copies keep their order,
/// so that two runs choose alike.
const CLEARLY: f64 = 1.1;

#[derive(Debug, Default)]
pub(crate) struct Copies(Vec<Chosen>);

#[derive(Debug)]
struct Chosen {
    op: String,
    vendor: String,
    routine: String,
    variant: String,
    reason: String,
}

impl Copies {
    /// Returns the choices of an earlier start of the run, if there was one, so that a case is not measured with one copy
    /// before a stop and with another after it.
    pub(crate) fn resumed(cells: &[PlannedCell], earlier: Option<&Earlier>) -> Copies {
        let mut copies = Copies::default();
        let Some(earlier) = earlier else { return copies };
        for left_out in cells {
            let Some((vendor, routine)) = left_out.variant.copy_of() else { continue };
            let row = earlier.finished(&left_out.cell).filter(|row| row.is_passed_over());
            let Some(reason) = row.and_then(|row| row.reason.clone()) else { continue };
            let is_chosen = |other: &&PlannedCell| {
                other.cell.case == left_out.cell.case
                    && other.variant.copy_of() == left_out.variant.copy_of()
                    && earlier.row(&other.cell).is_some_and(|row| !row.is_passed_over())
            };
            if copies.reason_against(left_out).is_none()
                && let Some(chosen) = cells.iter().find(is_chosen)
            {
                copies.keep((vendor, routine), chosen, reason);
            }
        }
        copies
    }

    fn keep(&mut self, (vendor, routine): (&str, &str), chosen: &PlannedCell, reason: String) {
        self.0.push(Chosen {
            op: chosen.cell.case.op.clone(),
            vendor: vendor.into(),
            routine: routine.into(),
            variant: chosen.cell.variant.clone(),
            reason,
        });
    }

    /// Returns the reason that a cell is not run: another copy of its library was faster.
    pub(crate) fn reason_against(&self, planned: &PlannedCell) -> Option<String> {
        let (vendor, routine) = planned.variant.copy_of()?;
        let op = &planned.cell.case.op;
        let chosen =
            self.0.iter().find(|one| (&one.op, &*one.vendor, &*one.routine) == (op, vendor, routine))?;
        (chosen.variant != planned.cell.variant).then(|| chosen.reason.clone())
    }

    /// Chooses among the copies of each library in a race, by their fastest batches. The preferred copy of a library comes
    /// first in the plan. Returns the cells of the others.
    pub(crate) fn choose<'r, 'p>(&mut self, mut race: Vec<Competitor<'r, 'p>>) -> Vec<&'r mut CellRun<'p>> {
        race.sort_by_key(|one| one.cell_run.position);
        let mut by_routine: BTreeMap<(&str, &str), Vec<Competitor<'_, '_>>> = BTreeMap::new();
        for one in race {
            let planned: &'p PlannedCell = one.cell_run.planned;
            if let Some(routine) = planned.variant.copy_of() {
                by_routine.entry(routine).or_default().push(one);
            }
        }
        let mut passed_over = vec![];
        for (routine, mut copies) in by_routine.into_iter().filter(|(_, copies)| copies.len() > 1) {
            // A copy that is far behind the best of all has ended, and can still be the best copy.
            copies.retain(|one| {
                !one.best.is_empty() && (!one.cell_run.has_ended() || one.cell_run.row.screened)
            });
            let faster =
                |best: usize, index: usize| match is_slower(&copies[best].best, &copies[index].best, CLEARLY)
                {
                    true => index,
                    false => best,
                };
            let Some(chosen) = (0..copies.len()).reduce(faster) else { continue };
            let chosen = copies.remove(chosen).cell_run.planned;
            let (variant, op, n) = (&chosen.cell.variant, &chosen.cell.case.op, chosen.cell.case.n);
            let reason = format!(
                "{variant}, another copy of the library, was chosen for {op} at N={n} (--all-variants measures both)"
            );
            self.keep(routine, chosen, reason);
            passed_over.extend(copies.into_iter().map(|one| one.cell_run).filter(|one| !one.has_ended()));
        }
        passed_over
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::executor::cell_run::tests::planned;
    use gpubench_report::case::Cell;
    use gpubench_report::report::{Outcome, example, file};
    use std::time::Duration;

    #[test]
    fn a_resumed_run_keeps_the_copy_that_its_first_start_chose() {
        let reason = "openblas-scipy, another copy of the library, was chosen for sin at N=100";
        let folder = tempfile::tempdir().unwrap();
        let chosen = example::measured("sin", 100, "cpu", "openblas-scipy", 1e-3);
        let mut left_out = example::measured("sin", 100, "cpu", "openblas", 1e-3);
        (left_out.outcome, left_out.execute, left_out.screened) = (Outcome::Skipped, None, true);
        left_out.reason = Some(reason.into());
        let cells = [("openblas", 100), ("openblas-scipy", 100), ("openblas", 500), ("openblas-scipy", 500)];
        let cells = cells.map(|(library, n)| PlannedCell {
            cell: Cell { cache: chosen.cache, ..of_library(n, library).cell },
            ..of_library(n, library)
        });
        file::save(&example::of([left_out, chosen]), &folder.path().join(file::FILE_NAME)).unwrap();
        let earlier = Earlier::load(folder.path()).unwrap();
        let is_finished = cells.each_ref().map(|one| earlier.finished(&one.cell).is_some());
        assert_eq!(is_finished, [true, true, false, false]);
        let copies = Copies::resumed(&cells, Some(&earlier));
        assert_eq!(copies.reason_against(&cells[2]).as_deref(), Some(reason));
        assert_eq!(copies.reason_against(&cells[3]), None);
    }

    fn of_library(n: u64, library: &str) -> PlannedCell {
        let mut one = planned(n, library);
        one.variant.library = Some(library.to_owned().into());
        one
    }

    #[test]
    fn the_preferred_copy_stays_unless_another_is_clearly_faster() {
        for (seconds, expected) in [(0.95, "openblas"), (0.5, "openblas-scipy")] {
            let cells = ["openblas", "mkl", "openblas-scipy"].map(|library| of_library(100, library));
            let cell_runs = cells.iter().zip(0..);
            let mut cell_runs: Vec<CellRun<'_>> =
                cell_runs.map(|(one, at)| CellRun::new(at, one, Duration::from_secs(60))).collect();
            let race = cell_runs.iter_mut().zip([1.0, 0.2, seconds]).map(|(cell_run, scale)| Competitor {
                cell_run,
                best: [1.0, 1.01, 0.99].map(|x| scale * x).to_vec(),
                is_open: false,
            });
            let mut copies = Copies::default();
            let passed_over = copies.choose(race.collect());
            let names: Vec<&str> =
                passed_over.iter().map(|cell_run| cell_run.planned.cell.variant.as_str()).collect();
            assert_eq!(names.len(), 1);
            assert!(!names.contains(&expected) && !names.contains(&"mkl"), "{names:?}");
            assert_eq!(copies.reason_against(&of_library(500, expected)), None);
            assert_eq!(copies.reason_against(&of_library(500, "mkl")), None);
            assert!(copies.reason_against(&of_library(500, names[0])).unwrap().starts_with(expected));
        }
    }
}
