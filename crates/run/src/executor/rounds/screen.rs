//! Screens the cells of a case in their first round, before any is sampled to precision.

use gpubench_report::measure::stopping::Reason;

use super::Rounds;
use crate::executor::cell_run::CellRun;
use crate::executor::screening::{self, Competitor, Standing};
use crate::executor::workers::Interrupted;

impl Rounds<'_> {
    /// Ends the cells of a case that a few executions show to be far behind.
    pub(super) fn screen(&mut self, case: &mut [&mut CellRun<'_>]) -> Result<(), Interrupted> {
        for mut race in screening::races(case) {
            for batch in 0..screening::MAX_BATCHES {
                for one in race.iter_mut().filter(|one| one.is_open) {
                    let times = self.run_briefly(one.cell_run, batch > 0)?;
                    screening::keep_faster(&mut one.best, times);
                }
                self.drop_out(&mut race, batch)?;
            }
        }
        Ok(())
    }

    /// Takes a batch of a few samples of a cell for a race, and returns their times; none if the cell has ended.
    fn run_briefly(&mut self, cell_run: &mut CellRun<'_>, is_warm: bool) -> Result<Vec<f64>, Interrupted> {
        self.check_ending()?;
        self.session.observer.cell_started(&cell_run.planned.cell, None);
        self.session.prepare(cell_run)?;
        let before = cell_run.series.samples.len();
        self.session.screen(cell_run, is_warm)?;
        if cell_run.has_ended() {
            self.finished(cell_run);
            return Ok(vec![]);
        }
        Ok(cell_run.series.seconds().split_off(before))
    }

    /// Ends the cells that are behind after batch number `batch` (from 0). Those that need another in time stay open.
    fn drop_out(&mut self, race: &mut [Competitor<'_, '_>], batch: u32) -> Result<(), Interrupted> {
        let standings = screening::standings(race.iter().map(|one| one.best.as_slice()), batch);
        for (one, standing) in race.iter_mut().zip(standings) {
            let cell_run = &mut *one.cell_run;
            one.is_open = standing == Standing::Open
                && !cell_run.has_ended()
                && cell_run.series.spent_s < screening::max_s(cell_run.planned);
            if standing == Standing::Behind && !cell_run.has_ended() {
                cell_run.row.screened = true;
                cell_run.series.stopped = Some(Reason::Screened);
                self.conclude(cell_run)?;
            }
        }
        Ok(())
    }
}
