//! Checks timed executions on the device: fingerprints, spoils and replaces the operands and answers of a job where they are,
//! in stream order.

use std::sync::Arc;

use cudarc::driver::{CudaFunction, CudaSlice, DevicePtrMut, result};
use gpubench_backend::contents::{Contents, Fingerprints, Memory, SPOILED, Span, beyond, join};
use gpubench_backend::{Job, Prepared, SamplingMode};

use super::ffi::launch::enqueue;
use super::ffi::tuning::grid;
use super::timing::Timer;
use crate::{CellError, Cuda, KernelSource, Result, driver, kernel_source};

pub(super) static SOURCE: KernelSource = kernel_source!("measure/fingerprint");

/// Most fingerprints per wait.
const SLOTS: usize = 32;

/// The kernel that adds up fingerprints, and the sums that it writes.
pub(super) struct Verifier {
    cuda: Cuda,
    kernel: CudaFunction,
    sums: CudaSlice<u64>,
}

impl Verifier {
    pub(super) fn new(cuda: &Cuda) -> Result<Self> {
        let kernel = cuda.function(&SOURCE, "fingerprint")?;
        // Not counted as an allocation, because it belongs to no job.
        let sums = cuda.stream.alloc_zeros(SLOTS).map_err(driver("cuMemAllocAsync"))?;
        Ok(Verifier { cuda: cuda.clone(), kernel, sums })
    }

    /// Returns the fingerprints of the present contents of `job`.
    pub(super) fn fingerprints(&mut self, job: &mut dyn Job) -> Result<Fingerprints> {
        let contents = job.contents();
        let unchanged = contents.operands.iter().map(|(_, memory)| memory).chain(&contents.fixed);
        let (unchanged, answer) = (spans(unchanged)?, spans(&contents.answer)?);
        self.clear()?;
        // SAFETY: the job, which owns the memory, stays borrowed until the sums have been read.
        unsafe {
            self.enqueue(&unchanged, 0)?;
            self.enqueue(&answer, unchanged.len())?;
        }
        let sums = self.read()?;
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
        let sums = self.read()?;
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
        let stream = self.cuda.stream.cu_stream();
        spans(&contents.answer)?.into_iter().try_for_each(|Span { address, bytes }| {
            // SAFETY: the stream is alive; the job, which owns the memory, stays borrowed while the work is enqueued, and frees it
            // in stream order; the answer is written before it is read.
            unsafe { result::memset_d8_async(address, SPOILED, bytes, stream) }
                .map_err(driver("cuMemsetD8Async"))
        })
    }

    /// Enqueues four steps: spoil, read, execute, read.
    fn queue(&mut self, job: &mut dyn Job, as_graph: bool) -> Result<()> {
        self.clear()?;
        self.spoil(job)?;
        let before = shown_answer(job)?;
        // SAFETY: the job owns the memory and outlives the work, which is waited for before it is let go.
        unsafe { self.enqueue(&before, 0)? };
        if as_graph {
            job.execute()?;
        } else {
            self.cuda.without_replays(|| job.execute())?;
        }
        let after = shown_answer(job)?;
        // SAFETY: as above.
        unsafe { self.enqueue(&after, SLOTS / 2) }
    }

    /// Writes `new` at byte `offset` of an operand's elements, and returns the previous bytes. Waits for all earlier work.
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
        self.cuda.synchronize()?;
        let place = span.address + offset as u64;
        let mut old = vec![0; new.len()];
        // SAFETY: the place lies within the span, whose owner, the job, is borrowed; nothing is under way; operands are
        // floating-point numbers, which any bytes are.
        unsafe {
            result::memcpy_dtoh_sync(&mut old, place).map_err(driver("cuMemcpyDtoH"))?;
            result::memcpy_htod_sync(place, new).map_err(driver("cuMemcpyHtoD"))?;
        }
        Ok(Some(old))
    }

    /// Clears all sums.
    fn clear(&mut self) -> Result<()> {
        self.cuda.stream.memset_zeros(&mut self.sums).map_err(driver("cuMemsetD8Async"))
    }

    /// Enqueues the fingerprints of `spans` into consecutive slots, starting at `first`; the slots must be cleared.
    ///
    /// # Safety
    /// Each span is device memory that stays allocated until the stream has passed this call.
    unsafe fn enqueue(&mut self, spans: &[Span], first: usize) -> Result<()> {
        if first + spans.len() > SLOTS {
            return Err(CellError::Failed(format!(
                "a job exposes more than {SLOTS} arrays; please report this bug"
            )));
        }
        let stream = Arc::clone(&self.cuda.stream);
        let sums = self.sums.device_ptr_mut(&stream).0;
        for (slot, span) in (first..).zip(spans) {
            let arguments = [span.address, span.bytes as u64, sums + 8 * slot as u64].map(Into::into);
            let blocks = (grid(&self.cuda, span.bytes / 8), 1);
            // SAFETY: the entry takes (const u8*, u64, u64*); the caller vouches for the span, whose address, the start
            // of an allocation, is a multiple of 256; `sums` has the slot.
            unsafe { enqueue(&stream, &self.kernel, blocks, arguments)? };
        }
        Ok(())
    }

    /// Waits for all enqueued work and reads the sums.
    fn read(&self) -> Result<[u64; SLOTS]> {
        let mut sums = [0; SLOTS];
        self.cuda.stream.memcpy_dtoh(&self.sums, &mut sums).map_err(driver("cuMemcpyDtoHAsync"))?;
        self.cuda.synchronize()?;
        Ok(sums)
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
