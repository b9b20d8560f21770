//! Flushes the L2 cache before cold samples by reading other data.

use cudarc::driver::CudaSlice;
use gpubench_model::error::CellError;

use super::super::context::{Cuda, driver};
use super::super::ffi::timing::TimingKernels;

/// Bytes to read, in sizes of the L2 cache. One fills it; the second is needed because the replacement is not
/// strictly by age and, on chips with two partitions, a line can be in both.
const CACHES: usize = 2;

/// Assumed bytes of the L2 cache if the driver does not report them: more than any chip up to compute capability 12.0
/// has.
const UNKNOWN_L2_BYTES: usize = 128 << 20;

/// A buffer of zeros, allocated once, whose reading replaces everything in the cache.
///
/// It is read and never written (nvbench and Triton clear theirs): written lines would be dirty, and the cache would
/// write them back during the timed work. Dirty lines that the reads evict are written back before the reads end.
pub(crate) struct CacheFlush {
    zeros: CudaSlice<u8>,
}

impl CacheFlush {
    pub(crate) fn new(cuda: &Cuda) -> Result<Self, CellError> {
        // Not counted as an allocation, because it belongs to no job.
        let zeros = cuda.stream.alloc_zeros(CACHES * cuda.l2_bytes().unwrap_or(UNKNOWN_L2_BYTES));
        Ok(CacheFlush { zeros: zeros.map_err(driver("cuMemAllocAsync"))? })
    }

    /// Enqueues the read.
    pub(crate) fn run(&mut self, cuda: &Cuda, kernels: &TimingKernels) -> Result<(), CellError> {
        kernels.flush_l2(cuda, &cuda.stream, &mut self.zeros)
    }
}
