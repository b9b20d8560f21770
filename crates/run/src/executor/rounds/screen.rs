//! Screens the cells of a case in their first round: a few executions decide which of the default variants of a side are
//! sampled to precision. The others keep a row with that short time.

use gpubench_report::Origin;
use gpubench_report::measure::batch::{Batch, WarmUp};
use gpubench_report::measure::stopping::Reason;
use gpubench_text::grouped::grouped;

use super::Rounds;
use super::race::{Standing, keep_faster, standings};
use crate::executor::PlannedCell;
use crate::executor::cell_run::CellRun;
use crate::executor::workers::Interrupted;

/// Number of batches after which a variant that may still be near the best is sampled to precision.
const MAX_BATCHES: u32 = 3;
/// Samples of a batch, as many as fit into [`BATCH_S`].
const MIN_SAMPLES: f64 = 2.0;
const MAX_SAMPLES: f64 = 6.0;
const BATCH_S: f64 = 0.03;
/// Seconds from which an execution is long: clocks and threads are awake after the first, so it needs no warm-up.
const LONG_S: f64 = 0.05;
const WARM_UP: WarmUp = WarmUp { executions: 1, min_s: 0.01, max_s: 0.05 };
/// Share of the seconds that a cell's samples may take after which it gets no further batch: a race leaves time for the rounds.
const MAX_SHARE: f64 = 0.5;

/// Returns the request for one batch of a cell whose first execution took `first_s` seconds, and that may take `max_s`.
pub(crate) fn batch(first_s: f64, is_warm: bool, max_s: f64) -> Batch {
    let none = WarmUp { executions: 0, min_s: 0.0, max_s: 0.0 };
    let warm_up = (!is_warm).then_some(if first_s < LONG_S { WARM_UP } else { none });
    let samples = (BATCH_S / first_s.max(1e-9)).clamp(MIN_SAMPLES, MAX_SAMPLES);
    Batch { warm_up, samples: samples as u32, max_s }
}

struct Competitor<'r, 'p> {
    cell_run: &'r mut CellRun<'p>,
    /// Seconds of the executions of its fastest batch; empty before the first batch, and where it failed.
    best: Vec<f64>,
    /// True if another batch may decide whether it is behind.
    is_open: bool,
}

/// Splits the cells of one case into those that compete: the variants of one backend and side in one cache state that
/// may be screened, those that a reader can call and gpubench's tuned ones apart. Cells without a competitor are not listed.
fn races<'r, 'p>(case: &'r mut [&mut CellRun<'p>]) -> Vec<Vec<Competitor<'r, 'p>>> {
    let key = |planned: &'p PlannedCell| {
        let is_tuned = planned.variant.origin_in(&planned.cell.backend) == Origin::Tuned;
        (planned.cell.backend.as_str(), planned.variant.side, planned.cell.cache, is_tuned)
    };
    let competing =
        case.iter_mut().filter(|cell_run| cell_run.planned.may_be_screened && !cell_run.has_ended());
    let races = grouped(
        competing
            .map(|cell_run| (key(cell_run.planned), Competitor { cell_run, best: vec![], is_open: true })),
    );
    races.into_iter().map(|(_, race)| race).filter(|race| race.len() > 1).collect()
}

impl Rounds<'_> {
    /// Ends the cells of a case that a few executions show to be far behind.
    pub(super) fn screen(&mut self, case: &mut [&mut CellRun<'_>]) -> Result<(), Interrupted> {
        for mut race in races(case) {
            for batch in 0..MAX_BATCHES {
                for one in race.iter_mut().filter(|one| one.is_open) {
                    let times = self.run_briefly(one.cell_run, batch > 0)?;
                    keep_faster(&mut one.best, times);
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
        let standings = standings(race.iter().map(|one| one.best.as_slice()), batch);
        for (one, standing) in race.iter_mut().zip(standings) {
            let cell_run = &mut *one.cell_run;
            let max_s = MAX_SHARE * cell_run.planned.rule().hard_time_s;
            let has_ended = cell_run.has_ended();
            one.is_open = standing == Standing::Open && !has_ended && cell_run.series.spent_s < max_s;
            if standing == Standing::Behind && !has_ended {
                cell_run.row.screened = true;
                cell_run.series.stopped = Some(Reason::Screened);
                self.conclude(cell_run)?;
            }
        }
        Ok(())
    }
}
