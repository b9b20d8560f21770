//! A started backend with the operands and the jobs it holds: each prepared once, then measured in rounds.

use std::collections::BTreeMap;
use std::time::Instant;

use super::memory;
use super::protocol::Reply;
use crate::backend::{Backend, Floors, Job, Options, Registration, Side, Variant};
use crate::case::{Cache, Case, Cell};
use crate::data::{Operand, fingerprint};
use crate::error::{CellError, Unavailable};
use crate::measure::batch::{self, Batch, Pauses};
use crate::measure::threads;
use crate::op::{self, Checked, Op};
use crate::report::{Clock, Phases};

/// Operands of the last case, kept for its next cell.
struct Held {
    case: Case,
    operands: Vec<Operand>,
    fingerprint: String,
}

/// A prepared job, the threads chosen for it, the state of the caches it is to be timed in, and how long it has been
/// waited for.
struct Ready {
    job: Box<dyn Job>,
    threads: Option<usize>,
    cache: Cache,
    pauses: Pauses,
}

/// A started backend and what it holds. Fields drop in order: the jobs before the backend they belong to.
pub struct Session {
    jobs: BTreeMap<u64, Ready>,
    held: Option<Held>,
    variants: Vec<Variant>,
    backend: Box<dyn Backend>,
    simulated: bool,
}

/// Expected entries of a sparse operand: `i32::MAX`, less six standard deviations and some.
const MOST_ENTRIES: f64 = 2.147e9;

impl Session {
    /// Starts the backend.
    pub fn start(registration: &Registration, options: &Options) -> Result<Self, Unavailable> {
        if let Some(threads) = options.threads {
            // Operands and checks keep to the threads too. In a thread of the parent the pool may exist already.
            let _ = rayon::ThreadPoolBuilder::new().num_threads(threads).build_global();
        }
        let variants = (registration.variants)(options)
            .map_err(|error| Unavailable::without_fix(format!("{}: {error:#}", registration.name)))?;
        let backend = (registration.start)(options)?;
        Ok(Session {
            jobs: BTreeMap::new(),
            held: None,
            variants,
            backend,
            simulated: registration.simulated,
        })
    }

    /// What the backend says of itself.
    pub fn describe(&self) -> serde_json::Value {
        self.backend.describe()
    }

    /// The floors of its clocks.
    pub fn floors(&self) -> Option<Floors> {
        self.backend.floors()
    }

    /// What its ceilings depend on besides the host.
    pub fn ceilings_depend_on(&self) -> Option<serde_json::Value> {
        self.backend.ceilings_depend_on()
    }

    /// Measures the backend's ceilings.
    pub fn ceilings(&mut self) -> Result<Reply, CellError> {
        Ok(Reply::Ceilings { ceilings: self.backend.ceilings()? })
    }

    /// Leaves memory and processors to another worker: drops the operands of the last case, and waits until no thread
    /// spins.
    pub fn rest(&mut self) -> Reply {
        self.held = None;
        memory::return_freed();
        self.backend.settle();
        Reply::Rested
    }

    /// Makes operands, prepares the cell, executes it once, chooses its threads unless `threads` were chosen before,
    /// judges the answer, and holds the job under that number. `notify` hears each phase.
    pub fn prepare(
        &mut self,
        number: u64,
        cell: &Cell,
        threads: Option<usize>,
        notify: &mut dyn FnMut(&str),
    ) -> Result<Reply, CellError> {
        self.jobs.remove(&number);
        let op = op::find(&cell.case.op)
            .ok_or_else(|| CellError::Failed(format!("this worker knows no op named {}", cell.case.op)))?;
        let variant = self.variant(cell)?;
        let mut phases = Phases::default();

        notify("inputs");
        let start = Instant::now();
        self.hold_operands(op, &cell.case, variant.side)?;
        phases.inputs_s = start.elapsed().as_secs_f64();
        let Some(held) = &self.held else { return Err(CellError::Failed("no operands were made".into())) };

        notify("prepare");
        self.backend.phases();
        let start = Instant::now();
        let mut job = self.backend.prepare(&cell.variant, &cell.case, &held.operands)?;
        phases.prepare_s = start.elapsed().as_secs_f64();
        let preparing = self.backend.phases();

        let known = threads.filter(|threads| job.thread_choices().contains(threads));
        if let Some(threads) = known {
            job.use_threads(threads);
        }
        notify("first");
        let first = self.backend.time(job.as_mut(), cell.cache)?;
        (phases.first_s, phases.first_device_s) = (first.host_s, first.device_s);
        let threads = match known {
            Some(_) => known,
            // What is judged is the answer of the threads that are timed.
            None => choose_threads(self.backend.as_mut(), job.as_mut(), cell.cache, notify)?,
        };

        notify("check");
        let start = Instant::now();
        let answer = job.answer()?;
        phases.download_s = start.elapsed().as_secs_f64();
        phases.with_device(preparing, self.backend.phases());
        let start = Instant::now();
        let rounding = variant.accuracy.rounding(cell.case.dtype);
        let error = op.check(&cell.case, &held.operands, &answer, rounding)?;
        phases.check_s = start.elapsed().as_secs_f64();

        let inputs = held.fingerprint.clone();
        if !error.is_right() {
            return Ok(Reply::Incorrect { error, inputs, phases, reason: verdict(error) });
        }
        let picked = job.picked().map(str::to_owned);
        self.jobs.insert(number, Ready { job, threads, cache: cell.cache, pauses: Pauses::default() });
        let (threads, libraries) = (threads.or(self.backend.threads()), self.backend.libraries());
        Ok(Reply::Prepared { error, inputs, phases, picked, threads, libraries })
    }

    /// Samples a job that is held.
    pub fn measure(&mut self, number: u64, batch: &Batch) -> Result<Reply, CellError> {
        let Some(Ready { job, threads, cache, pauses }) = self.jobs.get_mut(&number) else {
            return Err(CellError::Failed(format!("asked to measure job {number}, which was not prepared")));
        };
        if let Some(threads) = threads {
            job.use_threads(*threads);
        }
        let taken = batch::take(self.backend.as_mut(), job.as_mut(), *cache, batch, pauses)?;
        let on_device = !taken.samples.is_empty() && taken.samples.iter().all(|s| s.device_s.is_some());
        let clock = match (self.simulated, on_device) {
            (true, _) => Clock::Simulated,
            (false, true) => Clock::DeviceEvents,
            (false, false) => Clock::Host,
        };
        Ok(Reply::Measured { clock, taken })
    }

    /// Lets a job go.
    pub fn release(&mut self, number: u64) -> Reply {
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
            let reason = format!("{} does not do {}", cell.variant, cell.case.dtype);
            return Err(Unavailable::without_fix(reason).into());
        }
        Ok(variant.clone())
    }

    /// Has the operands of `case` in `held`: those of the last cell when it had the same case, else new ones.
    fn hold_operands(&mut self, op: &dyn Op, case: &Case, side: Side) -> Result<(), CellError> {
        if self.held.as_ref().is_some_and(|held| held.case == *case) {
            return Ok(());
        }
        self.held = None;
        self.backend.admit(case)?;
        let entries = op.expected_entries(case);
        if entries > MOST_ENTRIES {
            let reason = format!("about {entries:.2e} stored entries do not fit 32-bit offsets (2.14e9)");
            return Err(Unavailable::new(reason, "choose a smaller size or density").into());
        }
        // The operands and the answer are on the host; a job of the CPU's side holds its own copy of both.
        let copies = if side == Side::Cpu { 2 } else { 1 };
        let needed = op
            .footprint(case)
            .saturating_mul(copies)
            .max(op.footprint(case).saturating_add(op.scratch(case)));
        if let Some(free) = memory::free_host_bytes().filter(|&free| needed > free) {
            return Err(CellError::OutOfMemory { place: "host", needed, free });
        }
        let operands = op.inputs(case);
        let fingerprint = format!("{:016x}", fingerprint(&operands));
        self.held = Some(Held { case: case.clone(), operands, fingerprint });
        Ok(())
    }
}

/// Has `job` use the number of threads that is fastest for it, and executes it once more with these.
fn choose_threads(
    backend: &mut dyn Backend,
    job: &mut dyn Job,
    cache: Cache,
    notify: &mut dyn FnMut(&str),
) -> Result<Option<usize>, CellError> {
    let several = job.thread_choices().len() > 1;
    if several {
        notify("threads");
    }
    let chosen = threads::choose(backend, job, cache)?;
    if several {
        backend.time(job, cache)?;
    }
    Ok(chosen)
}

/// What is wrong with an answer of that error.
fn verdict(error: Checked) -> String {
    if error.value == f64::MAX {
        return "the answer is wrong: it holds values that are not finite, or has a form that no right answer has".into();
    }
    format!("the answer is wrong: error {:.2e} exceeds the bound {:.2e}", error.value, error.bound)
}
