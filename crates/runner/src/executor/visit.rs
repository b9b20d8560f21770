//! Exchanges the messages about one cell with its worker: prepare, measure, verify, release.

use std::borrow::Cow;
use std::time::{Duration, Instant};

use gpubench_backend::protocol::{Reply, Request};
use gpubench_model::error::Unavailable;
use gpubench_model::measure::batch::Batch;
use gpubench_model::measure::stopping::{self, Rule, Step};
use gpubench_model::report::{Outcome, check_row};

use super::course::{Course, NO_SAMPLES};
use super::inputs::Inputs;
use super::workers::{Hindrance, NO_ANSWER, SEE_DOCTOR, Workers, spell};
use crate::observe::Observer;
use crate::worker::client::Loss;

/// The user has ended the run.
#[derive(Debug, thiserror::Error)]
#[error("the user has ended the run")]
pub(crate) struct Interrupted;

/// The reason that a session ends early.
enum End {
    /// The row is complete, and the worker can go on.
    Row,
    /// The row is complete, and the worker must be replaced.
    Replace,
    /// The worker is lost for this reason. The row fails, unless no new worker can start.
    Lost(String),
    /// Memory is short while workers hold other jobs.
    Crowded(Unavailable),
    /// The user has ended the run.
    Interrupted,
}

pub(crate) struct Visit<'a> {
    pub workers: Workers,
    pub(crate) observer: &'a mut dyn Observer,
    /// The fingerprints of operands so far.
    pub inputs: Inputs,
    /// The time limit of a cell, as the user set it.
    pub limit: Duration,
}

impl Visit<'_> {
    /// Prepares the cell unless a live worker holds its job. Returns the worker's reason if memory is short and releasing
    /// other jobs may help.
    pub(crate) fn prepare(&mut self, course: &mut Course<'_>) -> Result<Option<Unavailable>, Interrupted> {
        if course.has_ended() || self.holds(course) {
            return Ok(None);
        }
        let attempt = self.prepare_steps(course);
        self.after(course, attempt)
    }

    /// Samples a prepared cell in `round`, by `rule`.
    pub(crate) fn sample(
        &mut self,
        course: &mut Course<'_>,
        rule: &Rule,
        round: u32,
    ) -> Result<(), Interrupted> {
        if course.has_ended() {
            return Ok(());
        }
        let attempt = self.sample_steps(course, rule, round).and_then(|()| self.verify_steps(course, false));
        self.after(course, attempt).map(|_| ())
    }

    /// Has the worker check the timed answers, and that one more execution writes the whole answer again. A cell whose
    /// worker was lost after its last round has been checked after that round.
    pub(crate) fn verify(&mut self, course: &mut Course<'_>) -> Result<(), Interrupted> {
        if course.has_ended() || !course.series.has_samples() || !self.holds(course) {
            return Ok(());
        }
        let attempt = self.verify_steps(course, true);
        self.after(course, attempt).map(|_| ())
    }

    /// Has the worker release the cell's job. A lost worker holds none.
    pub(crate) fn release(&mut self, course: &mut Course<'_>) -> Result<(), Interrupted> {
        if !self.holds(course) {
            return Ok(());
        }
        course.held_by = None;
        let request = Request::Release { job: course.job() };
        self.workers.tell(&course.worker, &request, self.limit).map_err(|_| Interrupted)
    }

    /// Returns whether a live worker holds the cell's job.
    pub(crate) fn holds(&self, course: &Course<'_>) -> bool {
        course.held_by == Some(self.workers.generation(&course.worker))
    }

    fn after(
        &mut self,
        course: &mut Course<'_>,
        attempt: Result<(), End>,
    ) -> Result<Option<Unavailable>, Interrupted> {
        match attempt {
            Ok(()) => Ok(None),
            // A failed cell no longer needs its memory.
            Err(End::Row) => self.release(course).map(|()| None),
            Err(End::Crowded(short)) => Ok(Some(short)),
            Err(End::Replace) => {
                self.workers.discard(&course.worker);
                Ok(None)
            }
            Err(End::Lost(reason)) => {
                self.workers.discard(&course.worker);
                let replaced = self.workers.ready(&course.worker, self.observer);
                match replaced.map(|_| ()) {
                    Err(Hindrance::Interrupted) => return Err(Interrupted),
                    Err(Hindrance::Unavailable(_) | Hindrance::Broken(_)) => {
                        course.lose(Outcome::Failed, reason, None);
                    }
                    // The new worker starts, so the cell itself caused the loss.
                    Ok(()) => course.close(Outcome::Failed, reason, None),
                }
                Ok(None)
            }
            Err(End::Interrupted) => {
                // The worker may be in the middle of a cell; do not wait for it.
                self.workers.discard(&course.worker);
                Err(Interrupted)
            }
        }
    }

    fn prepare_steps(&mut self, course: &mut Course<'_>) -> Result<(), End> {
        self.await_worker(course)?;
        // The worker may time choices of threads.
        self.workers.give_turn(&course.worker, self.observer).map_err(|_| End::Interrupted)?;
        let (cell, threads) = (course.asked(), course.row.threads);
        let reply = self.exchange(course, &Request::Prepare { job: course.job(), cell, threads })?;
        let Reply::Prepared { error, inputs, phases, picked, threads, libraries } = reply else {
            return Err(ended(course, reply));
        };
        course.held_by = Some(self.workers.generation(&course.worker));
        self.workers.note_libraries(&course.worker, libraries);
        course.series.timer_overhead = self.workers.timer_overhead(&course.worker);
        // A cell prepared again after its worker was lost keeps the times of its first preparation.
        (course.row.error, course.row.inputs) = (Some(error), Some(inputs.clone()));
        course.row.phases.get_or_insert(phases);
        (course.row.picked, course.row.threads) = (picked, threads);
        if !error.is_right() {
            // Do not rely on the worker's verdict.
            let reason = format!("the answer is wrong: {}", error.complaint());
            return Err(closed(course, Outcome::Incorrect, reason));
        }
        let checked = check_row(&course.row).map_err(|problem| format!("{problem:#}"));
        let agreed = checked.and_then(|()| self.inputs.agree(&course.row, &inputs));
        agreed.map_err(|reason| closed(course, Outcome::Failed, reason))
    }

    fn sample_steps(&mut self, course: &mut Course<'_>, rule: &Rule, round: u32) -> Result<(), End> {
        self.workers.give_turn(&course.worker, self.observer).map_err(|_| End::Interrupted)?;
        let (mut in_round, mut warm_up) = (0, Some(course.planned.sampling.warm_up(round)));
        loop {
            let series = &course.series;
            let count = match stopping::next(rule, &series.seconds(), in_round, series.spent_s, round) {
                Step::Take(count) => count,
                Step::EndRound => return Ok(()),
                Step::Stop(reason) => {
                    course.series.stopped = Some(reason);
                    return Ok(());
                }
            };
            let most_s = (rule.hard_time_s - series.spent_s).max(0.0);
            let batch = Batch { warm_up: warm_up.take(), samples: count, most_s };
            match self.exchange(course, &Request::Measure { job: course.job(), batch })? {
                Reply::Measured { clock, taken } if !taken.samples.is_empty() => {
                    in_round += taken.samples.len();
                    course.series.add(clock, taken, round);
                }
                Reply::Measured { .. } => {
                    return Err(closed(course, Outcome::Failed, NO_SAMPLES.into()));
                }
                other => return Err(ended(course, other)),
            }
        }
    }

    /// Has the worker compare the timed answer with the judged one; with `execute`, also the answer of one more execution.
    fn verify_steps(&mut self, course: &mut Course<'_>, execute: bool) -> Result<(), End> {
        let start = Instant::now();
        let reply = self.exchange(course, &Request::Verify { job: course.job(), execute })?;
        if let Some(phases) = &mut course.row.phases {
            phases.verify_s += start.elapsed().as_secs_f64();
        }
        match reply {
            Reply::Verified => {
                course.series.verified += 1;
                Ok(())
            }
            other => Err(ended(course, other)),
        }
    }

    fn await_worker(&mut self, course: &mut Course<'_>) -> Result<(), End> {
        match self.workers.ready(&course.worker, self.observer) {
            Ok(_) => Ok(()),
            Err(Hindrance::Interrupted) => Err(End::Interrupted),
            Err(Hindrance::Unavailable(missing)) => {
                course.skip(missing);
                Err(End::Row)
            }
            Err(Hindrance::Broken(reason)) => {
                course.lose(Outcome::Failed, reason, Some(SEE_DOCTOR.into()));
                Err(End::Row)
            }
        }
    }

    /// Sends a request and waits for its reply within the time left of the cell's limit.
    fn exchange(&mut self, course: &mut Course<'_>, request: &Request) -> Result<Reply, End> {
        let stop = self.workers.stop();
        let Ok(client) = self.workers.ready(&course.worker, self.observer) else {
            return Err(End::Interrupted);
        };
        let start = Instant::now();
        client.send(request);
        let mut phase = "before its first phase".into();
        let observer = &mut *self.observer;
        let reply = client.wait(start + course.left, stop, &mut |begun| {
            phase = phase_text(begun);
            observer.phase(begun);
        });
        course.left = course.left.saturating_sub(start.elapsed());
        reply.map_err(|loss| {
            let reason = match loss {
                Loss::Interrupted => return End::Interrupted,
                Loss::TimedOut => {
                    format!("timed out after {} {phase} (raise --cell-timeout)", spell(self.limit))
                }
                Loss::Gone(how) => format!("{how} ({phase})"),
            };
            End::Lost(reason)
        })
    }
}

/// Describes where in a cell's run a failure happened, from the phase that its worker announced last.
fn phase_text(phase: &str) -> Cow<'static, str> {
    match phase {
        "inputs" => "while generating its inputs".into(),
        "prepare" => "in its preparation".into(),
        "first" => "in its first execution".into(),
        "threads" => "while choosing its number of threads".into(),
        "check" => "while checking its answer".into(),
        "samples" => "while sampling".into(),
        "verify" => "while verifying timed answers".into(),
        other => format!("in phase {other}").into(),
    }
}

fn closed(course: &mut Course<'_>, outcome: Outcome, reason: String) -> End {
    course.close(outcome, reason, None);
    End::Row
}

/// Completes the row from a reply other than the expected one.
fn ended(course: &mut Course<'_>, reply: Reply) -> End {
    match reply {
        Reply::Skipped { reason, fix, crowded: true } => End::Crowded(Unavailable { reason, fix }),
        Reply::Incorrect { error, inputs, phases, reason } => {
            (course.row.error, course.row.inputs) = (Some(error), Some(inputs));
            course.row.phases = Some(phases);
            closed(course, Outcome::Incorrect, reason)
        }
        Reply::Refuted { reason, error } => {
            course.row.error = error.or(course.row.error);
            closed(course, Outcome::Incorrect, reason)
        }
        Reply::Skipped { reason, fix, crowded: false } => {
            course.skip(Unavailable { reason, fix });
            End::Row
        }
        Reply::Failed { reason, device_lost: false } => closed(course, Outcome::Failed, reason),
        Reply::Failed { reason, device_lost: true } => End::Lost(reason),
        _ => {
            course.close(Outcome::Failed, NO_ANSWER.into(), None);
            End::Replace
        }
    }
}
