//! The checks of one cell after another, and those of several jobs at the same time.

use std::io;
use std::time::Duration;

use gpubench_backend::protocol::{Reply, Request};
use gpubench_ops::Decisive;
use gpubench_report::measure::batch::{Batch, BatchResult, WarmUp};
use gpubench_report::report::{Row, check_row};

use super::conversation::{Conversation, SHORT_LIMIT, few_samples};
use super::{Asked, CheckedStep, Results, Tested};
use crate::executor::judge::AnswerJudge;
use crate::executor::plausible::{implausible, implausible_phases};

/// Number of the job of most checks, and of one that is held at the same time.
pub(super) const JOB: u64 = 1;
const OTHER_JOB: u64 = 2;
/// Executions and samples of a batch.
const WARMUPS: u32 = 3;
const SAMPLES: u32 = 4;

enum Preparation {
    /// The program holds the job, which may use this number of threads.
    Held(Option<usize>),
    /// The program cannot do the cell, for this reason.
    Skipped(String),
}

/// A program whose backend has started, and the judge of its answers.
pub(super) struct Session<'a> {
    asked: &'a Asked,
    talk: Conversation,
    judge: AnswerJudge,
}

impl<'a> Session<'a> {
    pub(super) fn new(asked: &'a Asked, talk: Conversation) -> Self {
        Session { asked, talk, judge: AnswerJudge::default() }
    }

    pub(super) fn into_talk(self) -> Conversation {
        self.talk
    }

    /// Starts the backend and prepares a cell, for a check of something else; returns whether both succeeded.
    pub(super) fn prepares(&mut self, tested: &Tested) -> bool {
        self.talk.hello().is_ok() && matches!(self.prepare(JOB, tested, None), Ok(Preparation::Held(_)))
    }

    pub(super) fn check_cell(&mut self, tested: &Tested, results: &mut Results<'_>) -> io::Result<()> {
        self.start_again()?;
        let name = tested.name();
        let prepared = match self.prepare(JOB, tested, None) {
            Ok(Preparation::Skipped(reason)) => {
                results.skip(&name, reason);
                return Ok(());
            }
            prepared => results.add(&format!("{name}: operands and answer"), prepared.map(|_| ())),
        };
        if prepared.is_none() {
            return Ok(());
        }
        type Step = fn(&mut Session<'_>, &Tested) -> CheckedStep;
        let steps: [(&str, Step); 6] = [
            ("an altered operand changes the answer", |session, tested| session.alter(tested)),
            ("a batch with warm-up", |session, tested| session.sample(tested)),
            ("a batch that ends after its time", |session, tested| session.sample_briefly(tested)),
            ("the timed answer is right", |session, tested| session.verify(JOB, tested, false, None)),
            ("the answer is written again", |session, tested| session.verify(JOB, tested, true, None)),
            ("release", |session, _| session.release()),
        ];
        for (what, step) in steps {
            let passed = results.add(&format!("{name}: {what}"), step(self, tested));
            if passed.is_none() && self.talk.is_over {
                break;
            }
        }
        Ok(())
    }

    /// Checks jobs that are held at the same time, and kept while the program rests.
    pub(super) fn check_several_jobs(
        &mut self,
        tested: &Tested,
        results: &mut Results<'_>,
    ) -> io::Result<()> {
        self.start_again()?;
        let [first, second, third] = [42, 43, 44].map(|seed| tested.seeded(seed));
        let both = self
            .held(JOB, &first)
            .and_then(|()| self.held(OTHER_JOB, &second))
            .and_then(|()| self.sample_and_verify(JOB, &first))
            .and_then(|()| self.sample_and_verify(OTHER_JOB, &second));
        if results.add("two jobs at the same time", both).is_none() {
            return Ok(());
        }
        let rested = self.rest().and_then(|()| self.sample_and_verify(JOB, &first));
        results.add("rest: jobs stay prepared while the program is stopped", rested);
        let again = self.held(JOB, &third).and_then(|()| self.sample_and_verify(JOB, &third));
        results.add("prepare: a number that is used again replaces the job", again);
        results.add("prepare: uses the number of threads that the parent names", self.threads(&third));
        let left = self.talk.release(JOB).and_then(|()| self.sample_and_verify(OTHER_JOB, &second));
        results.add("release: leaves the other jobs", left);
        Ok(())
    }

    fn start_again(&mut self) -> io::Result<()> {
        if self.talk.is_over {
            self.talk = Conversation::start(self.asked)?;
            // If this fails, the next request does too, and says so.
            let _ = self.talk.hello();
        }
        Ok(())
    }

    fn prepare(&mut self, job: u64, tested: &Tested, threads: Option<usize>) -> CheckedStep<Preparation> {
        const TYPES: &str = "answered (only workers of gpubench judge their own answers), or skipped";
        let (cell, answer) = (tested.cell.clone(), Some(self.new_file()?));
        let request = Request::Prepare { job, cell, threads, picked: None, answer };
        let reply = self.talk.ask(&request, TYPES)?;
        let answered = match reply {
            Reply::Answered(answered) => answered,
            Reply::Skipped { reason, .. } => return Ok(Preparation::Skipped(reason)),
            _ => return Err(self.talk.refused(TYPES)),
        };
        let phases = answered.phases.as_ref();
        if let Some(reason) = phases.and_then(|phases| implausible_phases(phases, self.talk.took_s)) {
            return Err(self.talk.unlike("phases that have taken place").because(reason));
        }
        let mut row = Row::blank(tested.cell.clone(), tested.variant.side, tested.variant.accuracy);
        (row.phases, row.picked, row.threads) =
            (answered.phases.clone(), answered.picked.clone(), answered.threads);
        if let Err(problem) = check_row(&row) {
            let problem = format!("{problem:#}");
            return Err(self.talk.unlike("fields that a report can have").because(problem));
        }
        let threads = answered.threads;
        self.judged(&request, tested, Reply::Answered(answered))?;
        Ok(Preparation::Held(threads))
    }

    /// Prepares a job whose cell was not skipped before.
    fn held(&mut self, job: u64, tested: &Tested) -> CheckedStep {
        match self.prepare(job, tested, None)? {
            Preparation::Held(_) => Ok(()),
            Preparation::Skipped(_) => Err(self.talk.refused("answered, as for this cell before")),
        }
    }

    fn judged(&mut self, request: &Request, tested: &Tested, reply: Reply) -> CheckedStep {
        let Reply::Answered(answered) = reply else {
            return Err(self.talk.refused("answered"));
        };
        match self.judge.judged(request, (&tested.cell.case, &tested.variant), *answered) {
            Reply::Prepared { .. } | Reply::Verified => Ok(()),
            Reply::Incorrect { reason, .. }
            | Reply::Refuted { reason, .. }
            | Reply::Failed { reason, .. }
            | Reply::Skipped { reason, .. } => {
                let (expected, section) = match request {
                    Request::Verify { alter: Some(_), .. } => {
                        ("another answer, and the operands as before", "Requests")
                    }
                    _ if reason.contains("inputs") => ("the operands of every backend", "Fingerprint"),
                    _ => ("the right answer, and unchanged operands", "Operands"),
                };
                Err(self.talk.failure(expected, section).because(reason))
            }
            _ => Err(self.talk.refused("answered")),
        }
    }

    fn new_file(&mut self) -> CheckedStep<std::path::PathBuf> {
        self.judge.new_file().map_err(|reason| self.talk.refused(reason))
    }

    fn alter(&mut self, tested: &Tested) -> CheckedStep {
        match self.judge.decisive(JOB) {
            Some(decisive) => self.verify(JOB, tested, false, Some(decisive)),
            None => Ok(()),
        }
    }

    fn verify(&mut self, job: u64, tested: &Tested, execute: bool, alter: Option<Decisive>) -> CheckedStep {
        let request = Request::Verify { job, execute, alter, answer: Some(self.new_file()?) };
        let reply = self.talk.ask(&request, "answered")?;
        self.judged(&request, tested, reply)
    }

    /// Takes a batch that must make sense.
    fn batch(&mut self, job: u64, tested: &Tested, batch: Batch) -> CheckedStep<BatchResult> {
        let reply = self.talk.ask(&Request::Measure { job, batch }, "measured")?;
        let Reply::Measured { clock, result } = reply else {
            return Err(self.talk.refused("measured"));
        };
        let took_s = self.talk.took_s;
        let problem = (&tested.cell.case, tested.variant.side);
        if let Some(reason) = implausible(problem, batch.samples, (clock, &result), took_s) {
            let expected = "samples that were requested, with times that have passed";
            return Err(self.talk.unlike(expected).because(reason));
        }
        let counts = result.setup_while_sampling;
        if counts.allocations + counts.plans + counts.compilations > 0 {
            let expected = "no allocation, plan or compilation while samples are taken";
            return Err(self.talk.failure(expected, "Rules"));
        }
        Ok(result)
    }

    fn sample(&mut self, tested: &Tested) -> CheckedStep {
        let warm_up = WarmUp { executions: WARMUPS, min_s: 0.0, max_s: 20.0 };
        let batch = Batch { warm_up: Some(warm_up), samples: SAMPLES, max_s: 60.0 };
        let result = self.batch(JOB, tested, batch)?;
        let is_warm = result.warmups >= WARMUPS && result.warmup_s > 0.0;
        if result.samples.len() == SAMPLES as usize && is_warm {
            return Ok(());
        }
        let expected =
            format!("{SAMPLES} samples, and a warm-up of at least {WARMUPS} executions and its time");
        Err(self.talk.failure(expected, "Fields of requests"))
    }

    fn sample_briefly(&mut self, tested: &Tested) -> CheckedStep {
        let result = self.batch(JOB, tested, Batch { warm_up: None, samples: SAMPLES, max_s: 0.0 })?;
        if result.samples.len() == 1 && result.warmups == 0 {
            return Ok(());
        }
        let expected = "one sample, since max_s is 0, and no warm-up";
        Err(self.talk.failure(expected, "Fields of requests"))
    }

    fn sample_and_verify(&mut self, job: u64, tested: &Tested) -> CheckedStep {
        self.batch(job, tested, Batch { warm_up: None, samples: 2, max_s: 60.0 })?;
        self.verify(job, tested, false, None)
    }

    /// Has the program rest, and stops it for a moment.
    fn rest(&mut self) -> CheckedStep {
        match self.talk.ask_within(SHORT_LIMIT, &Request::Rest, "rested or failed")? {
            Reply::Rested | Reply::Failed { .. } => {}
            _ => return Err(self.talk.refused("rested or failed")),
        }
        // As a run does between its turns; the next request continues it.
        self.talk.client.stop();
        std::thread::sleep(Duration::from_millis(50));
        Ok(())
    }

    /// Prepares a cell once more, with the number of threads that was reported before.
    fn threads(&mut self, tested: &Tested) -> CheckedStep {
        let Preparation::Held(Some(threads)) = self.prepare(JOB, tested, None)? else { return Ok(()) };
        match self.prepare(JOB, tested, Some(threads))? {
            Preparation::Held(Some(used)) if used != threads => {
                Err(self.talk.refused(format!("\"threads\":{threads}")))
            }
            _ => Ok(()),
        }
    }

    fn release(&mut self) -> CheckedStep {
        self.talk.release(JOB)?;
        match self.talk.ask_within(SHORT_LIMIT, &few_samples(JOB), "failed")? {
            Reply::Failed { .. } => Ok(()),
            _ => Err(self.talk.refused("failed, since the job is released")),
        }
    }
}
