//! Runs the cells that waited for workers which are slow to start.

use gpubench_host::memory;

use super::Rounds;
use crate::executor::{PlannedCell, block, peaks};

impl Rounds<'_> {
    /// Runs the postponed cells whose workers have started or failed since; at the end of the plan, waits for the others.
    /// Returns whether the user ended the run meanwhile.
    pub(crate) fn run_postponed(&mut self, cells: &[PlannedCell], is_end: bool) -> bool {
        let session = &mut self.session;
        if session.workers.settle_slow(is_end, session.observer).is_err() {
            return true;
        }
        let is_due = |at: &usize| !session.workers.is_slow(&cells[*at].worker());
        let (due, later): (Vec<usize>, Vec<usize>) = self.postponed.iter().partition(|at| is_due(at));
        self.postponed = later;
        if due.is_empty() {
            return false;
        }
        if peaks::gather_late(self.run, &mut session.workers, &mut self.writer, session.observer).is_break() {
            return true;
        }
        let late: Vec<PlannedCell> = due.iter().map(|at| cells[*at].clone()).collect();
        let mut blocks = block::blocks(&late, memory::free_host_bytes()).into_iter();
        blocks.any(|block| self.run_block(&late, block, &|at| due[at]))
    }
}
