//! Chooses the random order of a block's cells in each round, fixed by the seed.

use gpubench_report::data::generator::Stream;
use gpubench_text::grouped::grouped;

use super::cell_run::CellRun;

/// Distinguishes these random streams from those of operands.
const PURPOSE: u64 = 0x0072_6F75_6E64_7321;

/// Returns the cells of a block in the random order of `round`, in groups.
///
/// In the first round, in which jobs are prepared, the groups are cases, and in each the cells of a worker follow each
/// other, so that each worker makes the operands once: the order of cases, that of workers within a case and that of
/// cells within a worker are random. Later rounds are one group of all cells.
pub(crate) fn of_round<'r, 'p>(
    block: &'r mut [CellRun<'p>],
    seed: u64,
    round: u32,
) -> Vec<Vec<&'r mut CellRun<'p>>> {
    let drawn = block.first().map_or(0, CellRun::job);
    let mut shuffler = Shuffler { stream: Stream::new(seed ^ PURPOSE, u64::from(round)), drawn };
    if round > 0 {
        return vec![shuffler.shuffled(block.iter_mut().collect())];
    }
    let cases = block.chunk_by_mut(|a, b| a.planned.cell.case == b.planned.cell.case);
    let cases = shuffler.shuffled(cases.collect());
    let shuffle = |case: &'r mut [CellRun<'p>]| {
        let of_workers = grouped(case.iter_mut().map(|cell_run| (cell_run.worker.clone(), cell_run)));
        let workers = shuffler.shuffled(of_workers);
        workers.into_iter().flat_map(|(_, cell_runs)| shuffler.shuffled(cell_runs)).collect()
    };
    cases.into_iter().map(shuffle).collect()
}

struct Shuffler {
    stream: Stream,
    drawn: u64,
}

impl Shuffler {
    /// Shuffles by Fisher and Yates' method.
    fn shuffled<T>(&mut self, mut items: Vec<T>) -> Vec<T> {
        for last in (1..items.len()).rev() {
            // The bias of the remainder is below 2^-40 for any plan.
            let other = self.stream.bits(self.drawn) % (last as u64 + 1);
            self.drawn += 1;
            items.swap(last, usize::try_from(other).unwrap_or(last));
        }
        items
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::time::Duration;

    use super::*;
    use crate::executor::PlannedCell;
    use crate::executor::cell_run::tests::planned;

    /// Cells of three variants per size.
    fn plan(count: u64) -> Vec<PlannedCell> {
        (0..count).map(|k| planned(1 + k / 3, ["a", "b", "c"][k as usize % 3])).collect()
    }

    /// Returns the positions of the cells in the order of a round, of which the first is 12.
    fn order(cells: &[PlannedCell], seed: u64, round: u32) -> Vec<Vec<usize>> {
        let cell_runs = cells.iter().zip(12..);
        let mut cell_runs: Vec<CellRun<'_>> =
            cell_runs.map(|(cell, position)| CellRun::new(position, cell, Duration::ZERO)).collect();
        let groups = of_round(&mut cell_runs, seed, round).into_iter();
        groups.map(|group| group.iter().map(|cell_run| cell_run.position).collect()).collect()
    }

    #[test]
    fn an_order_holds_every_cell_once_and_depends_on_seed_and_round() {
        let cells = plan(48);
        let order = |seed, round| order(&cells, seed, round).concat();
        for round in 0..3 {
            let mut sorted = order(42, round);
            assert_eq!(sorted, order(42, round));
            assert_ne!(sorted, order(43, round));
            sorted.sort_unstable();
            assert_eq!(sorted, (12..60).collect::<Vec<_>>());
        }
        assert_ne!(order(42, 1), order(42, 2));
        assert!(super::of_round(&mut [], 1, 1)[0].is_empty());
    }

    #[test]
    fn the_first_round_keeps_the_cells_of_a_case_together_in_chance_orders() {
        let groups = order(&plan(30), 7, 0);
        assert!(groups.iter().all(|group| group.len() == 3));
        let cases: Vec<usize> = groups.iter().map(|group| group[0] / 3).collect();
        assert!(groups.iter().zip(&cases).all(|(group, case)| group.iter().all(|at| at / 3 == *case)));
        assert!(!cases.is_sorted() && groups.iter().any(|group| !group.is_sorted()));
    }

    #[test]
    fn the_first_round_keeps_the_cells_of_a_worker_together_in_chance_orders() {
        let cells: Vec<PlannedCell> = (0..6)
            .map(|k| {
                let mut cell = planned(1, "a");
                cell.variant.library = [None, Some("x".into()), Some("y".into())][k % 3].clone();
                cell
            })
            .collect();
        let orders: BTreeSet<Vec<usize>> = (0..1000).map(|seed| order(&cells, seed, 0).concat()).collect();
        assert!(orders.iter().all(|order| order.chunks(2).all(|pair| pair[0] % 3 == pair[1] % 3)));
        assert_eq!(orders.len(), 6 * 8, "every order of workers and of each one's two cells");
    }
}
