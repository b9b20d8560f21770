//! Sparse matrix times dense vector. The buffer is sized and the matrix analysed once.

use std::ffi::c_void;

use cudarc::cusparse::sys;
use cudarc::driver::{CudaSlice, DevicePtr, DevicePtrMut};

use super::{PLAIN, Sparse, SparseMatrix, buffer, check, one_and_zero, side, type_of};
use crate::sparse::DeviceCsr;
use crate::{CellError, DeviceElement, Result};

const ALGORITHM: sys::cusparseSpMVAlg_t = sys::cusparseSpMVAlg_t::CUSPARSE_SPMV_CSR_ALG2;

/// A descriptor of a dense vector. It owns no memory; its holder keeps the vector too.
struct Vector(sys::cusparseDnVecDescr_t);

impl Vector {
    fn new<T: DeviceElement>(address: u64, len: usize) -> Result<Self> {
        let mut raw = std::ptr::null_mut();
        // SAFETY: `raw` is a place for one pointer; the address is stored and not used by this call.
        check("cusparseCreateDnVec", unsafe {
            sys::cusparseCreateDnVec(&mut raw, side(len)?, address as *mut c_void, type_of(T::DTYPE))
        })?;
        Ok(Vector(raw))
    }
}

impl Drop for Vector {
    fn drop(&mut self) {
        // SAFETY: this value owns the descriptor, and nothing uses it afterwards.
        let _ = unsafe { sys::cusparseDestroyDnVec(self.0) };
    }
}

/// Handle and operands of a product, with the factors of A x and y.
type Arguments = (
    sys::cusparseHandle_t,
    *const c_void,
    sys::cusparseConstSpMatDescr_t,
    sys::cusparseConstDnVecDescr_t,
    *const c_void,
    sys::cusparseDnVecDescr_t,
);

/// The product y = A x with all its operands.
pub(crate) struct MatrixVector<T> {
    // The handle first, because its Drop waits for the work that uses the other fields.
    sparse: Sparse,
    matrix: SparseMatrix<T>,
    x: Vector,
    y: Vector,
    /// The vectors that the descriptors point to.
    x_values: CudaSlice<T>,
    y_values: CudaSlice<T>,
    work: Option<CudaSlice<u8>>,
}

impl<T: DeviceElement> MatrixVector<T> {
    /// Takes the operands and the result vector. `a` must have at least one stored entry.
    pub(crate) fn new(sparse: Sparse, a: DeviceCsr<T>, x: CudaSlice<T>, mut y: CudaSlice<T>) -> Result<Self> {
        if x.len() != a.cols() || y.len() != a.rows() || a.nnz() == 0 {
            let (rows, cols, nnz) = (a.rows(), a.cols(), a.nnz());
            let text = format!(
                "a matrix of {rows} x {cols} with {nnz} entries does not fit vectors of {} and {}",
                x.len(),
                y.len()
            );
            return Err(CellError::call("spmv", text));
        }
        let matrix = SparseMatrix::new(&sparse.stream, a)?;
        let x_vector = Vector::new::<T>(x.device_ptr(&sparse.stream).0, x.len())?;
        let y_len = y.len();
        let y_vector = Vector::new::<T>(y.device_ptr_mut(&sparse.stream).0, y_len)?;
        Ok(MatrixVector { sparse, matrix, x: x_vector, y: y_vector, x_values: x, y_values: y, work: None })
    }

    /// Returns the bytes of buffer that the product needs, at least one.
    pub(crate) fn work_bytes(&self) -> Result<usize> {
        let (mut bytes, of, (handle, one, a, x, zero, y)) = (0, type_of(T::DTYPE), self.arguments());
        // SAFETY: handle and descriptors are live, scalars are of the compute type, `bytes` is writable.
        check("cusparseSpMV_bufferSize", unsafe {
            sys::cusparseSpMV_bufferSize(handle, PLAIN, one, a, x, zero, y, of, ALGORITHM, &mut bytes)
        })?;
        Ok(bytes.max(1))
    }

    /// Takes the buffer, and analyses the matrix if the library can (CUDA 12.4 and later).
    pub(crate) fn prepare(&mut self, work: CudaSlice<u8>) -> Result<()> {
        let needed = self.work_bytes()?;
        if work.len() < needed {
            let text = format!("the buffer has {} bytes; {needed} are needed", work.len());
            return Err(CellError::call("spmv", text));
        }
        if has_preprocess() {
            let (of, (handle, one, a, x, zero, y)) = (type_of(T::DTYPE), self.arguments());
            let buffer = buffer(&work, &self.sparse.stream);
            // SAFETY: handle and descriptors are live, scalars are of the compute type, the buffer is large enough
            // and is the one that every product passes.
            check("cusparseSpMV_preprocess", unsafe {
                sys::cusparseSpMV_preprocess(handle, PLAIN, one, a, x, zero, y, of, ALGORITHM, buffer)
            })?;
        }
        self.work = Some(work);
        Ok(())
    }

    pub(crate) fn execute(&mut self) -> Result<()> {
        let Some(work) = &self.work else {
            return Err(CellError::call("spmv", "the product has no buffer"));
        };
        let (handle, one, a, x, zero, y) = self.arguments();
        let work = buffer(work, &self.sparse.stream);
        // SAFETY: handle and descriptors are live and point to operands of the shapes checked in `new`, scalars are of
        // the compute type, and the buffer's size was checked in `prepare`.
        check("cusparseSpMV", unsafe {
            sys::cusparseSpMV(handle, PLAIN, one, a, x, zero, y, type_of(T::DTYPE), ALGORITHM, work)
        })
    }

    /// Returns handle, factor, matrix, x, factor of y, and y, in the form that the routines take.
    fn arguments(&self) -> Arguments {
        let [one, zero] = one_and_zero(T::DTYPE);
        (self.sparse.handle, one, self.matrix.raw, self.x.0.cast_const(), zero, self.y.0)
    }

    /// Returns the operand and the result, for checks.
    pub(crate) fn vectors_mut(&mut self) -> [&mut CudaSlice<T>; 2] {
        [&mut self.x_values, &mut self.y_values]
    }

    /// Returns the result, which is valid after the work on the stream.
    pub(crate) fn y(&self) -> &CudaSlice<T> {
        &self.y_values
    }
}

/// Returns whether the loaded cuSPARSE has the analysis step. Calling it would panic otherwise.
fn has_preprocess() -> bool {
    // SAFETY: the library is loaded, since a handle exists; the symbol is looked up and not called.
    unsafe { sys::culib().get::<*const c_void>(b"cusparseSpMV_preprocess") }.is_ok()
}
