//! Checks timed executions on the device: fingerprints the operands and answers of a job where they are, in stream
//! order.

use gpubench_backend::contents::{Contents, Fingerprints, Memory, Span, beyond, join};
use gpubench_backend::{Job, Prepared, SamplingMode};

use super::ffi::contents::{Checks, SLOTS};
use super::kernels::{KernelSource, kernel_source};
use super::timing::Timer;
use crate::{CellError, Cuda, Result};

pub(super) static SOURCE: KernelSource = kernel_source!("measure/fingerprint");

pub(super) struct Verifier {
    cuda: Cuda,
    checks: Checks,
}

impl Verifier {
    pub(super) fn new(cuda: &Cuda) -> Result<Self> {
        Ok(Verifier { cuda: cuda.clone(), checks: Checks::load(cuda, &SOURCE)? })
    }

    /// Returns the fingerprints of the present contents of `job`.
    pub(super) fn fingerprints(&mut self, job: &mut dyn Job) -> Result<Fingerprints> {
        let contents = job.contents();
        let unchanged = contents.operands.iter().map(|(_, memory)| memory).chain(&contents.fixed);
        let (unchanged, answer) = (spans(unchanged)?, spans(&contents.answer)?);
        self.checks.clear()?;
        // SAFETY: the job, which owns the memory, stays borrowed until the sums have been read.
        unsafe {
            self.checks.fingerprint(&unchanged, 0)?;
            self.checks.fingerprint(&answer, unchanged.len())?;
        }
        let sums = self.checks.read()?;
        let (operands, answer) = sums[..unchanged.len() + answer.len()].split_at(unchanged.len());
        let answer = (!answer.is_empty()).then(|| join(answer.iter().copied()));
        Ok(Fingerprints { operands: join(operands.iter().copied()), answer })
    }

    /// Spoils the answer of `job`, resets it, spoils the answer again, and executes it once. A job that allocates its answer thus gets
    /// memory without the old one. Where `timer` allows it, all of this is queued behind a blocking kernel: the work of other streams is
    /// then spoiled too, or comes too late. Kernels are launched as a graph only if samples launch them so.
    pub(super) fn execute_spoiled(
        &mut self,
        timer: &mut Timer,
        job: &mut Prepared,
    ) -> Result<[Option<u64>; 2]> {
        self.spoil(&mut job.job)?;
        job.reset()?;
        self.cuda.synchronize()?;
        let as_graph = job.history.mode == SamplingMode::Blocked;
        if !timer.run_blocked(job, &mut |job| self.queue(job, as_graph))? {
            job.reset()?;
            self.cuda.synchronize()?;
            self.queue(&mut job.job, as_graph)?;
        }
        let count = job.contents().answer.len();
        let sums = self.checks.read()?;
        // An answer that the reset has freed had no fingerprint: its sums are those of nothing.
        let fingerprint = |from: usize| (count > 0).then(|| join(sums[from..from + count].iter().copied()));
        Ok([0, SLOTS / 2].map(fingerprint))
    }

    /// Overwrites the answer that `job` shows, unless it lies in the place of an operand.
    fn spoil(&mut self, job: &mut dyn Job) -> Result<()> {
        let contents = job.contents();
        if contents.in_place {
            return Ok(());
        }
        let answer = spans(&contents.answer)?;
        // SAFETY: the job, which owns the memory, stays borrowed while the work is enqueued, and frees it in stream order; the answer
        // is written before it is read.
        unsafe { self.checks.spoil(&answer) }
    }

    /// Enqueues four steps: spoil, read, execute, read.
    fn queue(&mut self, job: &mut dyn Job, as_graph: bool) -> Result<()> {
        self.checks.clear()?;
        self.spoil(job)?;
        let before = shown_answer(job)?;
        // SAFETY: the job owns the memory and outlives the work, which is waited for before it is let go.
        unsafe { self.checks.fingerprint(&before, 0)? };
        if as_graph {
            job.execute()?;
        } else {
            self.cuda.without_replays(|| job.execute())?;
        }
        let after = shown_answer(job)?;
        // SAFETY: as above.
        unsafe { self.checks.fingerprint(&after, SLOTS / 2) }
    }

    /// Writes `new` at byte `offset` of an operand's elements, and returns the previous bytes.
    pub(super) fn replace(
        &self,
        job: &mut dyn Job,
        (operand, offset): (usize, usize),
        new: &[u8],
    ) -> Result<Option<Vec<u8>>> {
        let contents: Contents<'_> = job.contents();
        let Some((_, memory)) = contents.operands.iter().find(|(number, _)| *number == operand) else {
            return Ok(None);
        };
        let span = span(memory)?;
        if offset + new.len() > span.bytes {
            return Err(beyond(operand, offset));
        }
        // SAFETY: the job, which owns the memory, is borrowed; operands are floating-point numbers, which any bytes
        // are.
        unsafe { self.checks.replace(span, offset, new) }.map(Some)
    }
}

/// Returns the memory of the answer, for half of the slots.
fn shown_answer(job: &mut dyn Job) -> Result<Vec<Span>> {
    let answer = spans(&job.contents().answer)?;
    if answer.len() > SLOTS / 2 {
        return Err(CellError::Failed("a job exposes too many arrays; please report this bug".into()));
    }
    Ok(answer)
}

fn spans<'m, 'a: 'm>(memory: impl IntoIterator<Item = &'m Memory<'a>>) -> Result<Vec<Span>> {
    memory.into_iter().map(span).collect()
}

fn span(memory: &Memory<'_>) -> Result<Span> {
    match memory {
        Memory::Device(span, _) => Ok(*span),
        Memory::Host(_) => {
            Err(CellError::Failed("a CUDA job exposed host memory; please report this bug".into()))
        }
    }
}
