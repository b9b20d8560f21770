//! Verifies that timed executions leave the operands unchanged and the answer that was judged. Fingerprints are compared;
//! only an answer with another fingerprint is downloaded and judged.

use gpubench_ops::{Checked, Decisive};
use gpubench_report::case::Cell;
use gpubench_report::data::Values;
use gpubench_report::error::CellError;

use crate::{Backend, Prepared};

/// Judges the answer of a job's last execution.
pub type Judge<'a> = dyn FnMut(&mut Prepared) -> Result<Checked, CellError> + 'a;

/// Fingerprints of a job's contents that were judged right, at its preparation and since.
#[derive(Debug)]
pub struct Judged {
    operands: u64,
    /// Fingerprints of answers that were judged right. A job that sums in varying order has several.
    answers: Vec<u64>,
}

/// The reason that a verification failed.
#[derive(Debug)]
pub enum Unverified {
    /// The times of the job are invalid.
    Refuted {
        /// The reason, in one line.
        reason: String,
        /// Error of the answer, if the answer is wrong.
        error: Option<Checked>,
    },
    /// A call failed.
    Failed(CellError),
}

impl From<CellError> for Unverified {
    fn from(error: CellError) -> Self {
        Unverified::Failed(error)
    }
}

impl Judged {
    /// Records the contents of `job`, whose answer has just been judged right.
    pub fn of(backend: &mut dyn Backend, job: &mut Prepared) -> Result<Self, CellError> {
        let now = backend.fingerprints(job)?;
        Ok(Judged { operands: now.operands, answers: now.answer.into_iter().collect() })
    }

    fn knows(&self, answer: Option<u64>) -> bool {
        answer.is_some_and(|answer| self.answers.contains(&answer))
    }

    /// Executes once with one element of an operand altered, as part of the warm-up, and checks that the answer changes.
    /// Returns the reason that this was not checked: the job does not show that operand, or the execution failed on the altered
    /// operand, which says nothing about the operands that are timed.
    pub fn try_altered(
        &self,
        backend: &mut dyn Backend,
        job: &mut Prepared,
        decisive: &Decisive,
        cell: &Cell,
    ) -> Result<Option<String>, Unverified> {
        let altered = Values::single(cell.case.dtype, decisive.value).bytes_mut().to_vec();
        let place = (decisive.operand, decisive.element * altered.len());
        let Some(old) = backend.replace(job, place, &altered)? else {
            return Ok(Some(NO_OPERAND.into()));
        };
        let timed = backend.time(job, cell.cache).map(|_| ());
        if let Err(CellError::Failed(reason)) = timed {
            backend.replace(job, place, &old)?;
            return Ok(Some(failed_altered(&reason)));
        }
        timed?;
        let shows_answer = job.contents().shows_answer();
        let answer = backend.fingerprints(job)?.answer.filter(|_| shows_answer);
        backend.replace(job, place, &old)?;
        match self.knows(answer) {
            true => refuted(KEPT).map(|()| None),
            false => Ok((!shows_answer).then(|| NO_ANSWER.into())),
        }
    }

    /// Checks the contents after the last timed execution, and by `proof` that executions write the answer.
    pub fn verify(
        &mut self,
        backend: &mut dyn Backend,
        job: &mut Prepared,
        proof: Proof,
        judge: &mut Judge<'_>,
    ) -> Result<(), Unverified> {
        self.check(backend, job, judge, "the last timed execution")?;
        let [before, after] = match proof {
            Proof::None => return Ok(()),
            Proof::Marks => [backend.reset_spoiled(job)?, None],
            Proof::Execution => backend.execute_spoiled(job)?,
        };
        // An answer without entries is complete at any time.
        if self.knows(before) && job.contents().shows_answer() {
            return refuted(EARLY);
        }
        if proof == Proof::Marks {
            return Ok(());
        }
        self.check(backend, job, judge, "an execution after its answer was erased")?;
        if backend.fingerprints(job)?.answer != after { refuted(LATE) } else { Ok(()) }
    }

    /// Checks operands and answer after `what`.
    fn check(
        &mut self,
        backend: &mut dyn Backend,
        job: &mut Prepared,
        judge: &mut Judge<'_>,
        what: &str,
    ) -> Result<(), Unverified> {
        let now = backend.fingerprints(job)?;
        if now.operands != self.operands {
            return refuted(OPERANDS_CHANGED);
        }
        if self.knows(now.answer) {
            return Ok(());
        }
        let error = judge(job)?;
        if !error.is_right() {
            let reason = format!("the answer of {what} is wrong: {}", error.complaint());
            return Err(Unverified::Refuted { reason, error: Some(error) });
        }
        if backend.fingerprints(job)?.answer != now.answer {
            return refuted(LATE);
        }
        self.answers.extend(now.answer);
        Ok(())
    }
}

/// Method of proving that executions, and only they, write all of the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Proof {
    /// No proof.
    None,
    /// Each timed execution had to overwrite marks; the check left is that a reset does not write the answer.
    Marks,
    /// One more execution, after the answer is erased.
    Execution,
}

/// Reason for operands that are not what they were.
pub const OPERANDS_CHANGED: &str = "timed executions changed the operands";

/// Reason for an answer that does not depend on the operands.
pub const KEPT: &str =
    "the answer did not change when an operand changed: it was kept from an earlier execution";

/// Reason for a check with an altered operand that was not made, because the job does not show its operands.
const NO_OPERAND: &str = "it keeps its operands in a form of its own";

/// Reason for a check with an altered operand that was not made, because the answer has no entries or is not shown.
const NO_ANSWER: &str = "it has no answer that could change";

/// Reason for a check with an altered operand whose execution failed.
pub fn failed_altered(reason: &str) -> String {
    format!("the execution with an altered operand failed: {reason}")
}

/// Reason for an answer that is complete before an execution.
const EARLY: &str =
    "the answer was complete before the execution began: work is done outside the timed region";

/// Reason for an answer that changes after an execution.
const LATE: &str = "the answer changed after the execution ended: work is done outside the timed region";

fn refuted(reason: &str) -> Result<(), Unverified> {
    Err(Unverified::Refuted { reason: reason.to_owned(), error: None })
}
