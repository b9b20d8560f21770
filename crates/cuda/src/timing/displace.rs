//! Cold caches: other data takes the place of all that the L2 cache holds.

use cudarc::driver::CudaSlice;
use gpubench_model::error::CellError;

use super::super::context::{Cuda, driver};
use super::super::ffi::timing::TimingKernels;

/// Sizes of the L2 cache that are read: one to fill it, one more because neither its replacement is strictly by age
/// nor, on chips with two partitions, a line's place in only one of them.
const CACHES: usize = 2;

/// Bytes of the L2 cache where the driver does not tell: more than any chip up to compute capability 12.0 has.
const UNKNOWN: usize = 128 << 20;

/// A buffer of zeros, allocated once, that is read to displace everything else.
///
/// It is read and never written (nvbench and Triton clear theirs): written lines would be dirty, and the cache would
/// write them back within the work that is timed. What the reads displace is written back before they are done.
pub(crate) struct Displacement {
    zeros: CudaSlice<u8>,
}

impl Displacement {
    pub(crate) fn new(cuda: &Cuda) -> Result<Self, CellError> {
        // Not counted as an allocation: it belongs to no job.
        let zeros = cuda.stream.alloc_zeros(CACHES * cuda.l2_bytes().unwrap_or(UNKNOWN));
        Ok(Displacement { zeros: zeros.map_err(driver("cuMemAllocAsync"))? })
    }

    /// Enqueues the reading.
    pub(crate) fn run(&mut self, cuda: &Cuda, kernels: &TimingKernels) -> Result<(), CellError> {
        kernels.displace(cuda, &cuda.stream, &mut self.zeros)
    }
}
