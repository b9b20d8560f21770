//! Operations of the checks on device memory, in stream order: fingerprints, spoiling and replacing elements.

use std::marker::PhantomData;
use std::sync::Arc;

use cudarc::driver::{CudaFunction, CudaSlice, DevicePtrMut, result};
use gpubench_backend::contents::{Memory, SPOILED, Span};

use super::super::kernels::KernelSource;
use super::launch::enqueue;
use super::tuning::grid;
use crate::{CellError, Cuda, Result, driver};

/// Describes the memory of a device array.
pub fn device<T>(array: &mut CudaSlice<T>) -> Memory<'_> {
    let (stream, bytes) = (Arc::clone(array.stream()), array.num_bytes());
    let address = array.device_ptr_mut(&stream).0;
    Memory::Device(Span { address, bytes }, PhantomData)
}

/// Most fingerprints per wait.
pub(crate) const SLOTS: usize = 32;

/// The kernel of `kernels/measure/fingerprint.cu` and the sums that it writes.
pub(crate) struct Checks {
    cuda: Cuda,
    kernel: CudaFunction,
    sums: CudaSlice<u64>,
}

impl Checks {
    /// Loads the kernel from `source`, which must be that file.
    pub(crate) fn load(cuda: &Cuda, source: &'static KernelSource) -> Result<Self> {
        let kernel = cuda.function(source, "fingerprint")?;
        // Not counted as an allocation, because it belongs to no job.
        let sums = cuda.stream.alloc_zeros(SLOTS).map_err(driver("cuMemAllocAsync"))?;
        Ok(Checks { cuda: cuda.clone(), kernel, sums })
    }

    pub(crate) fn clear(&mut self) -> Result<()> {
        self.cuda.stream.memset_zeros(&mut self.sums).map_err(driver("cuMemsetD8Async"))
    }

    /// Enqueues the fingerprints of `spans` into consecutive slots, starting at `first`; the slots must be cleared.
    ///
    /// # Safety
    /// Each span is device memory that stays allocated until the stream has passed this call.
    pub(crate) unsafe fn fingerprint(&mut self, spans: &[Span], first: usize) -> Result<()> {
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

    /// Enqueues the spoiling of `spans`.
    ///
    /// # Safety
    /// As for [`Checks::fingerprint`]; and nothing relies on the contents of the spans.
    pub(crate) unsafe fn spoil(&self, spans: &[Span]) -> Result<()> {
        spans.iter().try_for_each(|span| {
            let stream = self.cuda.stream.cu_stream();
            // SAFETY: the caller vouches for the span; the stream is alive.
            unsafe { result::memset_d8_async(span.address, SPOILED, span.bytes, stream) }
                .map_err(driver("cuMemsetD8Async"))
        })
    }

    /// Waits for all enqueued work and reads the sums.
    pub(crate) fn read(&self) -> Result<[u64; SLOTS]> {
        let mut sums = [0; SLOTS];
        self.cuda.stream.memcpy_dtoh(&self.sums, &mut sums).map_err(driver("cuMemcpyDtoHAsync"))?;
        self.cuda.synchronize()?;
        Ok(sums)
    }

    /// Writes `new` at byte `offset` of `span`, which must have room for it, and returns the previous bytes. Waits
    /// for all earlier work.
    ///
    /// # Safety
    /// As for [`Checks::fingerprint`]; any bytes are a value of the elements there.
    pub(crate) unsafe fn replace(&self, span: Span, offset: usize, new: &[u8]) -> Result<Vec<u8>> {
        self.cuda.synchronize()?;
        let place = span.address + offset as u64;
        let mut old = vec![0; new.len()];
        // SAFETY: the caller vouches for the span, within which the place was checked to lie; nothing is under way.
        unsafe {
            result::memcpy_dtoh_sync(&mut old, place).map_err(driver("cuMemcpyDtoH"))?;
            result::memcpy_htod_sync(place, new).map_err(driver("cuMemcpyHtoD"))?;
        }
        Ok(old)
    }
}
