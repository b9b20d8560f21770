//! Judges the answers of external workers in this process, by the checks that every worker of gpubench makes itself, and
//! turns their replies into those of a worker that has judged.

pub mod answer_file;
mod own;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::time::Instant;

use gpubench_backend::host::vector_registers;
use gpubench_backend::protocol::{Answered, Reply, Request};
use gpubench_backend::verify::{KEPT, OPERANDS_CHANGED};
use gpubench_backend::{Program, Variant};
use gpubench_ops::{self as op, Decisive, Op};
use gpubench_report::case::Case;
use gpubench_report::data::{self, Operand};
use gpubench_report::error::CellError;
use tempfile::TempDir;

use crate::worker::operands::Operands;

use own::{AnswerVerdict, OwnJudge};

/// The answers of external workers that were judged right.
#[derive(Default)]
pub(crate) struct AnswerJudge {
    /// Private folder of the files with answers.
    folder: Option<TempDir>,
    /// Operands of the case that was judged last.
    operands: Operands,
    jobs: HashMap<u64, Known>,
    files: u64,
    /// For operations of the user's own.
    own: OwnJudge,
}

/// What is known of a job whose first answer was right.
struct Known {
    inputs: String,
    /// Fingerprints of right answers.
    answers: Vec<u64>,
    /// Element of an operand on which the answer depends.
    decisive: Option<Decisive>,
}

impl AnswerJudge {
    /// Returns a judge that has no answers yet; `program` and `files` are those of operations of the user's own.
    pub(crate) fn new(program: Option<Program>, files: Vec<PathBuf>) -> AnswerJudge {
        AnswerJudge { own: OwnJudge::new(program, files), ..AnswerJudge::default() }
    }

    /// Returns the path of a file that does not exist yet, for one answer, in a private folder.
    pub(crate) fn new_file(&mut self) -> Result<PathBuf, String> {
        let folder = match self.folder.take() {
            Some(folder) => folder,
            None => tempfile::Builder::new().prefix("gpubench-").tempdir().map_err(|error| {
                format!("no temporary folder for its answer can be made ({error}): set TMPDIR to a folder with space")
            })?,
        };
        self.files += 1;
        Ok(self.folder.insert(folder).path().join(format!("answer-{}", self.files)))
    }

    /// Returns the change of an operand that must change the answer of that job.
    pub(crate) fn decisive(&self, job: u64) -> Option<Decisive> {
        self.jobs.get(&job)?.decisive
    }

    /// Drops the operands, which a later answer of the same case needs again only if it differs.
    pub(crate) fn rest(&mut self) {
        self.operands = Operands::default();
    }

    /// Returns the reply of a worker that judges itself, from that of an external one to `request` about `case`.
    pub(crate) fn judged(
        &mut self,
        request: &Request,
        (case, variant): (&Case, &Variant),
        answered: Answered,
    ) -> Reply {
        let about = AnswerContext { case, variant, answered: &answered };
        let (job, path, alters) = match request {
            Request::Prepare { job, answer: Some(path), .. } => (*job, path, None),
            Request::Verify { job, answer: Some(path), alter, .. } => (*job, path, Some(alter.is_some())),
            _ => return unjudged(CellError::Failed("it sent an answer that was not asked for".into())),
        };
        let reply = match alters {
            None => self.first(job, path, &about),
            Some(false) => self.later(job, path, &about),
            Some(true) => self.altered(job, path, &about),
        };
        // A file that is gone already takes no space.
        let _ = std::fs::remove_file(path);
        reply.unwrap_or_else(unjudged)
    }

    fn first(&mut self, job: u64, path: &Path, about: &AnswerContext<'_>) -> Result<Reply, CellError> {
        self.jobs.remove(&job);
        let Answered { phases, picked, threads, libraries, .. } = about.answered.clone();
        let mut phases = phases.unwrap_or_default();
        let start = Instant::now();
        let answer = about.read(path)?;
        let AnswerVerdict { error, complaint, inputs, decisive } = self.verdict(path, about, &answer)?;
        phases.check_s = start.elapsed().as_secs_f64();
        if let Some(complaint) = complaint {
            let reason = format!("the answer is wrong: {complaint}");
            return Ok(Reply::Incorrect { error, inputs, phases, reason });
        }
        let answers = vec![answer.fingerprint];
        self.jobs.insert(job, Known { inputs: inputs.clone(), answers, decisive });
        Ok(Reply::Prepared { error, inputs, phases, picked, threads, libraries })
    }

    /// Checks the answer of a timed execution, or of one after the answer was erased.
    fn later(&mut self, job: u64, path: &Path, about: &AnswerContext<'_>) -> Result<Reply, CellError> {
        let answer = about.read(path)?;
        let known = self.jobs.get(&job).ok_or_else(not_prepared)?;
        if about.answered.inputs != known.inputs {
            return Ok(Reply::Refuted { reason: OPERANDS_CHANGED.into(), error: None });
        }
        let found = answer.fingerprint;
        if known.answers.contains(&found) {
            return Ok(Reply::Verified);
        }
        let AnswerVerdict { error, complaint, .. } = self.verdict(path, about, &answer)?;
        if let Some(complaint) = complaint {
            let reason = format!("the answer of a later execution is wrong: {complaint}");
            return Ok(Reply::Refuted { reason, error: Some(error) });
        }
        self.jobs.get_mut(&job).ok_or_else(not_prepared)?.answers.push(found);
        Ok(Reply::Verified)
    }

    /// Checks that the answer changed when an element of an operand did, and that the element is as before.
    fn altered(&mut self, job: u64, path: &Path, about: &AnswerContext<'_>) -> Result<Reply, CellError> {
        let found = about.read(path)?.fingerprint;
        let known = self.jobs.get(&job).ok_or_else(not_prepared)?;
        let reason = if known.answers.contains(&found) {
            KEPT
        } else if about.answered.inputs != known.inputs {
            NOT_RESTORED
        } else {
            return Ok(Reply::Verified);
        };
        Ok(Reply::Refuted { reason: reason.into(), error: None })
    }

    /// Judges an answer to the inputs that the worker must have had.
    fn verdict(
        &mut self,
        path: &Path,
        about: &AnswerContext<'_>,
        answer: &WorkerAnswer,
    ) -> Result<AnswerVerdict, CellError> {
        let Some(answer) = &answer.arrays else {
            let verdict = self.own.judge(about.case, path)?;
            let has_inputs = about.answered.inputs == verdict.inputs;
            return if has_inputs { Ok(verdict) } else { Err(CellError::Failed(OTHER_INPUTS.into())) };
        };
        let op = about.op()?;
        let kept = self.operands.of(op, about.case, || Ok(()), || None)?;
        let inputs = kept.fingerprint.clone();
        if about.answered.inputs != inputs {
            let reason = format!(
                "its inputs differ from those of gpubench ({}, not {inputs}). Check the generator against the vectors in \
                 docs/worker-protocol.md",
                about.answered.inputs
            );
            return Err(CellError::Failed(reason));
        }
        let decisive = op.decisive_element(about.case, &kept.operands);
        vector_registers::clear_on_all_threads();
        let rounding = about.variant.accuracy.rounding(about.case.dtype);
        let error = op.check(about.case, &kept.operands, answer, rounding)?;
        let complaint = (!error.is_right()).then(|| error.complaint());
        Ok(AnswerVerdict { error, complaint, inputs, decisive })
    }
}

/// An answer that a worker wrote.
struct WorkerAnswer {
    fingerprint: u64,
    /// `None` for an operation of the user's own, whose process alone reads the file.
    arrays: Option<Vec<Operand>>,
}

/// Reason for inputs of an operation of the user's own that are not those of its judge.
const OTHER_INPUTS: &str = "its inputs differ from those in another process with the same seed: the function of the inputs must \
                            take all random numbers from its rng, and read nothing that changes";

const NOT_RESTORED: &str = "the operands are not what they were before one of them was altered";

fn not_prepared() -> CellError {
    CellError::Failed("it answered for a job that was not prepared".into())
}

fn unjudged(error: CellError) -> Reply {
    match error {
        CellError::OutOfMemory { .. } => Reply::Skipped {
            reason: format!("its answer cannot be judged: {error}"),
            fix: Some("choose a smaller size".into()),
            crowded: true,
        },
        error => Reply::Failed { reason: error.to_string(), device_lost: false },
    }
}

struct AnswerContext<'a> {
    case: &'a Case,
    variant: &'a Variant,
    answered: &'a Answered,
}

impl AnswerContext<'_> {
    fn op(&self) -> Result<&'static dyn Op, CellError> {
        op::find(&self.case.op)
            .ok_or_else(|| CellError::Failed(format!("there is no op named {}", self.case.op)))
    }

    fn read(&self, path: &Path) -> Result<WorkerAnswer, CellError> {
        if op::own::find(&self.case.op).is_some() {
            return own::fingerprint(path)
                .map(|fingerprint| WorkerAnswer { fingerprint, arrays: None })
                .map_err(unreadable);
        }
        // The footprint counts the answer; twice as much leaves room for entries of a sparse answer beyond the expected.
        let most = 2 * self.op()?.footprint(self.case) + SMALL_BYTES;
        let arrays = answer_file::read(path, &self.answered.arrays, self.case.extent("n"), most)
            .map_err(unreadable)?;
        Ok(WorkerAnswer { fingerprint: data::fingerprint(&arrays), arrays: Some(arrays) })
    }
}

fn unreadable(reason: String) -> CellError {
    CellError::Failed(format!("its answer cannot be judged: {reason}"))
}

const SMALL_BYTES: u128 = 1 << 20;
