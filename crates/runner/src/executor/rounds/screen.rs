//! Screens the cells of a case in their first round, before any is sampled to precision.

use gpubench_model::measure::stopping::Reason;

use super::Rounds;
use crate::executor::cell_run::CellRun;
use crate::executor::cell_session::Interrupted;
use crate::executor::screening::{self, Standing};

impl Rounds<'_> {
    /// Ends the cells of a case that a few executions show to be far behind, and those of copies of a library that were
    /// not chosen.
    pub(super) fn screen(
        &mut self,
        cell_runs: &mut [CellRun<'_>],
        case: &[usize],
    ) -> Result<(), Interrupted> {
        let may_end = |cell_run: &CellRun<'_>| cell_run.planned.may_be_screened && !cell_run.has_ended();
        for &at in case {
            let planned = cell_runs[at].planned;
            if let Some(reason) = self.copies.reason_against(planned).filter(|_| may_end(&cell_runs[at])) {
                screening::pass_over(&mut cell_runs[at], reason);
                self.finished(&cell_runs[at]);
            }
        }
        for race in screening::rivals(cell_runs, case) {
            let mut best = vec![vec![]; race.len()];
            let mut open: Vec<usize> = (0..race.len()).collect();
            for batch in 0..screening::MAX_BATCHES {
                for &competitor in &open {
                    let times = self.run_briefly(cell_runs, race[competitor], batch > 0)?;
                    screening::keep_faster(&mut best[competitor], times);
                }
                open = self.drop_out(cell_runs, &race, &best, batch)?;
            }
            let times = race.into_iter().zip(best).collect();
            for at in self.copies.choose(cell_runs, &times) {
                self.end_screened(&mut cell_runs[at])?;
            }
        }
        Ok(())
    }

    /// Takes a batch of a few samples of a cell for a race, and returns their times; none if the cell has ended.
    fn run_briefly(
        &mut self,
        cell_runs: &mut [CellRun<'_>],
        at: usize,
        is_warm: bool,
    ) -> Result<Vec<f64>, Interrupted> {
        self.check_ending()?;
        self.session.observer.cell_started(&cell_runs[at].planned.cell, None);
        self.prepare(cell_runs, at)?;
        let before = cell_runs[at].series.samples.len();
        self.session.screen(&mut cell_runs[at], is_warm)?;
        if cell_runs[at].has_ended() {
            self.finished(&cell_runs[at]);
            return Ok(vec![]);
        }
        Ok(cell_runs[at].series.seconds().split_off(before))
    }

    /// Ends the cells of a race that are behind after batch number `batch` (from 0), and returns the competitors that need
    /// another batch and have time for it. `best` has the times of each one's fastest batch.
    fn drop_out(
        &mut self,
        cell_runs: &mut [CellRun<'_>],
        race: &[usize],
        best: &[Vec<f64>],
        batch: u32,
    ) -> Result<Vec<usize>, Interrupted> {
        let mut open = vec![];
        for (competitor, standing) in screening::standings(best, batch).into_iter().enumerate() {
            let cell_run = &mut cell_runs[race[competitor]];
            match standing {
                _ if cell_run.has_ended() => {}
                Standing::Near => {}
                Standing::Open if cell_run.series.spent_s >= screening::max_s(cell_run.planned) => {}
                Standing::Open => open.push(competitor),
                Standing::Behind => self.end_screened(cell_run)?,
            }
        }
        Ok(open)
    }

    fn end_screened(&mut self, cell_run: &mut CellRun<'_>) -> Result<(), Interrupted> {
        cell_run.row.screened = true;
        cell_run.series.stopped = Some(Reason::Screened);
        self.conclude(cell_run)
    }
}
