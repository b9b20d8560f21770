//! Launches of `kernels/timing.cu` as safe functions, and the memory of the host through which they talk to it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use cudarc::driver::sys::{self, CUdeviceptr};
use cudarc::driver::{CudaContext, CudaFunction, CudaSlice, CudaStream, PinnedHostSlice};
use gpubench_model::error::CellError;

use super::super::context::{Cuda, driver};
use super::super::kernels::KernelSource;
use super::launch::{self, enqueue_single, fits, write};

/// Stamps that a [`Board`] has room for.
pub(crate) const STAMPS: usize = 2;
/// Word of the board with the newest ticket that the host released.
const RELEASED: usize = 0;
/// Word with the last ticket whose hold gave up.
const GAVE_UP: usize = 1;
/// First word of the stamps.
const FIRST_STAMP: usize = 2;
const WORDS: usize = FIRST_STAMP + 2 * STAMPS;

/// Page-locked words of the host that host and device both read and write.
pub(crate) struct Board {
    host: *mut u64,
    device: CUdeviceptr,
    /// Owns the memory behind both addresses.
    _memory: PinnedHostSlice<u64>,
}

impl Board {
    /// Allocates the words, all zero.
    pub(crate) fn new(ctx: &Arc<CudaContext>) -> Result<Board, CellError> {
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
        let board = Board { host, device, _memory: memory };
        (0..WORDS).for_each(|word| board.write(word, 0));
        Ok(board)
    }

    /// Lets go the hold of that ticket and of all before it.
    pub(crate) fn release(&self, ticket: u64) {
        self.write(RELEASED, ticket);
    }

    /// Whether the hold of that ticket ended because its time was up.
    pub(crate) fn gave_up(&self, ticket: u64) -> bool {
        self.read(GAVE_UP) == ticket
    }

    /// Forgets what the stamps wrote.
    pub(crate) fn clear_stamps(&self) {
        (FIRST_STAMP..WORDS).for_each(|word| self.write(word, 0));
    }

    /// Nanoseconds and cycles of a stamp; both zero when it did not land.
    pub(crate) fn stamp(&self, slot: usize) -> (u64, u64) {
        (self.read(FIRST_STAMP + 2 * slot), self.read(FIRST_STAMP + 2 * slot + 1))
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
    hold: CudaFunction,
    stamp: CudaFunction,
    displace: CudaFunction,
    empty: CudaFunction,
    spin: CudaFunction,
    multiprocessors: u32,
}

impl TimingKernels {
    /// Loads them from `source`, which must be that file.
    pub(crate) fn load(cuda: &Cuda, source: &'static KernelSource) -> Result<Self, CellError> {
        let entry = |name| cuda.function(source, name);
        Ok(TimingKernels {
            hold: entry("hold")?,
            stamp: entry("stamp")?,
            displace: entry("displace")?,
            empty: entry("empty")?,
            spin: entry("spin")?,
            multiprocessors: cuda.multiprocessors(),
        })
    }

    /// Enqueues a hold until the board's host releases `ticket`, or until `limit_ns` have passed.
    pub(crate) fn hold(
        &self,
        stream: &CudaStream,
        board: &Board,
        ticket: u64,
        limit_ns: u64,
    ) -> Result<(), CellError> {
        let arguments = [board.device.into(), ticket.into(), limit_ns.into()];
        // SAFETY: the entry takes (u64*, u64, u64) and uses the first two words of the board.
        unsafe { enqueue_single(stream, &self.hold, 1, arguments) }
    }

    /// Enqueues a stamp into a slot below [`STAMPS`].
    pub(crate) fn stamp(&self, stream: &CudaStream, board: &Board, slot: u32) -> Result<(), CellError> {
        assert!((slot as usize) < STAMPS);
        let arguments = [board.device.into(), slot.into()];
        // SAFETY: the entry takes (u64*, u32) and uses the two words of its slot, which the board has.
        unsafe { enqueue_single(stream, &self.stamp, self.multiprocessors, arguments) }
    }

    /// Enqueues a reading of the whole buffer, which must hold zeros to stay unwritten.
    pub(crate) fn displace(
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
        unsafe { launch::enqueue(stream, &self.displace, grid, arguments) }
    }

    /// Enqueues a kernel that does nothing.
    pub(crate) fn empty(&self, stream: &CudaStream) -> Result<(), CellError> {
        // SAFETY: the entry takes nothing.
        unsafe { enqueue_single(stream, &self.empty, 1, []) }
    }

    /// Enqueues a kernel that spins for `ns` and writes the nanoseconds that it span to `spun[slot]`.
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
