//! cuSPARSE's handle and matrix descriptors as owned values.
//!
//! API: <https://docs.nvidia.com/cuda/cusparse/>.

mod spgemm;
mod spmv;

pub(crate) use spgemm::{Computed, CsrArrays, Repeated, SparseProduct};
pub(crate) use spmv::MatrixVector;

use std::ffi::c_void;
use std::sync::Arc;

use cudarc::cusparse::sys;
use cudarc::driver::{CudaSlice, CudaStream, DevicePtr};
use gpubench_report::case::DType;

use super::succeeded;
use crate::sparse::DeviceCsr;
use crate::{CellError, DeviceElement, Result, driver};

/// The operation that leaves an operand as it is.
const PLAIN: sys::cusparseOperation_t = sys::cusparseOperation_t::CUSPARSE_OPERATION_NON_TRANSPOSE;
const INDEX: sys::cusparseIndexType_t = sys::cusparseIndexType_t::CUSPARSE_INDEX_32I;
const BASE: sys::cusparseIndexBase_t = sys::cusparseIndexBase_t::CUSPARSE_INDEX_BASE_ZERO;

fn check(call: &str, status: sys::cusparseStatus_t) -> Result<()> {
    succeeded(call, status)
}

/// Returns cuSPARSE's value for an element type.
fn type_of(dtype: DType) -> sys::cudaDataType {
    match dtype {
        DType::F64 => sys::cudaDataType::CUDA_R_64F,
        _ => sys::cudaDataType::CUDA_R_32F,
    }
}

/// Returns pointers to the numbers 1 and 0 of an element type, for the generic routines. They are always valid.
fn one_and_zero(dtype: DType) -> [*const c_void; 2] {
    fn pointers<T>(numbers: &'static [T; 2]) -> [*const c_void; 2] {
        numbers.each_ref().map(|number| (&raw const *number).cast())
    }
    match dtype {
        DType::F64 => pointers(&[1.0_f64, 0.0]),
        _ => pointers(&[1.0_f32, 0.0]),
    }
}

/// A handle with its stream that reads scalars from the host.
pub(crate) struct Sparse {
    handle: sys::cusparseHandle_t,
    stream: Arc<CudaStream>,
}

impl Sparse {
    /// Creates the handle on `stream`.
    pub(crate) fn new(stream: &Arc<CudaStream>) -> Result<Self> {
        stream.context().bind_to_thread().map_err(driver("cuCtxSetCurrent"))?;
        let mut handle = std::ptr::null_mut();
        // SAFETY: `handle` is a place for one handle.
        check("cusparseCreate", unsafe { sys::cusparseCreate(&mut handle) })?;
        // From here on, Drop destroys the handle.
        let sparse = Sparse { handle, stream: stream.clone() };
        // SAFETY: the handle is live, and the stream outlives it: this value shares its ownership.
        check("cusparseSetStream", unsafe { sys::cusparseSetStream(handle, stream.cu_stream().cast()) })?;
        let mode = sys::cusparsePointerMode_t::CUSPARSE_POINTER_MODE_HOST;
        // SAFETY: the handle is live.
        check("cusparseSetPointerMode", unsafe { sys::cusparseSetPointerMode(handle, mode) })?;
        Ok(sparse)
    }
}

impl Drop for Sparse {
    fn drop(&mut self) {
        // Work still in the queue uses the handle's own memory.
        let _ = self.stream.synchronize();
        // SAFETY: this value owns the handle, and nothing uses it afterwards. A failure leaks it, no more.
        let _ = unsafe { sys::cusparseDestroy(self.handle) };
    }
}

/// A descriptor of a constant matrix that owns the matrix.
struct SparseMatrix<T> {
    raw: sys::cusparseConstSpMatDescr_t,
    csr: DeviceCsr<T>,
}

impl<T: DeviceElement> SparseMatrix<T> {
    fn new(stream: &CudaStream, csr: DeviceCsr<T>) -> Result<Self> {
        let (rows, cols, nnz) = (side(csr.rows())?, side(csr.cols())?, side(csr.nnz())?);
        let (mut raw, of) = (std::ptr::null(), type_of(T::DTYPE));
        let (indptr, indices, values) = csr.arrays();
        let [indptr, indices] = [indptr, indices].map(|array| array.device_ptr(stream).0 as *const c_void);
        let values = values.device_ptr(stream).0 as *const c_void;
        // SAFETY: `raw` is a place for one pointer; the arrays are those of a CSR matrix of this shape (`DeviceCsr`
        // checks), on the device, and live as long as the descriptor: this value owns both.
        check("cusparseCreateConstCsr", unsafe {
            sys::cusparseCreateConstCsr(
                &mut raw, rows, cols, nnz, indptr, indices, values, INDEX, INDEX, BASE, of,
            )
        })?;
        Ok(SparseMatrix { raw, csr })
    }
}

impl<T> Drop for SparseMatrix<T> {
    fn drop(&mut self) {
        // SAFETY: this value owns the descriptor, and nothing uses it afterwards.
        let _ = unsafe { sys::cusparseDestroySpMat(self.raw) };
    }
}

/// Converts a count for the generic routines.
fn side(count: usize) -> Result<i64> {
    i64::try_from(count).map_err(|_| CellError::Failed(format!("{count} exceeds cuSPARSE's 64-bit sizes")))
}

/// Returns the address of a buffer that work on the stream writes.
fn buffer(buffer: &CudaSlice<u8>, stream: &CudaStream) -> *mut c_void {
    buffer.device_ptr(stream).0 as *mut c_void
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn factors_of_products_live_on() {
        let [one, zero] = one_and_zero(DType::F32).map(<*const c_void>::cast::<f32>);
        // SAFETY: both point to numbers of this type that live as long as the program.
        assert_eq!(unsafe { (*one, *zero) }, (1.0, 0.0));
        let [one, zero] = one_and_zero(DType::F64).map(<*const c_void>::cast::<f64>);
        // SAFETY: as above.
        assert_eq!(unsafe { (*one, *zero) }, (1.0, 0.0));
    }
}
