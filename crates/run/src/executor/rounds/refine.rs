//! Narrows crossovers: adds a few cells at the sizes that the caller chooses from the report so far. The time for this is
//! bounded.

use gpubench_report::report::{Report, Row};

use super::Rounds;
use crate::executor::PlannedCell;
use crate::executor::workers::Interrupted;

/// Maximum number of further sizes per crossover; each at least halves the interval.
pub const PASSES: usize = 2;

/// The share of the planned cells' time that refinement may take, and the seconds it may always take.
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

impl Rounds<'_> {
    pub(super) fn refine(&mut self) -> Result<(), Interrupted> {
        let Some(next_sizes) = self.run.next_sizes else { return Ok(()) };
        let mut cells = self.run.cells.clone();
        let begin_s = self.spent_s();
        let end_s = begin_s + LEAST_S.max(TIME_SHARE * begin_s);
        for _ in 0..PASSES {
            let (report, left_s) = (&self.writer.report, end_s - self.spent_s());
            let added = affordable(next_sizes(report), &cells, left_s, |row| cost_s(row, self.simulated));
            if added.is_empty() {
                break;
            }
            *self.writer.report.environment.planned_rows.get_or_insert(0) += added.len() as u64;
            let first = cells.len();
            self.session.observer.cells_added(first + added.len());
            self.run_cells(&added, first)?;
            cells.extend(added);
        }
        Ok(())
    }
}

/// Returns the seconds that the cell of this row took, by the clock of [`Rounds::spent_s`].
fn cost_s(row: &Row, simulated: bool) -> f64 {
    let sampled_s = row.execute.as_ref().map_or(0.0, |execute| execute.spent_s);
    let around = row.phases.as_ref().filter(|_| !simulated);
    sampled_s + around.map_or(0.0, |p| p.inputs_s + p.prepare_s + p.first_s + p.download_s + p.check_s)
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
