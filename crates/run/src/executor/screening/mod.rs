//! Screening: a few executions decide which of the default variants of a side are sampled to precision. The others keep
//! a row with that short time.

mod copies;
mod race;

use gpubench_ops as op;
use gpubench_report::Origin;
use gpubench_report::measure::batch::{Batch, WarmUp};
use gpubench_text::grouped::grouped;

pub(crate) use copies::Copies;
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
/// Maximum work, in FLOP or bytes, of the case in which copies of a library are compared: it takes milliseconds on any
/// machine, and enough that the start of a call does not decide.
const MAX_COPY_WORK: f64 = 5e9;

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

/// Returns whether the cells of one case are those of `cells` in which copies of a library are compared: the largest
/// case of its op that is quick.
pub(crate) fn compares_copies(cells: &[&PlannedCell], of_case: &[CellRun<'_>]) -> bool {
    let of_case: Vec<&PlannedCell> = of_case.iter().map(|cell_run| cell_run.planned).collect();
    let is_copy = |one: &PlannedCell, other: &PlannedCell| {
        let routine = one.variant.copy_of();
        one.variant.library != other.variant.library
            && routine.is_some()
            && routine == other.variant.copy_of()
    };
    let has_copies = of_case
        .iter()
        .enumerate()
        .any(|(index, one)| one.may_be_screened && of_case[..index].iter().any(|other| is_copy(one, other)));
    let Some(case) = of_case.first().filter(|_| has_copies) else { return false };
    let work = |planned: &PlannedCell| {
        let work = op::find(&planned.cell.case.op).map(|op| op.work(&planned.cell.case));
        work.map_or(0.0, |work| work.flop.max(work.bytes))
    };
    let of_op = || cells.iter().filter(|other| other.cell.case.op == case.cell.case.op);
    let quick = of_op().filter(|other| work(other) <= MAX_COPY_WORK);
    let largest = quick.max_by(|a, b| work(a).total_cmp(&work(b)));
    let smallest = || of_op().min_by(|a, b| work(a).total_cmp(&work(b)));
    let chosen = largest.or_else(smallest);
    chosen.is_some_and(|chosen| chosen.cell.case == case.cell.case)
}
