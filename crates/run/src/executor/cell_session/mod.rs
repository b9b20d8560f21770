//! Exchanges the messages about one cell with its worker: prepare, measure, verify, release.

mod exchange;

use std::collections::HashMap;
use std::time::{Duration, Instant};

use gpubench_backend::WorkerId;
use gpubench_backend::protocol::{Reply, Request};
use gpubench_backend::verify::failed_altered;
use gpubench_ops::{self as op, Decisive};
use gpubench_report::Origin;
use gpubench_report::error::Unavailable;
use gpubench_report::measure::batch::Batch;
use gpubench_report::measure::stopping::{self, Rule, Step};
use gpubench_report::report::{Outcome, Row, check_row};

use super::cell_run::{CellRun, NO_SAMPLES};
use super::earlier::Earlier;
use super::judge::AnswerJudge;
use super::rounds::screen;
use super::workers::states::add_libraries;
use super::workers::{Interrupted, NO_ANSWER, NoWorker, Workers};
use crate::observe::Observer;

enum SessionEnd {
    /// The row is complete, and the worker can go on.
    Row,
    /// The row is complete, and the worker must be replaced.
    Replace,
    /// The worker is lost for this reason. The row fails, unless no new worker can start.
    Lost(String),
    /// Memory is short while workers hold other jobs.
    Crowded(Unavailable),
    Interrupted,
}

type Steps<T = ()> = Result<T, SessionEnd>;

impl From<Interrupted> for SessionEnd {
    fn from(_: Interrupted) -> Self {
        SessionEnd::Interrupted
    }
}

/// The fingerprint of the operands of each case, and the backend that reported it first.
type Inputs = HashMap<String, (String, String)>;

pub(crate) struct CellSession<'a> {
    pub workers: Workers,
    pub(crate) observer: &'a mut dyn Observer,
    pub inputs: Inputs,
    pub(crate) judge: AnswerJudge,
    /// What an earlier start of the same run has left.
    pub(crate) earlier: Option<&'a Earlier>,
    /// The time limit of a cell, as the user set it.
    pub limit: Duration,
    /// Seconds of sampling so far, of all cells.
    pub(crate) sampled_s: f64,
}

impl CellSession<'_> {
    /// Prepares the cell unless a live worker holds its job. If memory is short, releases every job and tries again.
    pub(crate) fn prepare(&mut self, cell_run: &mut CellRun<'_>) -> Result<(), Interrupted> {
        if cell_run.has_ended() || self.holds(cell_run) {
            return Ok(());
        }
        let mut attempt = self.prepare_steps(cell_run);
        if let Err(SessionEnd::Crowded(_)) = attempt {
            // Workers share the memory of the host, so the jobs of every worker count.
            let held = self.workers.held_jobs();
            held.iter().try_for_each(|(worker, job)| self.release_job(worker, *job))?;
            if !held.is_empty() {
                attempt = self.prepare_steps(cell_run);
            }
        }
        self.after(cell_run, attempt)
    }

    pub(crate) fn sample(
        &mut self,
        cell_run: &mut CellRun<'_>,
        rule: &Rule,
        round: u32,
    ) -> Result<(), Interrupted> {
        if cell_run.has_ended() {
            return Ok(());
        }
        let attempt =
            self.sample_steps(cell_run, rule, round).and_then(|()| self.verify_steps(cell_run, false));
        self.after(cell_run, attempt)
    }

    /// Takes a short batch of samples.
    pub(crate) fn screen(&mut self, cell_run: &mut CellRun<'_>, is_warm: bool) -> Result<(), Interrupted> {
        if cell_run.has_ended() {
            return Ok(());
        }
        let first_s = cell_run.row.phases.as_ref().map_or(0.0, |phases| phases.first_s);
        let batch = screen::batch(first_s, is_warm, cell_run.planned.rule().hard_time_s);
        let turn = self.workers.give_turn(&cell_run.worker, self.observer).map_err(SessionEnd::from);
        let attempt = turn.and_then(|()| self.measure(cell_run, batch, 0));
        self.after(cell_run, attempt)
    }

    /// Has the worker check the timed answers, and that one more execution writes the whole answer again. A cell whose
    /// worker was lost after its last round has been checked after that round.
    pub(crate) fn verify(&mut self, cell_run: &mut CellRun<'_>) -> Result<(), Interrupted> {
        if cell_run.has_ended() || !cell_run.series.has_samples() || !self.holds(cell_run) {
            return Ok(());
        }
        let attempt = self.verify_steps(cell_run, true);
        self.after(cell_run, attempt)
    }

    /// Has the worker release the cell's job. A lost worker holds none.
    pub(crate) fn release(&mut self, cell_run: &mut CellRun<'_>) -> Result<(), Interrupted> {
        match self.holds(cell_run) {
            true => self.release_job(&cell_run.worker, cell_run.job()),
            false => Ok(()),
        }
    }

    fn release_job(&mut self, worker: &WorkerId, job: u64) -> Result<(), Interrupted> {
        self.judge.rest();
        self.workers.release(worker, job, self.limit)
    }

    fn holds(&self, cell_run: &CellRun<'_>) -> bool {
        self.workers.holds(&cell_run.worker, cell_run.job())
    }

    /// Completes the row of a cell whose session has ended, and replaces a lost worker.
    fn after(&mut self, cell_run: &mut CellRun<'_>, attempt: Steps) -> Result<(), Interrupted> {
        match attempt {
            Ok(()) => Ok(()),
            // A failed cell no longer needs its memory.
            Err(SessionEnd::Row) => self.release(cell_run),
            Err(SessionEnd::Crowded(short)) => {
                cell_run.skip(short);
                self.release(cell_run)
            }
            Err(SessionEnd::Replace) => {
                self.workers.discard(&cell_run.worker);
                Ok(())
            }
            Err(SessionEnd::Lost(reason)) => {
                self.workers.discard(&cell_run.worker);
                match self.workers.ready(&cell_run.worker, self.observer)? {
                    Err(_) => cell_run.lose(Outcome::Failed, reason, None),
                    // The new worker starts, so the cell itself caused the loss.
                    Ok(_) => cell_run.fail(reason),
                }
                Ok(())
            }
            Err(SessionEnd::Interrupted) => {
                // The worker may be in the middle of a cell; do not wait for it.
                self.workers.discard(&cell_run.worker);
                Err(Interrupted)
            }
        }
    }

    fn prepare_steps(&mut self, cell_run: &mut CellRun<'_>) -> Steps {
        cell_run.is_preparing = true;
        let case = &cell_run.planned.cell.case;
        if let Some(reason) = op::find(&case.op).and_then(|op| op.nothing_to_compute(case)) {
            let fix = if case.matrix.is_some() {
                "choose another matrix"
            } else {
                "choose a larger size or density"
            };
            cell_run.skip(Unavailable::new(reason, fix));
            return Err(SessionEnd::Row);
        }
        if let Err(NoWorker { outcome, cause }) = self.workers.ready(&cell_run.worker, self.observer)? {
            cell_run.lose(outcome, cause.reason, cause.fix);
            return Err(SessionEnd::Row);
        }
        if !self.is_external(cell_run) {
            self.judge.rest();
        }
        // The worker may time choices of threads.
        self.workers.give_turn(&cell_run.worker, self.observer)?;
        let (cell, threads, picked) = (cell_run.asked(), cell_run.row.threads, cell_run.row.picked.clone());
        let (job, answer) = (cell_run.job(), self.answer_file(cell_run)?);
        let reply = self.exchange(cell_run, &Request::Prepare { job, cell, threads, picked, answer })?;
        let Reply::Prepared { error, inputs, phases, picked, threads, libraries } = reply else {
            return Err(ended(cell_run, reply));
        };
        cell_run.is_preparing = false;
        let slot = self.workers.slot(&cell_run.worker);
        slot.jobs.insert(job);
        cell_run.series.timer_overhead = slot.report.timer_overhead.clone();
        let same_libraries = self
            .earlier
            .map_or(Ok(()), |earlier| earlier.check_libraries(&cell_run.worker.backend, &libraries));
        add_libraries(&mut slot.report, libraries);
        // A cell prepared again after its worker was lost keeps the times of its first preparation.
        (cell_run.row.error, cell_run.row.inputs) = (Some(error), Some(inputs.clone()));
        cell_run.row.phases.get_or_insert(phases);
        if let (Some(picked), None) = (&picked, &cell_run.planned.variant.origin) {
            cell_run.row.origin = Some(Origin::of(&cell_run.row.backend, &cell_run.row.case.op, picked));
        }
        (cell_run.row.picked, cell_run.row.threads) = (picked, threads);
        if !error.is_right() {
            // Do not rely on the worker's verdict.
            let reason = format!("the answer is wrong: {}", error.complaint());
            return Err(closed(cell_run, Outcome::Incorrect, reason));
        }
        same_libraries.map_err(|reason| closed(cell_run, Outcome::Failed, reason.to_string()))?;
        let checked = check_row(&cell_run.row).map_err(|problem| format!("{problem:#}"));
        let agreed = checked.and_then(|()| agree(&mut self.inputs, &cell_run.row, &inputs));
        agreed.map_err(|reason| closed(cell_run, Outcome::Failed, reason))?;
        // Other workers alter an operand themselves, before their first sample.
        match self.judge.decisive(job).filter(|_| self.is_external(cell_run)) {
            Some(decisive) => self.check_answer(cell_run, false, Some(decisive)),
            None => Ok(()),
        }
    }

    fn sample_steps(&mut self, cell_run: &mut CellRun<'_>, rule: &Rule, round: u32) -> Steps {
        self.workers.give_turn(&cell_run.worker, self.observer)?;
        let shortest_s = cell_run.series.seconds().into_iter().min_by(f64::total_cmp);
        let mut warm_up = Some(cell_run.planned.sampling.warm_up(round, shortest_s));
        loop {
            let in_round = cell_run.series.samples_in(round);
            let series = &cell_run.series;
            let count = match stopping::next(rule, &series.seconds(), in_round, series.spent_s, round) {
                Step::Take(count) => count,
                Step::EndRound => return Ok(()),
                Step::Stop(reason) => {
                    cell_run.series.stopped = Some(reason);
                    return Ok(());
                }
            };
            let max_s = (rule.hard_time_s - series.spent_s).max(0.0);
            let batch = Batch { warm_up: warm_up.take(), samples: count, max_s };
            self.measure(cell_run, batch, round)?;
        }
    }

    fn measure(&mut self, cell_run: &mut CellRun<'_>, batch: Batch, round: u32) -> Steps {
        match self.exchange(cell_run, &Request::Measure { job: cell_run.job(), batch })? {
            Reply::Measured { clock, mut result } if !result.samples.is_empty() => {
                let unaltered = result.unaltered.take();
                cell_run.row.unaltered = cell_run.row.unaltered.take().or(unaltered);
                self.sampled_s += result.spent_s;
                cell_run.series.add(clock, result, round);
                Ok(())
            }
            Reply::Measured { .. } => Err(closed(cell_run, Outcome::Failed, NO_SAMPLES.into())),
            other => Err(ended(cell_run, other)),
        }
    }

    /// Has the worker compare the timed answer with the judged one; with `execute`, also the answer of one more execution.
    fn verify_steps(&mut self, cell_run: &mut CellRun<'_>, execute: bool) -> Steps {
        // An external worker gives one answer at a time.
        if execute && self.is_external(cell_run) && cell_run.series.has_unchecked() {
            self.check_answer(cell_run, false, None)?;
        }
        self.check_answer(cell_run, execute, None)?;
        cell_run.series.passed_check();
        Ok(())
    }

    /// Has an answer of a prepared cell checked: the last one, with `execute` one more, or that to an altered operand. A call
    /// that fails on that operand alone costs the cell nothing.
    fn check_answer(&mut self, cell_run: &mut CellRun<'_>, execute: bool, alter: Option<Decisive>) -> Steps {
        let start = Instant::now();
        let (job, answer) = (cell_run.job(), self.answer_file(cell_run)?);
        let reply = self.exchange(cell_run, &Request::Verify { job, execute, alter, answer })?;
        if let Some(phases) = &mut cell_run.row.phases {
            phases.verify_s += start.elapsed().as_secs_f64();
        }
        match reply {
            Reply::Verified => Ok(()),
            Reply::Failed { reason, device_lost: false } if alter.is_some() => {
                cell_run.row.unaltered = Some(failed_altered(&reason));
                Ok(())
            }
            other => Err(ended(cell_run, other)),
        }
    }
}

fn closed(cell_run: &mut CellRun<'_>, outcome: Outcome, reason: String) -> SessionEnd {
    cell_run.close(outcome, reason, None);
    SessionEnd::Row
}

/// Records the fingerprint of a row's operands; returns an error if another backend used others for the same case.
fn agree(inputs: &mut Inputs, row: &Row, fingerprint: &str) -> Result<(), String> {
    let first = || (row.backend.clone(), fingerprint.to_owned());
    let (backend, known) = inputs.entry(row.case.key()).or_insert_with(first);
    if known == fingerprint {
        return Ok(());
    }
    Err(format!(
        "inputs differ from those of {backend} ({fingerprint}, not {known}), so times cannot be compared. Check the \
         generator against the vectors in docs/worker-protocol.md"
    ))
}

/// Completes the row from a reply other than the expected one.
fn ended(cell_run: &mut CellRun<'_>, reply: Reply) -> SessionEnd {
    match reply {
        Reply::Skipped { reason, fix, crowded: true } => SessionEnd::Crowded(Unavailable { reason, fix }),
        Reply::Incorrect { error, inputs, phases, reason } => {
            (cell_run.row.error, cell_run.row.inputs) = (Some(error), Some(inputs));
            cell_run.row.phases = Some(phases);
            closed(cell_run, Outcome::Incorrect, reason)
        }
        Reply::Refuted { reason, error } => {
            cell_run.row.error = error.or(cell_run.row.error);
            closed(cell_run, Outcome::Incorrect, reason)
        }
        Reply::Skipped { reason, fix, crowded: false } => {
            cell_run.skip(Unavailable { reason, fix });
            SessionEnd::Row
        }
        Reply::Failed { reason, device_lost: false } => {
            cell_run.fail(reason);
            SessionEnd::Row
        }
        Reply::Failed { reason, device_lost: true } => SessionEnd::Lost(reason),
        _ => {
            cell_run.fail(NO_ANSWER.into());
            SessionEnd::Replace
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpubench_report::report::example;

    #[test]
    fn backends_with_different_inputs_for_the_same_case_are_refused() {
        let mut inputs = Inputs::new();
        let mut agree = |n, backend, fingerprint| {
            let row = example::measured("fft", n, backend, "realfft", 1e-3);
            super::agree(&mut inputs, &row, fingerprint)
        };
        assert_eq!((agree(4, "cpu", "1f"), agree(4, "cuda", "1f")), (Ok(()), Ok(())));
        let refusal = agree(4, "cuda", "2f").unwrap_err();
        assert!(refusal.starts_with("inputs differ from those of cpu"), "{refusal}");
        assert_eq!(agree(8, "cuda", "2f"), Ok(()), "another case has inputs of its own");
    }
}
