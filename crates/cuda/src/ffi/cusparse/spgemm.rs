//! Sparse matrix times sparse matrix by the documented sequence of calls, with buffers kept between products.

use std::ffi::c_void;

use cudarc::cusparse::sys;
use cudarc::driver::{CudaSlice, DevicePtrMut, ValidAsZeroBits};
use gpubench_model::error::CellError;

use super::{BASE, INDEX, Matrix, NO_TRANSPOSE, Sparse, SparseReal, buffer, check, scalar, side};
use crate::context::Cuda;
use crate::sparse::DeviceCsr;

const ALGORITHM: sys::cusparseSpGEMMAlg_t = sys::cusparseSpGEMMAlg_t::CUSPARSE_SPGEMM_DEFAULT;

/// The state of one product.
struct Descriptor(sys::cusparseSpGEMMDescr_t);

impl Descriptor {
    fn new() -> Result<Self, CellError> {
        let mut raw = std::ptr::null_mut();
        // SAFETY: `raw` is a place for one pointer.
        check("cusparseSpGEMM_createDescr", unsafe { sys::cusparseSpGEMM_createDescr(&mut raw) })?;
        Ok(Descriptor(raw))
    }
}

impl Drop for Descriptor {
    fn drop(&mut self) {
        // SAFETY: this value owns the descriptor, and nothing uses it afterwards.
        let _ = unsafe { sys::cusparseSpGEMM_destroyDescr(self.0) };
    }
}

/// The descriptor of a result that has offsets but no entries yet.
struct Unfilled(sys::cusparseSpMatDescr_t);

impl Unfilled {
    /// Makes a result of `rows x cols` with its `rows + 1` offsets at that address.
    fn new<T: SparseReal>(rows: i64, cols: i64, offsets: u64) -> Result<Self, CellError> {
        let (mut raw, none) = (std::ptr::null_mut(), std::ptr::null_mut());
        let offsets = offsets as *mut c_void;
        // SAFETY: `raw` is a place for one pointer; a matrix without entries needs offsets alone, and the addresses
        // are stored and not used by this call.
        check("cusparseCreateCsr", unsafe {
            sys::cusparseCreateCsr(&mut raw, rows, cols, 0, offsets, none, none, INDEX, INDEX, BASE, T::TYPE)
        })?;
        Ok(Unfilled(raw))
    }

    /// Returns the number of stored entries, known after the product has been computed.
    fn nnz(&self) -> Result<usize, CellError> {
        let (mut rows, mut cols, mut nnz) = (0, 0, 0);
        // SAFETY: the descriptor is live and the three places are writable.
        check("cusparseSpMatGetSize", unsafe {
            sys::cusparseSpMatGetSize(self.0.cast_const(), &mut rows, &mut cols, &mut nnz)
        })?;
        let call = "cusparseSpGEMM_compute";
        // Offsets are 32-bit, as in every other backend.
        i32::try_from(nnz).ok().and_then(|nnz| usize::try_from(nnz).ok()).ok_or_else(|| {
            CellError::call(call, format!("{nnz} entries exceed 32-bit offsets; use a smaller size"))
        })
    }
}

impl Drop for Unfilled {
    fn drop(&mut self) {
        // SAFETY: this value owns the descriptor, and nothing uses it afterwards.
        let _ = unsafe { sys::cusparseDestroySpMat(self.0.cast_const()) };
    }
}

/// The buffers and the result of a product, reused by the next one.
pub(crate) struct ProductBuffers<T> {
    pub(crate) estimation: CudaSlice<u8>,
    pub(crate) computation: CudaSlice<u8>,
    /// Offsets of the result's rows: one more than it has rows.
    pub indptr: CudaSlice<i32>,
    /// Columns of the result's entries.
    pub indices: CudaSlice<i32>,
    /// The result's entries.
    pub values: CudaSlice<T>,
}

/// The product C = A B with both operands and the handle.
pub(crate) struct Product<T> {
    // The handle first, because its Drop waits for the work that uses the other fields.
    sparse: Sparse,
    a: Matrix<T>,
    b: Matrix<T>,
}

/// A routine that returns its buffer size if called without a buffer: the estimation or the computation.
type Stage = unsafe fn(
    sys::cusparseHandle_t,
    sys::cusparseOperation_t,
    sys::cusparseOperation_t,
    *const c_void,
    sys::cusparseConstSpMatDescr_t,
    sys::cusparseConstSpMatDescr_t,
    *const c_void,
    sys::cusparseSpMatDescr_t,
    sys::cudaDataType,
    sys::cusparseSpGEMMAlg_t,
    sys::cusparseSpGEMMDescr_t,
    *mut usize,
    *mut c_void,
) -> sys::cusparseStatus_t;

const ESTIMATION: (&str, Stage) = ("cusparseSpGEMM_workEstimation", sys::cusparseSpGEMM_workEstimation);
const COMPUTATION: (&str, Stage) = ("cusparseSpGEMM_compute", sys::cusparseSpGEMM_compute);

impl<T: SparseReal + ValidAsZeroBits> Product<T> {
    /// Takes the operands, each with at least one stored entry.
    pub(crate) fn new(sparse: Sparse, a: DeviceCsr<T>, b: DeviceCsr<T>) -> Result<Self, CellError> {
        if a.cols() != b.rows() || a.nnz() == 0 || b.nnz() == 0 {
            let shapes = [a.rows(), a.cols(), a.nnz(), b.rows(), b.cols(), b.nnz()];
            return Err(CellError::call(
                "spgemm",
                format!("rows, columns and entries {shapes:?} cannot be multiplied"),
            ));
        }
        let (a, b) = (Matrix::new(&sparse.stream, a)?, Matrix::new(&sparse.stream, b)?);
        Ok(Product { sparse, a, b })
    }

    /// Multiplies once and returns the memory that it allocated, for reuse.
    pub(crate) fn first(&self, cuda: &Cuda) -> Result<ProductBuffers<T>, CellError> {
        let bytes = |stage, state: &_, c: &_| {
            let bytes = self.ask(stage, state, c)?.max(1);
            cuda.reserve(bytes as u128)?;
            cuda.alloc(bytes)
        };
        let mut indptr = cuda.alloc(self.a.csr.rows() + 1)?;
        let (state, c) = (Descriptor::new()?, self.unfilled(&mut indptr)?);
        let estimation = bytes(ESTIMATION, &state, &c)?;
        self.run(ESTIMATION, &state, &c, &estimation)?;
        let computation = bytes(COMPUTATION, &state, &c)?;
        self.run(COMPUTATION, &state, &c, &computation)?;
        let nnz = c.nnz()?;
        let mut buffers = ProductBuffers {
            estimation,
            computation,
            indptr,
            indices: cuda.alloc(nnz.max(1))?,
            values: cuda.alloc(nnz.max(1))?,
        };
        self.copy(&state, &c, &mut buffers)?;
        // The descriptors are dropped on return, and the copy may still be queued.
        cuda.synchronize()?;
        Ok(buffers)
    }

    /// Prepares to multiply again into the buffers of [`Product::first`].
    ///
    /// State and result descriptor are new each time, because nothing documents that a product may reuse them. Both
    /// are small host objects.
    pub(crate) fn ready(&self, buffers: &mut ProductBuffers<T>) -> Result<Ready, CellError> {
        let ready = Ready { state: Descriptor::new()?, c: self.unfilled(&mut buffers.indptr)? };
        self.fits(ESTIMATION, &ready.state, &ready.c, &buffers.estimation)?;
        Ok(ready)
    }

    /// Multiplies again: estimates, computes and copies. The buffer size of the computation is queried again, because
    /// the documented sequence has that call between estimation and computation.
    pub(crate) fn again(&self, ready: &Ready, buffers: &mut ProductBuffers<T>) -> Result<(), CellError> {
        let Ready { state, c } = ready;
        self.run(ESTIMATION, state, c, &buffers.estimation)?;
        self.fits(COMPUTATION, state, c, &buffers.computation)?;
        self.run(COMPUTATION, state, c, &buffers.computation)?;
        self.copy(state, c, buffers)
    }

    /// Makes a descriptor of the result at `indptr`.
    fn unfilled(&self, indptr: &mut CudaSlice<i32>) -> Result<Unfilled, CellError> {
        let (rows, cols) = (self.a.csr.rows(), self.b.csr.cols());
        if indptr.len() != rows + 1 {
            return Err(CellError::call(
                "cusparseCreateCsr",
                format!("{} offsets for {rows} rows", indptr.len()),
            ));
        }
        Unfilled::new::<T>(side(rows)?, side(cols)?, indptr.device_ptr_mut(&self.sparse.stream).0)
    }

    /// Returns the bytes of buffer that a stage needs.
    fn ask(&self, stage: (&str, Stage), state: &Descriptor, c: &Unfilled) -> Result<usize, CellError> {
        let mut bytes = 0;
        self.call(stage, state, c, &mut bytes, std::ptr::null_mut())?;
        Ok(bytes)
    }

    /// Queries a stage's buffer size, as its documentation requires, and fails if the buffer is smaller.
    fn fits(
        &self,
        stage: (&str, Stage),
        state: &Descriptor,
        c: &Unfilled,
        given: &CudaSlice<u8>,
    ) -> Result<(), CellError> {
        let needed = self.ask(stage, state, c)?;
        if given.len() < needed {
            let text = format!("{needed} bytes are needed; the buffer has {}", given.len());
            return Err(CellError::call(stage.0, text));
        }
        Ok(())
    }

    fn run(
        &self,
        stage: (&str, Stage),
        state: &Descriptor,
        c: &Unfilled,
        work: &CudaSlice<u8>,
    ) -> Result<(), CellError> {
        let mut bytes = work.len();
        self.call(stage, state, c, &mut bytes, buffer(work, &self.sparse.stream))
    }

    fn call(
        &self,
        (name, stage): (&str, Stage),
        state: &Descriptor,
        c: &Unfilled,
        bytes: &mut usize,
        work: *mut c_void,
    ) -> Result<(), CellError> {
        // SAFETY: handle and descriptors are live, the operands' shapes agree (`new`), scalars are of the compute type;
        // `work` is null, which asks for the size, or a device buffer of `bytes` bytes that outlives the product.
        check(name, unsafe {
            stage(
                self.sparse.handle,
                NO_TRANSPOSE,
                NO_TRANSPOSE,
                scalar(&T::ONE),
                self.a.raw,
                self.b.raw,
                scalar(&T::ZERO),
                c.0,
                T::TYPE,
                ALGORITHM,
                state.0,
                bytes,
                work,
            )
        })
    }

    /// Copies the computed product out of the buffers into the result's arrays.
    fn copy(
        &self,
        state: &Descriptor,
        c: &Unfilled,
        buffers: &mut ProductBuffers<T>,
    ) -> Result<(), CellError> {
        let nnz = c.nnz()?;
        let found = (buffers.indptr.len(), buffers.indices.len(), buffers.values.len());
        if found != (self.a.csr.rows() + 1, nnz.max(1), nnz.max(1)) {
            return Err(CellError::call(
                "cusparseSpGEMM_copy",
                format!("{nnz} entries do not fit arrays of {found:?}"),
            ));
        }
        let stream = &self.sparse.stream;
        // SAFETY: the descriptor is live, and the arrays have the lengths that its shape asks for.
        check("cusparseCsrSetPointers", unsafe {
            sys::cusparseCsrSetPointers(
                c.0,
                buffers.indptr.device_ptr_mut(stream).0 as *mut c_void,
                buffers.indices.device_ptr_mut(stream).0 as *mut c_void,
                buffers.values.device_ptr_mut(stream).0 as *mut c_void,
            )
        })?;
        // SAFETY: handle and descriptors are live and come from the same computed product; scalars are of the compute
        // type; the result's arrays are large enough.
        check("cusparseSpGEMM_copy", unsafe {
            sys::cusparseSpGEMM_copy(
                self.sparse.handle,
                NO_TRANSPOSE,
                NO_TRANSPOSE,
                scalar(&T::ONE),
                self.a.raw,
                self.b.raw,
                scalar(&T::ZERO),
                c.0,
                T::TYPE,
                ALGORITHM,
                state.0,
            )
        })
    }
}

/// The descriptors of one product. Keep them until the stream has completed it.
pub(crate) struct Ready {
    state: Descriptor,
    c: Unfilled,
}
