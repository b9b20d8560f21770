//! Splits the plan into blocks of neighbouring cells whose jobs are kept at the same time, so that their samples can
//! alternate. Cells of one case stay together.

use std::ops::Range;

use gpubench_ops as op;

use super::PlannedCell;

/// Maximum of the estimated bytes of a block's jobs, on any machine.
const MAX_BLOCK_BYTES: u128 = 8 << 30;
/// Bytes of a job besides its operands: library handles, workspaces, plans.
const JOB_BYTES: u128 = 64 << 20;

/// Splits the plan. `free` is the host memory that may be used; a block takes at most a quarter of it.
///
/// A case that exceeds the limit alone is a block of its own.
pub(crate) fn blocks(cells: &[PlannedCell], free: Option<u128>) -> Vec<Range<usize>> {
    let limit = free.map_or(MAX_BLOCK_BYTES, |free| MAX_BLOCK_BYTES.min(free / 4));
    let mut blocks: Vec<Range<usize>> = Vec::new();
    let mut block_bytes = 0;
    for case in cases(cells) {
        let needed: u128 = cells[case.clone()].iter().map(bytes).sum();
        match blocks.last_mut() {
            Some(block) if block_bytes + needed <= limit => {
                block.end = case.end;
                block_bytes += needed;
            }
            _ => {
                blocks.push(case);
                block_bytes = needed;
            }
        }
    }
    blocks
}

/// Runs of neighbouring cells with the same case.
pub(crate) fn cases(cells: &[PlannedCell]) -> impl Iterator<Item = Range<usize>> {
    let mut start = 0;
    cells.chunk_by(|a, b| a.cell.case == b.cell.case).map(move |run| {
        let range = start..start + run.len();
        start = range.end;
        range
    })
}

fn bytes(planned: &PlannedCell) -> u128 {
    let case = &planned.cell.case;
    JOB_BYTES + op::find(&case.op).map_or(0, |op| op.footprint(case))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::executor::cell_run::tests::planned;

    #[test]
    fn cells_of_a_case_share_a_block_and_large_cases_get_their_own() {
        let cells = [(100, "a"), (100, "b"), (200, "a"), (20_000, "a"), (20_000, "b"), (300, "a")];
        let cells = cells.map(|(n, variant)| planned(n, variant));
        assert_eq!(blocks(&cells, Some(4 << 30)), [0..3, 3..5, 5..6]);
        assert_eq!(blocks(&cells, Some(0)), [0..2, 2..3, 3..5, 5..6]);
        assert_eq!(blocks(&[], None), Vec::<Range<usize>>::new());
    }
}
