//! Whether what was timed is what was judged: operands, and the answers of timed executions, must be the ones that the
//! judge has seen. Fingerprints are compared; only an answer with another fingerprint is downloaded and judged.

use crate::backend::{Backend, Job};
use crate::case::{Cache, DType};
use crate::data::Operand;
use crate::error::CellError;
use crate::op::{Checked, Decisive};

/// Judges an answer of the job's case.
pub type Judge<'a> = dyn FnMut(&[Operand]) -> Result<Checked, CellError> + 'a;

/// What was found right when a job was prepared, and since.
#[derive(Debug)]
pub struct Judged {
    operands: u64,
    /// Fingerprints of answers that were judged right. A job whose sums are made in no fixed order has several.
    answers: Vec<u64>,
}

/// Why the times of a job cannot be believed.
#[derive(Debug)]
pub struct Refuted {
    /// What is wrong, in one line.
    pub reason: String,
    /// The error of the answer, where that is what is wrong.
    pub error: Option<Checked>,
}

/// Why a verification did not come to its end.
#[derive(Debug)]
pub enum Unverified {
    /// The job is at fault.
    Refuted(Refuted),
    /// A call failed.
    Failed(CellError),
}

impl From<CellError> for Unverified {
    fn from(error: CellError) -> Self {
        Unverified::Failed(error)
    }
}

impl Judged {
    /// Remembers what `job` holds now, whose answer has just been judged right.
    pub fn of(backend: &mut dyn Backend, job: &mut dyn Job) -> Result<Self, CellError> {
        let now = backend.fingerprints(job)?;
        Ok(Judged { operands: now.operands, answers: now.answer.into_iter().collect() })
    }

    /// Whether the answer with that fingerprint was judged right.
    pub fn knows(&self, answer: Option<u64>) -> bool {
        answer.is_some_and(|answer| self.answers.contains(&answer))
    }

    /// Checks what the last timed execution left. With `execute`, also that one more execution writes all of the answer,
    /// within the execution and from nothing but the operands.
    pub fn verify(
        &mut self,
        backend: &mut dyn Backend,
        job: &mut dyn Job,
        execute: bool,
        judge: &mut Judge<'_>,
    ) -> Result<(), Unverified> {
        self.check(backend, job, judge, "the last timed execution")?;
        if !execute {
            return Ok(());
        }
        let [before, after] = backend.execute_spoiled(job)?;
        if self.knows(before) {
            return refuted(
                "the answer was there before the execution began: work is done outside the clock",
            );
        }
        self.check(backend, job, judge, "an execution whose answer had been erased before")?;
        if backend.fingerprints(job)?.answer != after { refuted(LATE) } else { Ok(()) }
    }

    /// Checks operands and answer as they are after `what`.
    fn check(
        &mut self,
        backend: &mut dyn Backend,
        job: &mut dyn Job,
        judge: &mut Judge<'_>,
        what: &str,
    ) -> Result<(), Unverified> {
        let now = backend.fingerprints(job)?;
        if now.operands != self.operands {
            return refuted("timed executions have changed the operands");
        }
        if self.knows(now.answer) {
            return Ok(());
        }
        let error = judge(&job.answer()?)?;
        if !error.is_right() {
            let reason = format!("the answer of {what} is wrong: {}", error.complaint());
            return Err(Unverified::Refuted(Refuted { reason, error: Some(error) }));
        }
        if backend.fingerprints(job)?.answer != now.answer {
            return refuted(LATE);
        }
        self.answers.extend(now.answer);
        Ok(())
    }
}

/// What is wrong where memory changes on its own.
const LATE: &str = "the answer changed after the execution had ended: work is done outside the clock";

fn refuted(reason: &str) -> Result<(), Unverified> {
    Err(Unverified::Refuted(Refuted { reason: reason.to_owned(), error: None }))
}

/// An operand of a job with one element changed, so that the answer is another one.
pub struct Altered {
    place: (usize, usize),
    old: Vec<u8>,
}

impl Altered {
    /// Changes the element; `None` where the job does not show its operand.
    pub fn new(
        backend: &mut dyn Backend,
        job: &mut dyn Job,
        decisive: Decisive,
        dtype: DType,
    ) -> Result<Option<Self>, CellError> {
        let new = match dtype {
            DType::F32 => (decisive.value as f32).to_ne_bytes().to_vec(),
            DType::F64 => decisive.value.to_ne_bytes().to_vec(),
        };
        let place = (decisive.operand, decisive.element * new.len());
        Ok(backend.replace(job, place, &new)?.map(|old| Altered { place, old }))
    }

    /// Puts the element back and executes once more. Returns the fingerprint of the answer to the altered operands.
    pub fn restore(
        self,
        backend: &mut dyn Backend,
        job: &mut dyn Job,
        cache: Cache,
    ) -> Result<Option<u64>, CellError> {
        let answer = backend.fingerprints(job)?.answer;
        backend.replace(job, self.place, &self.old)?;
        backend.time(job, cache)?;
        Ok(answer)
    }
}
