//! Launches of `kernels/measure/timing.cu` as safe functions, and the host memory through which host and kernels communicate.

use std::sync::Arc;

use cudarc::driver::{CudaContext, CudaFunction, CudaSlice, CudaStream};

use super::launch::{LaunchShape, enqueue, enqueue_shaped, fits, write};
use super::mapped::MappedWords;
use super::tuning::grid;
use crate::{Cuda, KernelSource, Result};

/// Timestamps that a [`Mailbox`] has room for.
pub(crate) const TIMESTAMPS: usize = 2;
/// Index of the word with the newest ticket that the host released.
const RELEASED: usize = 0;
/// Index of the word with the last ticket whose blocking kernel timed out.
const TIMED_OUT: usize = 1;
/// Index of the first word of the timestamps.
const FIRST_TIMESTAMP: usize = 2;
const WORDS: usize = FIRST_TIMESTAMP + 2 * TIMESTAMPS;

/// The words through which host and kernels communicate.
pub(crate) struct Mailbox(MappedWords<WORDS>);

impl Mailbox {
    pub(crate) fn new(ctx: &Arc<CudaContext>) -> Result<Mailbox> {
        MappedWords::new(ctx).map(Mailbox)
    }

    /// Releases the blocking kernel of that ticket and all earlier ones.
    pub(crate) fn release(&self, ticket: u64) {
        self.0.write(RELEASED, ticket);
    }

    /// Returns whether the blocking kernel of that ticket timed out.
    pub(crate) fn timed_out(&self, ticket: u64) -> bool {
        self.0.read(TIMED_OUT) == ticket
    }

    pub(crate) fn clear_timestamps(&self) {
        (FIRST_TIMESTAMP..WORDS).for_each(|word| self.0.write(word, 0));
    }

    /// Returns nanoseconds and cycles of a timestamp; both zero if it was not written.
    pub(crate) fn timestamp(&self, slot: usize) -> (u64, u64) {
        (self.0.read(FIRST_TIMESTAMP + 2 * slot), self.0.read(FIRST_TIMESTAMP + 2 * slot + 1))
    }
}

/// The kernels of `kernels/measure/timing.cu`.
#[derive(Clone)]
pub(crate) struct TimingKernels {
    block: CudaFunction,
    timestamp: CudaFunction,
    flush_l2: CudaFunction,
    empty: CudaFunction,
    spin: CudaFunction,
    spin_cycles: CudaFunction,
    multiprocessors: u32,
}

impl TimingKernels {
    /// Loads the kernels from `source`, which must be that file.
    pub(crate) fn load(cuda: &Cuda, source: &'static KernelSource) -> Result<Self> {
        let entry = |name| cuda.function(source, name);
        Ok(TimingKernels {
            block: entry("block_stream")?,
            timestamp: entry("timestamp")?,
            flush_l2: entry("flush_l2")?,
            empty: entry("empty")?,
            spin: entry("spin")?,
            spin_cycles: entry("spin_cycles")?,
            multiprocessors: cuda.multiprocessors(),
        })
    }

    /// Enqueues a kernel that blocks until the host releases `ticket`, or until `timeout_ns` have passed.
    pub(crate) fn block(
        &self,
        stream: &CudaStream,
        mailbox: &Mailbox,
        ticket: u64,
        timeout_ns: u64,
    ) -> Result<()> {
        let arguments = [mailbox.0.address().into(), ticket.into(), timeout_ns.into()];
        // SAFETY: the entry takes (u64*, u64, u64) and uses the first two words of the mailbox.
        unsafe { enqueue_shaped(stream, &self.block, LaunchShape::of_single_threads(1), arguments) }
    }

    /// Enqueues a timestamp into a slot below [`TIMESTAMPS`].
    pub(crate) fn timestamp(&self, stream: &CudaStream, mailbox: &Mailbox, slot: u32) -> Result<()> {
        assert!((slot as usize) < TIMESTAMPS);
        let shape = LaunchShape::of_single_threads(self.multiprocessors);
        let arguments = [mailbox.0.address().into(), slot.into()];
        // SAFETY: the entry takes (u64*, u32) and uses the two words of its slot, which the mailbox has.
        unsafe { enqueue_shaped(stream, &self.timestamp, shape, arguments) }
    }

    /// Enqueues a read of the whole buffer. It must hold zeros, otherwise the kernel writes a result.
    pub(crate) fn flush_l2(&self, cuda: &Cuda, buffer: &mut CudaSlice<u8>) -> Result<()> {
        let (stream, count) = (&cuda.stream, buffer.len() / 16);
        let arguments = [write(stream, buffer), (count as u64).into()];
        let grid = (grid(cuda, count), 1);
        // SAFETY: the entry takes (uint4*, u64); device allocations are aligned to 256 bytes and this one holds
        // `count` elements of 16.
        unsafe { enqueue(stream, &self.flush_l2, grid, arguments) }
    }

    pub(crate) fn empty(&self, stream: &CudaStream) -> Result<()> {
        // SAFETY: the entry takes nothing.
        unsafe { enqueue_shaped(stream, &self.empty, LaunchShape::of_single_threads(1), []) }
    }

    /// Enqueues a kernel that spins for a number of cycles of the multiprocessor and touches no memory.
    pub(crate) fn spin_cycles(&self, stream: &CudaStream, cycles: i64) -> Result<()> {
        let arguments = [cycles.cast_unsigned().into()];
        // SAFETY: the entry takes (long long).
        unsafe { enqueue_shaped(stream, &self.spin_cycles, LaunchShape::of_single_threads(1), arguments) }
    }

    /// Enqueues a kernel that spins for `ns` and writes the nanoseconds that it ran to `spun[slot]`.
    pub(crate) fn spin(
        &self,
        stream: &CudaStream,
        ns: u64,
        spun: &mut CudaSlice<u64>,
        slot: u32,
    ) -> Result<()> {
        fits("spun", spun, slot as usize + 1)?;
        let arguments = [ns.into(), write(stream, spun), slot.into()];
        // SAFETY: the entry takes (u64, u64*, u32), and `spun` has that slot.
        unsafe { enqueue_shaped(stream, &self.spin, LaunchShape::of_single_threads(1), arguments) }
    }
}
