//! A started backend with the operands and the job it holds: one cell at a time, prepared and then measured.

use std::time::Instant;

use super::memory;
use super::protocol::Reply;
use crate::backend::{Backend, Job, Options, Registration, Side, Variant};
use crate::case::{Case, Cell};
use crate::data::{Operand, fingerprint};
use crate::error::{CellError, Unavailable};
use crate::measure::sampling::{self, Sampling};
use crate::op::{self, Checked, Op};
use crate::report::{Clock, Phases};

/// Operands of the last case, kept for its next cell.
struct Held {
    case: Case,
    operands: Vec<Operand>,
    fingerprint: String,
}

/// A started backend and what it holds. Fields drop in order: the job before the backend it belongs to.
pub struct Session {
    job: Option<Box<dyn Job>>,
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
        Ok(Session { job: None, held: None, variants, backend, simulated: registration.simulated })
    }

    /// What the backend says of itself.
    pub fn describe(&self) -> serde_json::Value {
        self.backend.describe()
    }

    /// Makes operands, prepares the cell, executes it once and judges the answer. `notify` hears each phase.
    pub fn prepare(&mut self, cell: &Cell, notify: &mut dyn FnMut(&str)) -> Result<Reply, CellError> {
        self.job = None;
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
        let start = Instant::now();
        let mut job = self.backend.prepare(&cell.variant, &cell.case, &held.operands)?;
        phases.prepare_s = start.elapsed().as_secs_f64();

        notify("first");
        phases.first_s = self.backend.time(job.as_mut())?.host_s;

        notify("check");
        let start = Instant::now();
        let answer = job.answer()?;
        phases.download_s = start.elapsed().as_secs_f64();
        let start = Instant::now();
        let rounding = variant.accuracy.rounding(cell.case.dtype);
        let error = op.check(&cell.case, &held.operands, &answer, rounding)?;
        phases.check_s = start.elapsed().as_secs_f64();

        let inputs = held.fingerprint.clone();
        if !error.is_right() {
            return Ok(Reply::Incorrect { error, inputs, phases, reason: verdict(error) });
        }
        self.job = Some(job);
        Ok(Reply::Prepared { error, inputs, phases, libraries: self.backend.libraries() })
    }

    /// Warms the prepared job up, samples it and lets it go.
    pub fn measure(&mut self, how: &Sampling) -> Result<Reply, CellError> {
        let mut job = self
            .job
            .take()
            .ok_or_else(|| CellError::Failed("asked to measure before any cell was prepared".into()))?;
        // A simulated device has nothing to wake, and its samples must not depend on how many warm-ups fit a second.
        let warmup_s = if self.simulated { 0.0 } else { how.warmup_s };
        let taken = sampling::sample(self.backend.as_mut(), job.as_mut(), &Sampling { warmup_s, ..*how })?;
        let on_device = !taken.samples.is_empty() && taken.samples.iter().all(|s| s.device_s.is_some());
        let clock = match (self.simulated, on_device) {
            (true, _) => Clock::Simulated,
            (false, true) => Clock::DeviceEvents,
            (false, false) => Clock::Host,
        };
        Ok(Reply::Measured { clock, taken })
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

/// What is wrong with an answer of that error.
fn verdict(error: Checked) -> String {
    if error.value == f64::MAX {
        return "the answer is wrong: it holds values that are not finite, or has a form that no right answer has".into();
    }
    format!("the answer is wrong: error {:.2e} exceeds the bound {:.2e}", error.value, error.bound)
}
