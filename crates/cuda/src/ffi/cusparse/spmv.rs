//! Sparse matrix times dense vector. The buffer is sized and the matrix analysed once.

use std::ffi::c_void;

use cudarc::cusparse::sys;
use cudarc::driver::{CudaSlice, DevicePtr, DevicePtrMut};

use super::{PLAIN, Sparse, SparseMatrix, buffer, check, one_and_zero, side, type_of};
use crate::sparse::DeviceCsr;
use crate::{CellError, Cuda, DeviceElement, Result};

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
    work: CudaSlice<u8>,
}

impl<T: DeviceElement> MatrixVector<T> {
    /// Takes the operands and the result vector, allocates the buffer that the product needs, and analyses the matrix if the
    /// library can (CUDA 12.4 and later). `a` must have at least one stored entry.
    pub(crate) fn new(cuda: &Cuda, a: DeviceCsr<T>, x: CudaSlice<T>, mut y: CudaSlice<T>) -> Result<Self> {
        if x.len() != a.cols() || y.len() != a.rows() || a.nnz() == 0 {
            let (rows, cols, nnz) = (a.rows(), a.cols(), a.nnz());
            let text = format!(
                "a matrix of {rows} x {cols} with {nnz} entries does not fit vectors of {} and {}",
                x.len(),
                y.len()
            );
            return Err(CellError::call("spmv", text));
        }
        let sparse = Sparse::new(&cuda.stream)?;
        let matrix = SparseMatrix::new(&sparse.stream, a)?;
        let x_vector = Vector::new::<T>(x.device_ptr(&sparse.stream).0, x.len())?;
        let y_len = y.len();
        let y_vector = Vector::new::<T>(y.device_ptr_mut(&sparse.stream).0, y_len)?;
        let (handle, a, to, from) = (sparse.handle, matrix.raw, y_vector.0, x_vector.0.cast_const());
        let ([one, zero], of, mut bytes) = (one_and_zero(T::DTYPE), type_of(T::DTYPE), 0);
        // SAFETY: handle and descriptors are live, scalars are of the compute type, `bytes` is writable.
        check("cusparseSpMV_bufferSize", unsafe {
            sys::cusparseSpMV_bufferSize(handle, PLAIN, one, a, from, zero, to, of, ALGORITHM, &mut bytes)
        })?;
        cuda.reserve(bytes.max(1) as u128)?;
        let work = cuda.alloc(bytes)?;
        if has_preprocess() {
            let work = buffer(&work, &sparse.stream);
            // SAFETY: handle and descriptors are live, scalars are of the compute type, the buffer is large enough
            // and is the one that every product passes.
            check("cusparseSpMV_preprocess", unsafe {
                sys::cusparseSpMV_preprocess(handle, PLAIN, one, a, from, zero, to, of, ALGORITHM, work)
            })?;
        }
        Ok(MatrixVector { sparse, matrix, x: x_vector, y: y_vector, x_values: x, y_values: y, work })
    }

    /// Enqueues y = A x.
    pub(crate) fn execute(&mut self) -> Result<()> {
        let MatrixVector { sparse: Sparse { handle, stream }, matrix, x, y, work, .. } = self;
        let ([one, zero], of, work) = (one_and_zero(T::DTYPE), type_of(T::DTYPE), buffer(work, stream));
        let (handle, a, to, from) = (*handle, matrix.raw, y.0, x.0.cast_const());
        // SAFETY: handle and descriptors are live and point to operands of the shapes checked in `new`, scalars are of
        // the compute type, and the buffer has the size that the library asked for.
        check("cusparseSpMV", unsafe {
            sys::cusparseSpMV(handle, PLAIN, one, a, from, zero, to, of, ALGORITHM, work)
        })
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
