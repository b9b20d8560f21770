//! Screening: a few executions decide which of the default variants of a side are sampled to precision. The others keep
//! a row with that short time.

mod race;

use gpubench_report::Origin;
use gpubench_report::measure::batch::{Batch, WarmUp};
use gpubench_text::grouped::grouped;

pub(crate) use race::{Standing, keep_faster, standings};

use super::PlannedCell;
use super::cell_run::CellRun;

/// Number of batches after which a variant that may still be near the best is sampled to precision.
pub(crate) const MAX_BATCHES: u32 = 3;
/// Samples of a batch, as many as fit into [`BATCH_S`].
const MIN_SAMPLES: f64 = 2.0;
const MAX_SAMPLES: f64 = 6.0;
const BATCH_S: f64 = 0.03;
/// Seconds from which an execution is long: clocks and threads are awake after the first, so it needs no warm-up.
const LONG_S: f64 = 0.05;
const WARM_UP: WarmUp = WarmUp { executions: 1, min_s: 0.01, max_s: 0.05 };
/// Returns the seconds of short samples after which a cell gets no further batch: half of what its samples may take at most,
/// so that a race leaves time for the rounds.
pub(crate) fn max_s(planned: &PlannedCell) -> f64 {
    0.5 * planned.rule().hard_time_s
}

/// Returns the request for one batch of a cell whose first execution took `first_s` seconds, and that may take `max_s`.
pub(crate) fn batch(first_s: f64, is_warm: bool, max_s: f64) -> Batch {
    let none = WarmUp { executions: 0, min_s: 0.0, max_s: 0.0 };
    let warm_up = (!is_warm).then_some(if first_s < LONG_S { WARM_UP } else { none });
    let samples = (BATCH_S / first_s.max(1e-9)).clamp(MIN_SAMPLES, MAX_SAMPLES);
    Batch { warm_up, samples: samples as u32, max_s }
}

pub(crate) struct Competitor<'r, 'p> {
    pub cell_run: &'r mut CellRun<'p>,
    /// Seconds of the executions of its fastest batch; empty before the first batch, and where it failed.
    pub best: Vec<f64>,
    /// True if another batch may decide whether it is behind.
    pub is_open: bool,
}

/// Splits the cells of one case into those that compete: the variants of one backend and side in one cache state that
/// may be screened, those that a reader can call and gpubench's tuned ones apart. Cells without a competitor are not listed.
pub(crate) fn races<'r, 'p>(case: &'r mut [&mut CellRun<'p>]) -> Vec<Vec<Competitor<'r, 'p>>> {
    let key = |planned: &'p PlannedCell| {
        let is_tuned = planned.variant.origin_in(&planned.cell.backend) == Origin::Tuned;
        (planned.cell.backend.as_str(), planned.variant.side, planned.cell.cache, is_tuned)
    };
    let competing = case.iter_mut().filter(|cell_run| cell_run.may_be_screened());
    let races = grouped(
        competing
            .map(|cell_run| (key(cell_run.planned), Competitor { cell_run, best: vec![], is_open: true })),
    );
    races.into_iter().map(|(_, race)| race).filter(|race| race.len() > 1).collect()
}
