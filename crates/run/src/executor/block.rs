//! Splits the plan into blocks of neighbouring cells whose jobs are kept at the same time, so that their samples can
//! alternate. Cells of one case stay together.

use gpubench_ops as op;

use super::cell_run::CellRun;

/// Maximum of the estimated bytes of a block's jobs, on any machine.
const MAX_BLOCK_BYTES: u128 = 8 << 30;
/// Bytes of operands and answers that a block may have even where no case has as many.
const SMALL_BLOCK_BYTES: u128 = 100_000_000;
/// Bytes of a job besides its operands: library handles, workspaces, plans.
const JOB_BYTES: u128 = 64 << 20;

/// Splits the plan. `free` is the host memory that may be used; a block takes at most a quarter of it. The operands and
/// answers of a block take no more than those of the largest case, so that a sweep over sizes needs no more memory than
/// its largest size, unless they are small.
///
/// A case that exceeds the limits alone is a block of its own.
pub(crate) fn blocks<'p>(cells: Vec<CellRun<'p>>, free: Option<u128>) -> Vec<Vec<CellRun<'p>>> {
    let mut cases: Vec<Vec<CellRun<'p>>> = vec![];
    for cell_run in cells {
        match cases.last_mut() {
            Some(case) if case[0].planned.cell.case == cell_run.planned.cell.case => case.push(cell_run),
            _ => cases.push(vec![cell_run]),
        }
    }
    let most_arrays = cases.iter().map(|case| arrays(case)).fold(SMALL_BLOCK_BYTES, u128::max);
    let most = free.map_or(MAX_BLOCK_BYTES, |free| MAX_BLOCK_BYTES.min(free / 4));
    let mut blocks: Vec<Vec<CellRun<'p>>> = vec![];
    for case in cases {
        let fits = |block: &Vec<CellRun<'p>>| {
            let (arrays, jobs) = (arrays(block) + arrays(&case), (block.len() + case.len()) as u128);
            arrays <= most_arrays && arrays + jobs * JOB_BYTES <= most
        };
        match blocks.last_mut() {
            Some(block) if fits(block) => block.extend(case),
            _ => blocks.push(case),
        }
    }
    blocks
}

fn arrays(cells: &[CellRun<'_>]) -> u128 {
    let bytes = |cell_run: &CellRun<'_>| {
        let case = &cell_run.planned.cell.case;
        op::find(&case.op).map_or(0, |op| op.host_bytes(case))
    };
    cells.iter().map(bytes).fold(0, u128::saturating_add)
}

#[cfg(test)]
mod tests {
    use std::ops::Range;
    use std::time::Duration;

    use super::super::PlannedCell;
    use super::*;
    use crate::executor::cell_run::tests::planned;

    fn positions(cells: &[PlannedCell], free: Option<u128>) -> Vec<Range<usize>> {
        let cell_runs = cells.iter().enumerate();
        let cell_runs = cell_runs.map(|(position, planned)| CellRun::new(position, planned, Duration::ZERO));
        let blocks = blocks(cell_runs.collect(), free);
        blocks.iter().map(|block| block[0].position..block[0].position + block.len()).collect()
    }

    #[test]
    fn cells_of_a_case_share_a_block_and_large_cases_get_their_own() {
        let cells = [(100, "a"), (100, "b"), (200, "a"), (20_000, "a"), (20_000, "b"), (300, "a")];
        let cells = cells.map(|(n, variant)| planned(n, variant));
        assert_eq!(positions(&cells, Some(4 << 30)), [0..3, 3..5, 5..6]);
        assert_eq!(positions(&cells, Some(0)), [0..2, 2..3, 3..5, 5..6]);
        assert_eq!(positions(&[], None), Vec::<Range<usize>>::new());
    }

    #[test]
    fn a_sweep_holds_no_more_operands_than_its_largest_case() {
        // Cases of 8, 32, 50 and 72 MB, of which the first three are a small block, and of 800 MB.
        let cells = |sizes: &[u64]| sizes.iter().map(|&n| planned(n, "a")).collect::<Vec<_>>();
        assert_eq!(positions(&cells(&[1000, 2000, 2500, 3000]), None), [0..3, 3..4]);
        assert_eq!(positions(&cells(&[1000, 2000, 2500, 3000, 10_000]), None), [0..4, 4..5]);
        assert_eq!(positions(&cells(&[10_000, 1000, 2000]), None), [0..1, 1..3]);
    }
}
