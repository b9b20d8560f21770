//! Tracks the run of one cell: its worker, its samples so far and its row.

use std::time::Duration;

use gpubench_backend::WorkerId;
use gpubench_ops as op;
use gpubench_report::case::Cell;
use gpubench_report::error::Unavailable;
use gpubench_report::measure::stopping::Reason;
use gpubench_report::report::{self, Outcome, Row};

use super::PlannedCell;
use super::series::CellSamples;

pub(crate) const NO_SAMPLES: &str = "the worker returned no usable samples";

pub(crate) struct CellRun<'a> {
    /// Position in the plan, which is also the number of the job.
    pub position: usize,
    pub planned: &'a PlannedCell,
    pub(crate) worker: WorkerId,
    /// True while the worker prepares the cell, so that a failure says nothing about earlier samples.
    pub(crate) is_preparing: bool,
    ended: bool,
    pub row: Row,
    pub series: CellSamples,
    /// Time left of the cell's limit.
    pub left: Duration,
}

impl<'a> CellRun<'a> {
    /// Starts the run of a cell that may take `limit` in total.
    pub(crate) fn new(position: usize, planned: &'a PlannedCell, limit: Duration) -> Self {
        let (row, series) = (blank(planned), CellSamples::default());
        let worker = planned.worker();
        CellRun { position, planned, worker, is_preparing: false, ended: false, row, series, left: limit }
    }

    /// Returns the run of a cell whose row an earlier start of the run has finished.
    pub(crate) fn resumed(position: usize, planned: &'a PlannedCell, row: Row) -> Self {
        CellRun { ended: true, row, ..CellRun::new(position, planned, Duration::ZERO) }
    }

    /// Returns the number by which workers know its job.
    pub(crate) fn job(&self) -> u64 {
        self.position as u64
    }

    /// Returns the cell under the variant's name in the worker, without a number of threads.
    pub(crate) fn asked(&self) -> Cell {
        Cell { variant: self.planned.variant.name.to_string(), ..self.planned.cell.clone() }
    }

    /// Returns whether its row is complete, so that it gets no further turn.
    pub(crate) fn has_ended(&self) -> bool {
        self.ended
    }

    /// Ends it without a time.
    pub(crate) fn close(&mut self, outcome: Outcome, reason: String, fix: Option<String>) {
        self.ended = true;
        (self.row.outcome, self.row.reason, self.row.fix) = (outcome, Some(reason), fix);
        // A wrong answer counts, however far behind the variant is.
        self.row.screened &= outcome == Outcome::Skipped;
        self.row.execute = None;
        self.row = checked_row(self.row.clone(), self.planned);
    }

    /// Ends it as failed. A failure while it was prepared again says nothing about the samples of earlier rounds, which are kept.
    pub(crate) fn fail(&mut self, reason: String) {
        match self.is_preparing {
            true => self.lose(Outcome::Failed, reason, None),
            false => self.close(Outcome::Failed, reason, None),
        }
    }

    /// Ends it because something is missing; samples taken before are kept.
    pub(crate) fn skip(&mut self, missing: Unavailable) {
        self.lose(Outcome::Skipped, missing.reason, missing.fix);
    }

    /// Ends it because its worker or device is gone, which is not the cell's fault. The samples of earlier rounds, whose
    /// answers were checked, are kept; without any it ends as `outcome`.
    pub(crate) fn lose(&mut self, outcome: Outcome, reason: String, fix: Option<String>) {
        self.series.drop_unchecked();
        if !self.series.has_samples() {
            return self.close(outcome, reason, fix);
        }
        self.series.stopped = Some(Reason::EndedEarly);
        self.series.lost_because = Some(reason);
        self.conclude();
    }

    /// Ends it with the samples it has; a cell without usable ones has failed.
    pub(crate) fn conclude(&mut self) {
        if self.ended {
            return;
        }
        match self.series.execute(self.planned) {
            Some(execute) => {
                self.ended = true;
                (self.row.execute, self.row.outcome) = (Some(execute), Outcome::Measured);
                self.row = checked_row(self.row.clone(), self.planned);
            }
            None => self.close(Outcome::Failed, NO_SAMPLES.into(), None),
        }
    }

    /// Returns the row as it would be if the run ended now; `None` for a cell that has no samples and has not ended.
    pub(crate) fn snapshot(&self) -> Option<Row> {
        if self.ended {
            return Some(self.row.clone());
        }
        let execute = Some(self.series.execute(self.planned)?);
        let row = Row { execute, outcome: Outcome::Measured, ..self.row.clone() };
        Some(checked_row(row, self.planned))
    }
}

/// Returns the row, or a failed row if a worker sent values that no reader of a report accepts, such as 1e300 s.
fn checked_row(row: Row, planned: &PlannedCell) -> Row {
    match report::check_row(&row) {
        Ok(()) => row,
        Err(problem) => {
            let reason = format!("the worker sent an invalid reply: {problem:#}");
            let fix = Some("report this as a bug, with the versions of gpubench and of the worker".into());
            Row { outcome: Outcome::Failed, reason: Some(reason), fix, ..blank(planned) }
        }
    }
}

fn blank(planned: &PlannedCell) -> Row {
    let mut row = Row::blank(planned.cell.clone(), planned.variant.side, planned.variant.accuracy);
    row.origin = Some(planned.variant.origin_in(&row.backend));
    row.work = op::find(&row.case.op).map(|op| op.work(&row.case)).unwrap_or_default();
    row
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use gpubench_backend::{Accuracy, Sample, Shapes, Side, Variant};
    use gpubench_report::case::{Cache, Case, Cell, DType};
    use gpubench_report::measure::grade::{Grade, WarningKind};
    use gpubench_report::measure::sampling::Sampling;

    /// Returns a planned cell of `sin` on the CPU.
    pub(crate) fn planned(n: u64, variant: &str) -> PlannedCell {
        let case = Case::square("sin", n, DType::F32, 1);
        let cell = Cell { case, backend: "cpu".into(), variant: variant.into(), cache: Cache::Hot };
        let variant = Variant {
            op: "sin".into(),
            name: variant.to_owned().into(),
            summary: "".into(),
            side: Side::Cpu,
            accuracy: Accuracy::Ieee,
            origin: None,
            default: true,
            dtypes: DType::ALL.into(),
            shapes: Shapes::Square,
            library: None,
        };
        PlannedCell { cell, variant, sampling: Sampling::default(), may_be_screened: true }
    }

    fn sampled(planned: &PlannedCell) -> CellRun<'_> {
        let mut cell_run = CellRun::new(0, planned, Duration::from_secs(1));
        cell_run.series.samples = vec![Sample::of_host(1.0); 12];
        cell_run.series.rounds = vec![0; 12];
        cell_run.series.passed_check();
        cell_run
    }

    #[test]
    fn a_cell_without_samples_has_no_snapshot_and_fails_when_concluded() {
        let planned = planned(2, "a");
        let mut cell_run = CellRun::new(0, &planned, Duration::from_secs(1));
        assert_eq!(cell_run.snapshot(), None);
        cell_run.conclude();
        assert_eq!(cell_run.row.outcome, Outcome::Failed);
        assert_eq!(cell_run.snapshot(), Some(cell_run.row.clone()));
    }

    #[test]
    fn a_cell_lost_after_samples_keeps_them_and_gives_the_reason() {
        let planned = planned(2, "a");
        let mut cell_run = sampled(&planned);
        cell_run.lose(Outcome::Failed, "the device is gone".into(), None);
        let execute = cell_run.row.execute.as_ref().unwrap();
        assert_eq!((cell_run.row.outcome, execute.samples_s.len()), (Outcome::Measured, 12));
        assert_eq!(execute.stopped, Some(Reason::EndedEarly));
        let warning =
            execute.warnings.iter().find(|warning| warning.kind == WarningKind::EndedEarly).unwrap();
        assert!(warning.text.contains("the device is gone") && execute.grade >= Some(Grade::C));
    }

    #[test]
    fn samples_whose_answers_were_never_checked_are_not_kept() {
        let planned = planned(2, "a");
        let mut cell_run = sampled(&planned);
        cell_run.series.samples.push(Sample::of_host(2.0));
        cell_run.series.rounds.push(1);
        let mut unchecked = sampled(&planned);
        unchecked.series.checked = 0;
        let missing = || Unavailable::new("no memory", "free some");
        cell_run.skip(missing());
        assert_eq!(cell_run.row.execute.map(|execute| execute.samples_s.len()), Some(12));
        unchecked.skip(missing());
        assert_eq!((unchecked.row.outcome, unchecked.row.execute.is_none()), (Outcome::Skipped, true));
    }

    #[test]
    fn a_failure_leaves_times_only_while_the_cell_is_prepared_again() {
        let planned = planned(2, "a");
        for is_preparing in [true, false] {
            let mut cell_run = CellRun { is_preparing, ..sampled(&planned) };
            assert_eq!(cell_run.snapshot().map(|row| row.outcome), Some(Outcome::Measured));
            cell_run.fail("no memory".into());
            cell_run.conclude();
            assert_eq!(cell_run.row.execute.is_some(), is_preparing);
        }
    }
}
