//! Divides the time budget of a run: each block gets its share, and the time left after the base rounds goes to the
//! cells with the widest intervals.

use gpubench_report::measure::sampling::HARD_FACTOR;
use gpubench_report::measure::stats::relative_half_width;
use gpubench_report::measure::stopping::{Reason, Rule};

use super::PlannedCell;
use super::cell_run::CellRun;

/// Time of one extra round, as a share of the cell's base time.
const SLICE: f64 = 0.25;
const REFINEMENT_SHARE: f64 = 0.15;
/// Minimum time left of a cell's limit for another round, in base times.
const MARGIN: f64 = 1.0;

/// Returns the planned cells' part of `all_s` seconds: all except the share of refinement.
pub(crate) fn of_plan(all_s: f64, refine: bool) -> f64 {
    if refine { (1.0 - REFINEMENT_SHARE) * all_s } else { all_s }
}

/// Returns the seconds for the next `cells` of the `left` cells, when the run has spent `spent_s` of `budget_s`.
pub(crate) fn share(budget_s: f64, spent_s: f64, cells: usize, left: usize) -> f64 {
    (budget_s - spent_s).max(0.0) * cells as f64 / left.max(cells).max(1) as f64
}

/// Returns the rule of a cell's base rounds when each cell may spend `share_s` seconds.
pub(crate) fn base(mut rule: Rule, share_s: f64) -> Rule {
    rule.max_time_s = rule.max_time_s.min(share_s);
    rule.hard_time_s = rule.hard_time_s.min(HARD_FACTOR * rule.max_time_s);
    rule
}

/// Returns the rule of one more round for a cell that has spent `spent_s` so far.
pub(crate) fn extra(planned: &PlannedCell, spent_s: f64) -> Rule {
    let mut rule = planned.rule();
    rule.max_time_s = spent_s + SLICE * planned.sampling.max_time_s;
    rule.hard_time_s = rule.hard_time_s.max(rule.max_time_s);
    rule
}

/// Returns the cell whose interval exceeds its target by the most among those that more samples can help.
pub(crate) fn widest<'r, 'p>(cell_runs: &'r mut [CellRun<'p>]) -> Option<&'r mut CellRun<'p>> {
    let excess = |cell_run: &CellRun<'_>| {
        // Another round must not run into the limit of the cell, and lose what it has.
        let fits = cell_run.left.as_secs_f64() > MARGIN * cell_run.planned.sampling.max_time_s;
        let open = cell_run.series.stopped.is_some_and(Reason::is_open) && !cell_run.has_ended() && fits;
        open.then(|| relative_half_width(&cell_run.series.seconds()) / cell_run.planned.precision())
    };
    let wide = cell_runs.iter_mut().filter_map(|cell_run| Some((excess(cell_run)?, cell_run)));
    wide.filter(|(excess, _)| *excess > 1.0).max_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, widest)| widest)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::executor::cell_run::tests::planned;
    use gpubench_backend::Sample;
    use std::time::Duration;

    #[test]
    fn a_share_splits_the_rest_of_the_budget_evenly_over_the_cells_left() {
        assert_eq!(share(100.0, 0.0, 5, 10), 50.0);
        assert_eq!(share(100.0, 60.0, 5, 5), 40.0);
        assert_eq!(share(100.0, 160.0, 5, 5), 0.0);
    }

    #[test]
    fn the_widest_open_cell_is_next_and_settled_ones_are_left_alone() {
        let planned = planned(2, "a");
        let cell_run = |position, spread: f64, stopped| {
            let mut cell_run = CellRun::new(position, &planned, Duration::from_secs(60));
            let times = (0..12).map(|k| Sample::of_host(1.0 + spread * f64::from(k)));
            cell_run.series.samples = times.collect();
            cell_run.series.stopped = Some(stopped);
            cell_run
        };
        let mut cell_runs = vec![
            cell_run(0, 0.01, Reason::OutOfTime),
            cell_run(1, 0.05, Reason::OutOfTime),
            cell_run(2, 0.5, Reason::Plateau),
            cell_run(3, 0.0, Reason::OutOfTime),
            cell_run(4, 0.03, Reason::Drift),
        ];
        let next = |cell_runs: &mut [CellRun<'_>]| widest(cell_runs).map(|cell_run| cell_run.position);
        assert_eq!(next(&mut cell_runs), Some(1));
        cell_runs[1].series.stopped = Some(Reason::Precise);
        assert_eq!(next(&mut cell_runs), Some(4));
        cell_runs[4].series.stopped = Some(Reason::Precise);
        assert_eq!(next(&mut cell_runs), Some(0));
        cell_runs.truncate(0);
        assert_eq!(next(&mut cell_runs), None);
    }
}
