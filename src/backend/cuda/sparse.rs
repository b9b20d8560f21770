//! Sparse operands on the device, checked before anything indexes by them; knows no op.

use cudarc::driver::CudaSlice;

use super::Cuda;
use crate::data::{Csr, Real};
use crate::error::CellError;

/// A sparse matrix on the device whose offsets and columns have been checked, so that kernels and libraries
/// may index by them.
pub(crate) struct DeviceCsr<T> {
    rows: usize,
    cols: usize,
    indptr: CudaSlice<i32>,
    indices: CudaSlice<i32>,
    values: CudaSlice<T>,
}
