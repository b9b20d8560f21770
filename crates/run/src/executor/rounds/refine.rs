//! Narrows crossovers: adds a few cells at the sizes that the caller chooses from the report so far. The time for this is
//! bounded.

use gpubench_report::report::{Report, Row};

use super::rounds::Rounds;
use super::{PlannedCell, RunSpec};

/// Maximum number of further sizes per crossover; each at least halves the interval.
pub const PASSES: usize = 2;

/// Without a budget: the share of the planned cells' time that refinement may take, and the seconds it may always take.
const TIME_SHARE: f64 = 0.25;
const LEAST_S: f64 = 10.0;

/// A size that would narrow a crossover of a report.
#[derive(Clone, Debug)]
pub struct NextSize<'a> {
    /// The size.
    pub n: u64,
    /// Rows of the variants that are measured at it, at a neighbouring size.
    pub rows: Vec<&'a Row>,
}

/// Returns the sizes that would narrow the crossovers of a report, the widest crossover first.
pub type NextSizes = for<'a> fn(&'a Report) -> Vec<NextSize<'a>>;

/// Adds cells near the crossovers and runs them. Returns whether the user ended the run meanwhile.
pub(crate) fn refine(run: &RunSpec, rounds: &mut Rounds<'_>) -> bool {
    let Some(next_sizes) = run.next_sizes else { return false };
    let mut cells = run.cells.clone();
    let begin_s = rounds.spent_s();
    let end_s = run.budget_s.unwrap_or(begin_s + LEAST_S.max(TIME_SHARE * begin_s));
    for pass in 0..PASSES {
        let left_s = end_s - rounds.spent_s();
        let added = affordable(next_sizes(rounds.report()), &cells, left_s, |row| rounds.cost_s(row));
        if added.is_empty() {
            break;
        }
        let first = cells.len();
        rounds.extend(added.len(), first + added.len(), PASSES - pass);
        if rounds.run(&added, first) {
            return true;
        }
        cells.extend(added);
    }
    false
}

/// Returns the cells at these sizes that `left_s` seconds allow, if each takes as long as its row did.
fn affordable(
    sizes: Vec<NextSize<'_>>,
    cells: &[PlannedCell],
    mut left_s: f64,
    cost_s: impl Fn(&Row) -> f64,
) -> Vec<PlannedCell> {
    let mut added = vec![];
    for NextSize { n, rows } in sizes {
        let of_row = |row: &&Row| Some((cell_at(row, n, cells)?, cost_s(row)));
        let (cells, costs): (Vec<PlannedCell>, Vec<f64>) = rows.iter().filter_map(of_row).unzip();
        let cost_s: f64 = costs.iter().sum();
        if cost_s <= left_s {
            left_s -= cost_s;
            added.extend(cells);
        }
    }
    added
}

fn cell_at(row: &Row, n: u64, cells: &[PlannedCell]) -> Option<PlannedCell> {
    let cell = row.cell();
    let mut added = cells.iter().find(|one| one.cell == cell)?.clone();
    added.cell.case.n = n;
    Some(added)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::executor::cell_run::tests::planned;
    use gpubench_report::report::example;

    #[test]
    fn sizes_that_take_too_long_are_left_out() {
        let report =
            example::of(["mkl", "far"].map(|name| example::measured("matmul", 100, "cpu", name, 1e-3)));
        let [mkl, far] = [0, 1].map(|index| &report.rows[index]);
        let plan = |row: &Row| PlannedCell { cell: row.cell(), ..planned(100, &row.variant) };
        let cells = [plan(mkl)];
        let sizes = || vec![NextSize { n: 200, rows: vec![mkl, far] }, NextSize { n: 300, rows: vec![mkl] }];
        let sizes_within = |left_s| -> Vec<u64> {
            let added = affordable(sizes(), &cells, left_s, |_| 1.0);
            added.iter().map(|one| one.cell.case.n).collect()
        };
        assert!(sizes_within(0.9).is_empty());
        assert_eq!(sizes_within(1.9), [200], "a row without a planned cell costs nothing");
        assert_eq!(sizes_within(2.0), [200, 300]);
    }
}
