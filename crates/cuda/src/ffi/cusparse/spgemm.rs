//! Sparse matrix times sparse matrix by the documented sequences of calls: `cusparseSpGEMM` for a product that is computed once, and
//! `cusparseSpGEMMreuse` for products of one structure.

use std::ffi::c_void;

use cudarc::cusparse::sys;
use cudarc::driver::{CudaSlice, CudaStream, DevicePtrMut};
use gpubench_backend::contents::Memory;

use super::super::tuning::fastest;
use super::{BASE, INDEX, PLAIN, Sparse, SparseMatrix, buffer, check, one_and_zero, side, type_of};
use crate::sparse::DeviceCsr;
use crate::{CellError, Cuda, DeviceElement, Result};

/// The algorithms of a product that is computed once. The default one is the first.
const ALGORITHMS: [sys::cusparseSpGEMMAlg_t; 3] = [
    sys::cusparseSpGEMMAlg_t::CUSPARSE_SPGEMM_ALG1,
    sys::cusparseSpGEMMAlg_t::CUSPARSE_SPGEMM_ALG2,
    sys::cusparseSpGEMMAlg_t::CUSPARSE_SPGEMM_ALG3,
];

/// The algorithm of a product whose structure is reused: the default one. The others differ in the order of their sums.
const REUSE: sys::cusparseSpGEMMAlg_t = sys::cusparseSpGEMMAlg_t::CUSPARSE_SPGEMM_DEFAULT;

/// Share of the products that the third algorithm computes at a time.
const CHUNK: f32 = 1.0;

struct Descriptor(sys::cusparseSpGEMMDescr_t);

impl Descriptor {
    fn new() -> Result<Self> {
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
    fn new<T: DeviceElement>(rows: i64, cols: i64, offsets: u64) -> Result<Self> {
        let (mut raw, none) = (std::ptr::null_mut(), std::ptr::null_mut());
        let (offsets, of) = (offsets as *mut c_void, type_of(T::DTYPE));
        // SAFETY: `raw` is a place for one pointer; a matrix without entries needs offsets alone, and the addresses
        // are stored and not used by this call.
        check("cusparseCreateCsr", unsafe {
            sys::cusparseCreateCsr(&mut raw, rows, cols, 0, offsets, none, none, INDEX, INDEX, BASE, of)
        })?;
        Ok(Unfilled(raw))
    }

    /// Returns the number of stored entries, known after the product has been computed.
    fn nnz(&self) -> Result<usize> {
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

    /// Allocates the columns and values of the product, whose number of entries is known.
    fn allocate<T: DeviceElement>(&self, cuda: &Cuda, indptr: CudaSlice<i32>) -> Result<CsrArrays<T>> {
        let nnz = self.nnz()?;
        Ok(CsrArrays { indptr, indices: cuda.alloc_unset(nnz)?, values: cuda.alloc_unset(nnz)? })
    }

    /// Has the descriptor name arrays that [`Unfilled::allocate`] returned.
    fn point_at<T: DeviceElement>(&self, stream: &CudaStream, entries: &mut CsrArrays<T>) -> Result<()> {
        let indptr = entries.indptr.device_ptr_mut(stream).0 as *mut c_void;
        let indices = entries.indices.device_ptr_mut(stream).0 as *mut c_void;
        let values = entries.values.device_ptr_mut(stream).0 as *mut c_void;
        // SAFETY: the descriptor is live, and the arrays have the lengths that its shape asks for.
        check("cusparseCsrSetPointers", unsafe {
            sys::cusparseCsrSetPointers(self.0, indptr, indices, values)
        })
    }
}

impl Drop for Unfilled {
    fn drop(&mut self) {
        // SAFETY: this value owns the descriptor, and nothing uses it afterwards.
        let _ = unsafe { sys::cusparseDestroySpMat(self.0.cast_const()) };
    }
}

/// The arrays of a product in CSR form.
pub(crate) struct CsrArrays<T> {
    /// Offsets of the rows: one more than there are rows.
    pub(crate) indptr: CudaSlice<i32>,
    pub(crate) indices: CudaSlice<i32>,
    pub(crate) values: CudaSlice<T>,
}

impl<T> CsrArrays<T> {
    pub(crate) fn parts(&self) -> (&CudaSlice<i32>, &CudaSlice<i32>, &CudaSlice<T>) {
        (&self.indptr, &self.indices, &self.values)
    }
}

/// A product, and what its work on the stream needs until it has ended.
pub(crate) struct Computed<T> {
    _state: Descriptor,
    _c: Unfilled,
    _buffers: [CudaSlice<u8>; 2],
    pub(crate) entries: CsrArrays<T>,
}

/// The product C = A B with both operands and the handle.
pub(crate) struct SparseProduct<T> {
    // The handle first, because its Drop waits for the work that uses the other fields.
    sparse: Sparse,
    a: SparseMatrix<T>,
    b: SparseMatrix<T>,
    algorithm: sys::cusparseSpGEMMAlg_t,
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

impl<T: DeviceElement> SparseProduct<T> {
    /// Takes the operands, each with at least one stored entry.
    pub(crate) fn new(sparse: Sparse, a: DeviceCsr<T>, b: DeviceCsr<T>) -> Result<Self> {
        if a.cols() != b.rows() || a.nnz() == 0 || b.nnz() == 0 {
            let shapes = [a.rows(), a.cols(), a.nnz(), b.rows(), b.cols(), b.nnz()];
            return Err(CellError::call(
                "spgemm",
                format!("rows, columns and entries {shapes:?} cannot be multiplied"),
            ));
        }
        let (a, b) = (SparseMatrix::new(&sparse.stream, a)?, SparseMatrix::new(&sparse.stream, b)?);
        Ok(SparseProduct { sparse, a, b, algorithm: ALGORITHMS[0] })
    }

    /// Takes the fastest of cuSPARSE's algorithms by trials. Fails if every one is refused, or the device fails.
    pub(crate) fn choose(&mut self, cuda: &Cuda) -> Result<()> {
        let mut multiply = |algorithm: &_| {
            self.algorithm = *algorithm;
            self.multiply(cuda).and_then(|_| cuda.synchronize())
        };
        let best = fastest(cuda, 1, &ALGORITHMS, &mut multiply)?;
        match best {
            Some(best) => self.algorithm = ALGORITHMS[best],
            // For its error.
            None => multiply(&ALGORITHMS[0])?,
        }
        Ok(())
    }

    /// Multiplies as a caller does who knows nothing of the product: finds the sizes of buffers and result, and allocates them.
    pub(crate) fn multiply(&self, cuda: &Cuda) -> Result<Computed<T>> {
        let stream = &self.sparse.stream;
        let mut indptr = cuda.alloc_unset(self.a.csr.rows() + 1)?;
        let (state, c) = (Descriptor::new()?, self.unfilled(&mut indptr)?);
        let estimation = cuda.alloc_unset(self.ask(ESTIMATION, &state, &c)?)?;
        self.run(ESTIMATION, &state, &c, &estimation)?;
        let bytes = match self.algorithm == ALGORITHMS[0] {
            true => self.ask(COMPUTATION, &state, &c)?,
            false => self.estimate_memory(cuda, &state, &c)?,
        };
        let computation = cuda.alloc_unset(bytes)?;
        self.run(COMPUTATION, &state, &c, &computation)?;
        let mut entries = c.allocate(cuda, indptr)?;
        c.point_at(stream, &mut entries)?;
        let &SparseProduct { sparse: Sparse { handle, .. }, ref a, ref b, algorithm: way } = self;
        let ([one, zero], plain, real) = (one_and_zero(T::DTYPE), PLAIN, type_of(T::DTYPE));
        // SAFETY: handle and descriptors are live and come from the same computed product; scalars are of the compute
        // type; the result's arrays are large enough.
        check("cusparseSpGEMM_copy", unsafe {
            sys::cusparseSpGEMM_copy(handle, plain, plain, one, a.raw, b.raw, zero, c.0, real, way, state.0)
        })?;
        Ok(Computed { _state: state, _c: c, _buffers: [estimation, computation], entries })
    }

    /// The memory of offsets, columns and values of both operands, for checks.
    pub(crate) fn operands(&mut self) -> [[Memory<'_>; 3]; 2] {
        [self.a.csr.memory(), self.b.csr.memory()]
    }

    /// Makes a descriptor of the result at `indptr`.
    fn unfilled(&self, indptr: &mut CudaSlice<i32>) -> Result<Unfilled> {
        let (rows, cols) = (self.a.csr.rows(), self.b.csr.cols());
        if indptr.len() != rows + 1 {
            return Err(CellError::call(
                "cusparseCreateCsr",
                format!("{} offsets for {rows} rows", indptr.len()),
            ));
        }
        Unfilled::new::<T>(side(rows)?, side(cols)?, indptr.device_ptr_mut(&self.sparse.stream).0)
    }

    fn ask(&self, stage: (&str, Stage), state: &Descriptor, c: &Unfilled) -> Result<usize> {
        let mut bytes = 0;
        self.call(stage, state, c, &mut bytes, std::ptr::null_mut())?;
        Ok(bytes)
    }

    fn run(
        &self,
        stage: (&str, Stage),
        state: &Descriptor,
        c: &Unfilled,
        work: &CudaSlice<u8>,
    ) -> Result<()> {
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
    ) -> Result<()> {
        let &SparseProduct { sparse: Sparse { handle, .. }, ref a, ref b, algorithm: way } = self;
        let ([one, zero], plain, real) = (one_and_zero(T::DTYPE), PLAIN, type_of(T::DTYPE));
        // SAFETY: handle and descriptors are live, the operands' shapes agree (`new`), scalars are of the compute type;
        // `work` is null, which asks for the size, or a device buffer of `bytes` bytes that outlives the product.
        check(name, unsafe {
            stage(handle, plain, plain, one, a.raw, b.raw, zero, c.0, real, way, state.0, bytes, work)
        })
    }

    /// Returns the bytes that the computation needs by the second and third algorithm, which ask for them in a way of their own.
    fn estimate_memory(&self, cuda: &Cuda, state: &Descriptor, c: &Unfilled) -> Result<usize> {
        let &SparseProduct { sparse: Sparse { handle, .. }, ref a, ref b, algorithm: way } = self;
        let ([one, zero], plain, real) = (one_and_zero(T::DTYPE), PLAIN, type_of(T::DTYPE));
        let call = |size: &mut usize, work: *mut c_void, needed: *mut usize| {
            // SAFETY: handle and descriptors are live and estimated, scalars are of the compute type; `work` and `needed` are null,
            // which asks for the size, or a device buffer of `size` bytes and a place for a number.
            check("cusparseSpGEMM_estimateMemory", unsafe {
                sys::cusparseSpGEMM_estimateMemory(
                    handle, plain, plain, one, a.raw, b.raw, zero, c.0, real, way, state.0, CHUNK, size,
                    work, needed,
                )
            })
        };
        let (mut size, mut needed) = (0, 0);
        call(&mut size, std::ptr::null_mut(), std::ptr::null_mut())?;
        let work = cuda.alloc_unset::<u8>(size)?;
        call(&mut size, buffer(&work, &self.sparse.stream), &raw mut needed)?;
        Ok(needed)
    }
}

/// A product whose structure is known and whose arrays exist. An execution computes the values.
pub(crate) struct Repeated<T> {
    // Before the memory that its work uses.
    pub(crate) product: SparseProduct<T>,
    state: Descriptor,
    c: Unfilled,
    _buffers: [CudaSlice<u8>; 2],
    pub(crate) entries: CsrArrays<T>,
}

impl<T: DeviceElement> Repeated<T> {
    /// Finds the structure of the product.
    pub(crate) fn new(cuda: &Cuda, product: SparseProduct<T>) -> Result<Self> {
        let stream = product.sparse.stream.clone();
        let (handle, a, b) = (product.sparse.handle, product.a.raw, product.b.raw);
        let bytes = |size: usize| {
            cuda.reserve(size as u128)?;
            cuda.alloc::<u8>(size)
        };
        let mut indptr = cuda.alloc(product.a.csr.rows() + 1)?;
        let (state, c) = (Descriptor::new()?, product.unfilled(&mut indptr)?);
        let (plain, none) = (PLAIN, std::ptr::null_mut());
        // In the calls below, handle and descriptors are live and the operands' shapes agree. A null buffer asks for its size; others
        // have the size that the call before reported, and live until the stream has done its work.
        let estimate = |size: &mut usize, work| {
            // SAFETY: as above.
            check("cusparseSpGEMMreuse_workEstimation", unsafe {
                sys::cusparseSpGEMMreuse_workEstimation(
                    handle, plain, plain, a, b, c.0, REUSE, state.0, size, work,
                )
            })
        };
        let mut size = 0;
        estimate(&mut size, none)?;
        let first = bytes(size)?;
        estimate(&mut size, buffer(&first, &stream))?;
        let mut sizes = [0; 3];
        let count = |sizes: &mut [usize; 3], work: [*mut c_void; 3]| {
            let [second, third, fourth] = sizes;
            // SAFETY: as above.
            check("cusparseSpGEMMreuse_nnz", unsafe {
                sys::cusparseSpGEMMreuse_nnz(
                    handle, plain, plain, a, b, c.0, REUSE, state.0, second, work[0], third, work[1], fourth,
                    work[2],
                )
            })
        };
        count(&mut sizes, [none; 3])?;
        let [second, third, fourth] = sizes.map(bytes);
        let (second, third, fourth) = (second?, third?, fourth?);
        count(&mut sizes, [&second, &third, &fourth].map(|work| buffer(work, &stream)))?;
        let mut entries = c.allocate(cuda, indptr)?;
        c.point_at(&stream, &mut entries)?;
        let copy = |size: &mut usize, work| {
            // SAFETY: as above; the result's arrays have the lengths that its shape asks for.
            check("cusparseSpGEMMreuse_copy", unsafe {
                sys::cusparseSpGEMMreuse_copy(handle, plain, plain, a, b, c.0, REUSE, state.0, size, work)
            })
        };
        let mut size = 0;
        copy(&mut size, none)?;
        let fifth = bytes(size)?;
        copy(&mut size, buffer(&fifth, &stream))?;
        // The other buffers are no longer needed, once the work that uses them has ended.
        cuda.synchronize()?;
        Ok(Repeated { product, state, c, _buffers: [fourth, fifth], entries })
    }

    pub(crate) fn compute(&self) -> Result<()> {
        let SparseProduct { sparse: Sparse { handle, .. }, a, b, .. } = &self.product;
        let ([one, zero], plain, real) = (one_and_zero(T::DTYPE), PLAIN, type_of(T::DTYPE));
        let (handle, c, state) = (*handle, self.c.0, self.state.0);
        // SAFETY: handle and descriptors are live and hold the structure of this product; scalars are of the compute type; the
        // result's arrays and the buffers that the descriptor names live as long as this value.
        check("cusparseSpGEMMreuse_compute", unsafe {
            sys::cusparseSpGEMMreuse_compute(
                handle, plain, plain, one, a.raw, b.raw, zero, c, real, REUSE, state,
            )
        })
    }
}
