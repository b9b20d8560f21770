//! Launches of `kernels/timing.cu` as safe functions, and the host memory through which host and kernels communicate.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use cudarc::driver::sys::{self, CUdeviceptr};
use cudarc::driver::{CudaContext, CudaFunction, CudaSlice, CudaStream, PinnedHostSlice};
use gpubench_model::error::CellError;

use super::super::context::{Cuda, driver};
use super::super::kernels::KernelSource;
use super::launch::{self, enqueue_single, fits, write};

/// Timestamps that a [`Mailbox`] has room for.
pub(crate) const TIMESTAMPS: usize = 2;
/// Index of the word with the newest ticket that the host released.
const RELEASED: usize = 0;
/// Index of the word with the last ticket whose blocking kernel timed out.
const TIMED_OUT: usize = 1;
/// Index of the first word of the timestamps.
const FIRST_TIMESTAMP: usize = 2;
const WORDS: usize = FIRST_TIMESTAMP + 2 * TIMESTAMPS;

/// Page-locked host words that host and device both read and write.
pub(crate) struct Mailbox {
    host: *mut u64,
    device: CUdeviceptr,
    /// Owns the memory behind both addresses.
    _memory: PinnedHostSlice<u64>,
}

impl Mailbox {
    /// Allocates the words, all zero.
    pub(crate) fn new(ctx: &Arc<CudaContext>) -> Result<Mailbox, CellError> {
        let flags = sys::CU_MEMHOSTALLOC_DEVICEMAP;
        // SAFETY: the words are unset until the loop below has written each; u64 has no invalid bit patterns.
        let memory = unsafe { ctx.alloc_pinned_with_flags::<u64>(WORDS, flags) };
        let mut memory = memory.map_err(driver("cuMemHostAlloc"))?;
        let host = memory.as_mut_ptr().map_err(driver("cuEventSynchronize"))?;
        let mut device = 0;
        // SAFETY: `device` is writable and `host` is the start of memory allocated with DEVICEMAP.
        unsafe { sys::cuMemHostGetDevicePointer_v2(&raw mut device, host.cast(), 0) }
            .result()
            .map_err(driver("cuMemHostGetDevicePointer"))?;
        let mailbox = Mailbox { host, device, _memory: memory };
        (0..WORDS).for_each(|word| mailbox.write(word, 0));
        Ok(mailbox)
    }

    /// Releases the blocking kernel of that ticket and all earlier ones.
    pub(crate) fn release(&self, ticket: u64) {
        self.write(RELEASED, ticket);
    }

    /// Returns whether the blocking kernel of that ticket timed out.
    pub(crate) fn timed_out(&self, ticket: u64) -> bool {
        self.read(TIMED_OUT) == ticket
    }

    /// Clears the timestamps.
    pub(crate) fn clear_timestamps(&self) {
        (FIRST_TIMESTAMP..WORDS).for_each(|word| self.write(word, 0));
    }

    /// Returns nanoseconds and cycles of a timestamp; both zero if it was not written.
    pub(crate) fn timestamp(&self, slot: usize) -> (u64, u64) {
        (self.read(FIRST_TIMESTAMP + 2 * slot), self.read(FIRST_TIMESTAMP + 2 * slot + 1))
    }

    fn read(&self, word: usize) -> u64 {
        self.word(word).load(Ordering::Acquire)
    }

    fn write(&self, word: usize, value: u64) {
        self.word(word).store(value, Ordering::Release);
    }

    fn word(&self, word: usize) -> &AtomicU64 {
        assert!(word < WORDS);
        // SAFETY: the word lies within the live allocation, is aligned, and is only ever accessed atomically: here,
        // and by the device with aligned 64-bit accesses.
        unsafe { AtomicU64::from_ptr(self.host.add(word)) }
    }
}

/// The kernels of `kernels/timing.cu`.
#[derive(Clone)]
pub(crate) struct TimingKernels {
    block: CudaFunction,
    timestamp: CudaFunction,
    flush_l2: CudaFunction,
    empty: CudaFunction,
    spin: CudaFunction,
    multiprocessors: u32,
}

impl TimingKernels {
    /// Loads the kernels from `source`, which must be that file.
    pub(crate) fn load(cuda: &Cuda, source: &'static KernelSource) -> Result<Self, CellError> {
        let entry = |name| cuda.function(source, name);
        Ok(TimingKernels {
            block: entry("block_stream")?,
            timestamp: entry("timestamp")?,
            flush_l2: entry("flush_l2")?,
            empty: entry("empty")?,
            spin: entry("spin")?,
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
    ) -> Result<(), CellError> {
        let arguments = [mailbox.device.into(), ticket.into(), timeout_ns.into()];
        // SAFETY: the entry takes (u64*, u64, u64) and uses the first two words of the mailbox.
        unsafe { enqueue_single(stream, &self.block, 1, arguments) }
    }

    /// Enqueues a timestamp into a slot below [`TIMESTAMPS`].
    pub(crate) fn timestamp(
        &self,
        stream: &CudaStream,
        mailbox: &Mailbox,
        slot: u32,
    ) -> Result<(), CellError> {
        assert!((slot as usize) < TIMESTAMPS);
        let arguments = [mailbox.device.into(), slot.into()];
        // SAFETY: the entry takes (u64*, u32) and uses the two words of its slot, which the mailbox has.
        unsafe { enqueue_single(stream, &self.timestamp, self.multiprocessors, arguments) }
    }

    /// Enqueues a read of the whole buffer. It must hold zeros, otherwise the kernel writes a result.
    pub(crate) fn flush_l2(
        &self,
        cuda: &Cuda,
        stream: &CudaStream,
        buffer: &mut CudaSlice<u8>,
    ) -> Result<(), CellError> {
        let count = buffer.len() / 16;
        let arguments = [write(stream, buffer), (count as u64).into()];
        let grid = (launch::grid(cuda, count), 1);
        // SAFETY: the entry takes (uint4*, u64); device allocations are aligned to 256 bytes and this one holds
        // `count` elements of 16.
        unsafe { launch::enqueue(stream, &self.flush_l2, grid, arguments) }
    }

    /// Enqueues a kernel that does nothing.
    pub(crate) fn empty(&self, stream: &CudaStream) -> Result<(), CellError> {
        // SAFETY: the entry takes nothing.
        unsafe { enqueue_single(stream, &self.empty, 1, []) }
    }

    /// Enqueues a kernel that spins for `ns` and writes the nanoseconds that it ran to `spun[slot]`.
    pub(crate) fn spin(
        &self,
        stream: &CudaStream,
        ns: u64,
        spun: &mut CudaSlice<u64>,
        slot: u32,
    ) -> Result<(), CellError> {
        fits("spun", spun, slot as usize + 1)?;
        let arguments = [ns.into(), write(stream, spun), slot.into()];
        // SAFETY: the entry takes (u64, u64*, u32), and `spun` has that slot.
        unsafe { enqueue_single(stream, &self.spin, 1, arguments) }
    }
}
