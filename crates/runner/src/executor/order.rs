//! Chooses the random order of a block's cells in each round, fixed by the seed.

use std::ops::Range;

use gpubench_backend::WorkerId;
use gpubench_model::data::generator::Stream;

use super::PlannedCell;
use super::block::cases;
use super::screening::compares_copies;

/// Distinguishes these random streams from those of operands.
const PURPOSE: u64 = 0x0072_6F75_6E64_7321;

/// Returns the positions of `block` in the random order of `round`, in groups.
///
/// In the first round, in which jobs are prepared, the groups are cases, and in each the cells of a worker follow each
/// other, so that each worker makes the operands once: the order of cases, that of workers within a case and that of
/// cells within a worker are random. Cases that compare copies of a library come first. Later rounds are one group of
/// all cells.
pub(crate) fn of_round(cells: &[PlannedCell], block: Range<usize>, seed: u64, round: u32) -> Vec<Vec<usize>> {
    let mut shuffler =
        Shuffler { stream: Stream::new(seed ^ PURPOSE, u64::from(round)), drawn: block.start as u64 };
    if round > 0 {
        return vec![shuffler.shuffled(block.collect())];
    }
    let start = block.start;
    let groups = cases(&cells[block.clone()]).map(|group| start + group.start..start + group.end);
    let mut groups = shuffler.shuffled(groups.collect());
    let has_copies = |group: &Range<usize>| compares_copies(&cells[block.clone()], &cells[group.clone()]);
    groups.sort_by_key(|group| !has_copies(group));
    let shuffle = |group| {
        let workers = shuffler.shuffled(of_workers(cells, group));
        workers.into_iter().flat_map(|worker| shuffler.shuffled(worker)).collect()
    };
    groups.into_iter().map(shuffle).collect()
}

/// Returns the positions of `cells`, those of each worker together.
fn of_workers(cells: &[PlannedCell], positions: Range<usize>) -> Vec<Vec<usize>> {
    let mut groups: Vec<(WorkerId, Vec<usize>)> = vec![];
    for at in positions {
        let worker = cells[at].worker();
        match groups.iter_mut().find(|(known, _)| *known == worker) {
            Some((_, group)) => group.push(at),
            None => groups.push((worker, vec![at])),
        }
    }
    groups.into_iter().map(|(_, group)| group).collect()
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

    use super::*;
    use crate::executor::cell_run::tests::planned;

    /// Cells of three variants per size.
    fn plan(count: u64) -> Vec<PlannedCell> {
        (0..count).map(|k| planned(1 + k / 3, ["a", "b", "c"][k as usize % 3])).collect()
    }

    #[test]
    fn an_order_holds_every_position_once_and_depends_on_seed_and_round() {
        let cells = plan(60);
        let order = |seed, round| of_round(&cells, 12..60, seed, round).concat();
        for round in 0..3 {
            let mut sorted = order(42, round);
            assert_eq!(sorted, order(42, round));
            assert_ne!(sorted, order(43, round));
            sorted.sort_unstable();
            assert_eq!(sorted, (12..60).collect::<Vec<_>>());
        }
        assert_ne!(order(42, 1), order(42, 2));
        assert!(of_round(&cells, 3..3, 1, 1).concat().is_empty());
    }

    #[test]
    fn the_first_round_keeps_the_cells_of_a_case_together_in_chance_orders() {
        let cells = plan(30);
        let groups = of_round(&cells, 0..30, 7, 0);
        assert!(groups.iter().all(|group| group.len() == 3));
        let order = groups.concat();
        let cases: Vec<usize> = order.chunks(3).map(|group| group[0] / 3).collect();
        assert!(order.chunks(3).zip(&cases).all(|(group, case)| group.iter().all(|at| at / 3 == *case)));
        assert!(!cases.is_sorted() && order.chunks(3).any(|group| !group.is_sorted()));
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
        let orders: BTreeSet<Vec<usize>> =
            (0..1000).map(|seed| of_round(&cells, 0..6, seed, 0).concat()).collect();
        assert!(orders.iter().all(|order| order.chunks(2).all(|pair| pair[0] % 3 == pair[1] % 3)));
        assert_eq!(orders.len(), 6 * 8, "every order of workers and of each one's two cells");
    }
}
