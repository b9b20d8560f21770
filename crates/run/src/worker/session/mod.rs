//! Holds a started backend with its operands and jobs. Each job is prepared once, then measured in rounds.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Instant;

use gpubench_backend::host::{memory, vector_registers};
use gpubench_backend::protocol::Reply;
use gpubench_backend::take::{self, Pauses};
use gpubench_backend::verify::{Judged, Proof, Unverified};
use gpubench_backend::{Backend, Options, Prepared, Registration, Variant};
use gpubench_ops::{self as op, Decisive, Op, Rounding, matrix};
use gpubench_report::case::{Case, Cell};
use gpubench_report::data::Operand;
use gpubench_report::error::{CellError, Unavailable};
use gpubench_report::measure::batch::Batch;
use gpubench_report::report::{Clock, Phases};

use super::operands::{Operands, hexadecimal};
use super::threads;

struct Ready {
    job: Box<Prepared>,
    threads: Option<usize>,
    cell: Cell,
    /// Fingerprint of the operands, hexadecimal.
    inputs: String,
    /// Whether the job has taken the operands and lends them.
    has_operands: bool,
    /// Rounding of its arithmetic, for the bound on its answers.
    rounding: Rounding,
    judged: Judged,
    /// Element of an operand on which the answer depends, until a check has altered it.
    untried: Option<Decisive>,
    /// Pauses taken for this job so far.
    pauses: Pauses,
    /// Seconds of sampling so far, including warm-up and the work around each execution.
    spent_s: f64,
    /// Seconds of the fastest execution of the last batch: any other may have been disturbed.
    fastest_s: f64,
}

/// Maximum share of a job's time for the execution of the last check.
const MAX_CHECKING_SHARE: f64 = 0.01;

/// A started backend with its operands and jobs. Fields drop in order: the jobs before the backend they belong to.
pub(crate) struct BackendSession {
    jobs: BTreeMap<u64, Ready>,
    operands: Operands,
    variants: Vec<Variant>,
    /// Files of matrices, by identity.
    matrices: BTreeMap<String, PathBuf>,
    backend: Box<dyn Backend>,
    simulated: bool,
}

impl BackendSession {
    pub(crate) fn start(registration: &Registration, options: &Options) -> Result<Self, Unavailable> {
        if let Some(threads) = options.threads {
            // Operands and checks use this number of threads too. In a test the pool may exist already.
            let _ = rayon::ThreadPoolBuilder::new().num_threads(threads).build_global();
        }
        let variants = (registration.variants)(options)
            .map_err(|error| Unavailable::without_fix(format!("{}: {error:#}", registration.name)))?;
        let backend = (registration.start)(options)?;
        Ok(BackendSession {
            jobs: BTreeMap::new(),
            operands: Operands::default(),
            variants,
            matrices: options.matrices.clone(),
            backend,
            simulated: registration.simulated,
        })
    }

    pub(crate) fn ready_reply(&self) -> Reply {
        Reply::Ready {
            description: self.backend.describe(),
            timer_overhead: self.backend.timer_overhead(),
            peaks_depend_on: self.backend.peaks_depend_on(),
        }
    }

    pub(crate) fn peaks(&mut self) -> Result<Reply, CellError> {
        Ok(Reply::Peaks { peaks: self.backend.peaks()? })
    }

    /// Frees memory for another worker: drops the operands of the last case.
    pub(crate) fn rest(&mut self) -> Reply {
        self.operands = Operands::default();
        memory::return_freed();
        Reply::Rested
    }

    /// Generates operands, prepares the cell, executes it once, chooses its threads unless `threads` were chosen before,
    /// judges the answer, and keeps the job under that number. Prepares the variant `picked` if that was picked before, so
    /// that a cell has the samples of one variant. Calls `notify` with each phase.
    pub(crate) fn prepare(
        &mut self,
        number: u64,
        cell: &Cell,
        threads: Option<usize>,
        picked: Option<String>,
        notify: &mut dyn FnMut(&str),
    ) -> Result<Reply, CellError> {
        self.jobs.remove(&number);
        let op = known_op(&cell.case.op)?;
        let variant = self.variant(cell)?;
        let mut phases = Phases::default();

        notify("inputs");
        let start = Instant::now();
        let admit = || {
            let loaded = matrix::load_for(&cell.case, &self.matrices, memory::free_host_bytes());
            loaded.map_err(CellError::Failed).and_then(|()| self.backend.admit(&cell.case))
        };
        let kept = self.operands.of(op, &cell.case, admit, || copied(&mut self.jobs, &cell.case))?;
        phases.inputs_s = start.elapsed().as_secs_f64();

        notify("prepare");
        self.backend.phases();
        let start = Instant::now();
        let name = picked.as_ref().unwrap_or(&cell.variant);
        let mut job = self.backend.prepare(name, &cell.case, &mut kept.operands)?;
        phases.prepare_s = start.elapsed().as_secs_f64();
        let preparing = self.backend.phases();

        let known = threads.filter(|threads| job.traits.thread_choices.contains(threads));
        if let Some(threads) = known {
            job.use_threads(threads);
        }
        notify("first");
        let first = self.backend.time(&mut job, cell.cache)?;
        (phases.first_s, phases.first_device_s) = (first.host_s, first.device_s);
        let threads = match known {
            Some(_) => known,
            None => {
                let start = Instant::now();
                let several = job.traits.thread_choices.len() > 1;
                if several {
                    notify("threads");
                }
                let chosen = threads::choose(self.backend.as_mut(), &mut job, cell.cache)?;
                if several {
                    // The judged answer must come from the number of threads that is timed.
                    self.backend.time(&mut job, cell.cache)?;
                }
                phases.threads_s = start.elapsed().as_secs_f64();
                chosen
            }
        };

        notify("check");
        let (inputs, has_operands) = (kept.fingerprint.clone(), kept.are_taken());
        let rounding = variant.accuracy.rounding(cell.case.dtype);
        let start = Instant::now();
        let (error, untried, are_unchanged, check_s) = show(&mut job, &kept.operands, |operands, answer| {
            let start = Instant::now();
            vector_registers::clear_on_all_threads();
            let error = op.check(&cell.case, operands, answer, rounding);
            let untried = op.decisive_element(&cell.case, operands);
            let are_unchanged = !has_operands || hexadecimal(operands) == inputs;
            (error, untried, are_unchanged, start.elapsed().as_secs_f64())
        })?;
        (phases.download_s, phases.check_s) = (start.elapsed().as_secs_f64() - check_s, check_s);
        phases.with_device(preparing, self.backend.phases());
        let error = error?;
        if !are_unchanged || !error.is_right() {
            let reason = match are_unchanged {
                true => format!("the answer is wrong: {}", error.complaint()),
                false => CHANGED_AT_FIRST.into(),
            };
            return Ok(Reply::Incorrect { error, inputs, phases, reason });
        }
        let judged = Judged::of(self.backend.as_mut(), &mut job)?;
        let picked = picked.or(job.traits.picked.map(str::to_owned));
        let ready = Ready {
            job,
            threads,
            cell: cell.clone(),
            inputs: inputs.clone(),
            has_operands,
            rounding,
            judged,
            untried,
            pauses: Pauses::default(),
            spent_s: 0.0,
            fastest_s: 0.0,
        };
        self.jobs.insert(number, ready);
        let (threads, libraries) = (threads.or(self.backend.threads()), self.backend.libraries());
        Ok(Reply::Prepared { error, inputs, phases, picked, threads, libraries })
    }

    pub(crate) fn measure(&mut self, number: u64, batch: &Batch) -> Result<Reply, CellError> {
        let Some(ready) = self.jobs.get_mut(&number) else {
            return Err(CellError::Failed(format!("asked to measure job {number}, which was not prepared")));
        };
        let Ready { job, cell, judged, untried, pauses, .. } = ready;
        if let Some(threads) = ready.threads {
            job.use_threads(threads);
        }
        let start = self.backend.now_s();
        let mut unaltered = None;
        let warm = match untried.take() {
            Some(decisive) => match judged.try_altered(self.backend.as_mut(), job, &decisive, cell) {
                Ok(unchecked) => {
                    unaltered = unchecked;
                    u32::from(unaltered.is_none())
                }
                Err(unverified) => return refutation(unverified),
            },
            None => 0,
        };
        let warm_s = self.backend.now_s() - start;
        let batch = batch.warmed(warm, warm_s);
        let mut result = take::take(self.backend.as_mut(), job, cell.cache, &batch, pauses)?;
        (result.warmups, result.warmup_s) = (result.warmups + warm, result.warmup_s + warm_s);
        result.unaltered = unaltered;
        ready.spent_s += result.warmup_s + result.spent_s;
        let seconds = result.samples.iter().map(|sample| sample.host_s);
        ready.fastest_s = seconds.reduce(f64::min).unwrap_or(ready.fastest_s);
        let on_device = !result.samples.is_empty() && result.samples.iter().all(|s| s.device_s.is_some());
        let clock = match (self.simulated, on_device) {
            (true, _) => Clock::Simulated,
            (false, true) => Clock::DeviceEvents,
            (false, false) => Clock::Host,
        };
        Ok(Reply::Measured { clock, result })
    }

    /// Checks that the last timed execution of a job left the operands unchanged and a right answer. With `last`, also
    /// checks that executions write all of the answer: by one more execution, or, where that would take too long, by the
    /// marks that timed executions had to overwrite.
    pub(crate) fn verify(&mut self, number: u64, last: bool) -> Result<Reply, CellError> {
        let Some(mut ready) = self.jobs.remove(&number) else {
            return Err(CellError::Failed(format!("asked to verify job {number}, which was not prepared")));
        };
        if let Some(threads) = ready.threads {
            ready.job.use_threads(threads);
        }
        let verified = self.verify_ready(&mut ready, last);
        self.jobs.insert(number, ready);
        match verified {
            Ok(()) => Ok(Reply::Verified),
            Err(unverified) => refutation(unverified),
        }
    }

    fn verify_ready(&mut self, ready: &mut Ready, last: bool) -> Result<(), Unverified> {
        let Ready { job, cell, has_operands, rounding, judged, .. } = ready;
        let is_long = ready.fastest_s > MAX_CHECKING_SHARE * ready.spent_s;
        let proof = match last {
            false => Proof::None,
            true if is_long && self.backend.marks_answers(cell.cache) => Proof::Marks,
            true => Proof::Execution,
        };
        let op = known_op(&cell.case.op)?;
        let operands = &mut self.operands;
        let mut judge = |job: &mut Prepared| {
            // The kept operands may be those of another case.
            let kept: &[Operand] = match has_operands {
                true => &[],
                false => &operands.of(op, &cell.case, || Ok(()), || None)?.operands,
            };
            show(job, kept, |operands, answer| {
                vector_registers::clear_on_all_threads();
                op.check(&cell.case, operands, answer, *rounding)
            })?
        };
        judged.verify(self.backend.as_mut(), job, proof, &mut judge)
    }

    pub(crate) fn release(&mut self, number: u64) -> Reply {
        self.jobs.remove(&number);
        memory::return_freed();
        Reply::Released
    }

    fn variant(&self, cell: &Cell) -> Result<Variant, CellError> {
        let found = self.variants.iter().find(|v| v.op == cell.case.op && v.name == cell.variant);
        let variant = found.ok_or_else(|| {
            CellError::Failed(format!("{} has no variant {} of {}", cell.backend, cell.variant, cell.case.op))
        })?;
        if !variant.dtypes.contains(&cell.case.dtype) {
            let reason = format!("{} does not support {}", cell.variant, cell.case.dtype);
            return Err(Unavailable::without_fix(reason).into());
        }
        Ok(variant.clone())
    }
}

/// Reason for operands that differ from the generated ones before anything was timed.
const CHANGED_AT_FIRST: &str = "the first execution changed the operands";

fn refutation(unverified: Unverified) -> Result<Reply, CellError> {
    match unverified {
        Unverified::Refuted { reason, error } => Ok(Reply::Refuted { reason, error }),
        Unverified::Failed(error) => Err(error),
    }
}

fn known_op(name: &str) -> Result<&'static dyn Op, CellError> {
    op::find(name).ok_or_else(|| CellError::Failed(format!("this worker has no op named {name}")))
}

/// Shows to `judge` the operands that a job has taken, or else `kept`, and the answer of its last execution.
fn show<R>(
    job: &mut Prepared,
    kept: &[Operand],
    judge: impl Fn(&[Operand], &[Operand]) -> R,
) -> Result<R, CellError> {
    let mut judged = None;
    job.lend(&mut |lent| judged = Some(judge(lent.operands.unwrap_or(kept), lent.answer)))?;
    judged.ok_or_else(|| CellError::Failed("the job did not show its answer; please report this bug".into()))
}

/// Returns a copy of the operands of `case` from a job that has left them unchanged: faster than generating them again.
fn copied(jobs: &mut BTreeMap<u64, Ready>, case: &Case) -> Option<Vec<Operand>> {
    let mut holding = jobs.values_mut().filter(|ready| ready.has_operands && ready.cell.case == *case);
    holding.find_map(|ready| {
        let mut copy = None;
        ready.job.lend(&mut |lent| copy = lent.operands.map(<[Operand]>::to_vec)).ok()?;
        copy.filter(|operands| hexadecimal(operands) == ready.inputs)
    })
}

#[cfg(test)]
#[allow(clippy::disallowed_methods, reason = "a test may end where no thread can be started")]
mod tests;
