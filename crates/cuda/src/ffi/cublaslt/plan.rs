//! A product of 8-bit integer matrices with 32-bit sums, and the choice of its algorithm.

use std::ffi::c_void;

use cudarc::cublas::sys::cudaDataType_t;
use cudarc::driver::{CudaSlice, DevicePtr, DevicePtrMut};
use gpubench_model::error::{CellError, Unavailable};

use super::super::super::context::{Cuda, Library};
use super::super::super::loader;
use super::super::launch::fits;
use super::calls::{Algorithm, Calls, Owned, check};
use super::describe::{WORKSPACE_BYTES, algorithms, layout, none, operation};

/// Up to this size, a run is short compared with the wait for it, so a timing takes several runs.
const SHORT: usize = 4096;

/// The shape of a product `A B`, where the rows of A and the columns of B are stored as rows, one after the other.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shape {
    /// Rows of A, columns of B, and both of the sums; a multiple of 16.
    pub(super) side: usize,
    /// Products per sum; a multiple of 16.
    pub(super) depth: usize,
    /// Elements from one row of an operand to the next, at least `depth`; a multiple of 16.
    pub(super) row: usize,
    /// Products of different matrices, which are stored one after the other.
    pub(super) batch: i32,
}

impl Shape {
    /// Returns the elements of an operand from its first to its last.
    fn operand(self) -> usize {
        self.matrices() * self.side * self.row - (self.row - self.depth)
    }

    fn sums(self) -> usize {
        self.matrices() * self.side * self.side
    }

    fn matrices(self) -> usize {
        self.batch.unsigned_abs() as usize
    }
}

/// The library's handle and workspace, which the products of a job share.
pub(super) struct CublasLt {
    pub(super) cuda: Cuda,
    pub(super) calls: Calls,
    pub(super) handle: Owned,
    pub(super) workspace: CudaSlice<u8>,
}

impl CublasLt {
    /// Loads cuBLASLt.
    ///
    /// # Errors
    /// It is missing or too old.
    pub(super) fn load(cuda: &Cuda) -> Result<CublasLt, CellError> {
        cuda.require(Library::CublasLt)?;
        let calls = loader::open_by_stem(Library::CublasLt.stem())
            .as_ref()
            .and_then(Calls::find)
            .ok_or_else(|| {
                Unavailable::new(
                    "cuBLASLt is too old: it lacks functions that gpubench needs",
                    "use --variants cublas",
                )
            })?;
        // SAFETY: the place is writable and the context is current.
        let handle = Owned::new("cublasLtCreate", calls.destroy, |raw| unsafe { (calls.create)(raw) })?;
        cuda.count_plan();
        Ok(CublasLt { cuda: cuda.clone(), calls, handle, workspace: cuda.alloc(WORKSPACE_BYTES)? })
    }
}

/// Where a product finds its operands and leaves its sums: each array, and the element of it that is the first.
pub(super) struct Arrays<'a> {
    pub(super) a: (&'a CudaSlice<i8>, usize),
    pub(super) b: (&'a CudaSlice<i8>, usize),
    pub(super) sums: (&'a mut CudaSlice<i32>, usize),
}

/// One product: its shape, and the algorithms of doing it, the chosen one first.
pub(super) struct Plan {
    shape: Shape,
    operation: Owned,
    /// The layout of both operands: the depth is contiguous.
    operand: Owned,
    sums: Owned,
    algorithms: Vec<Algorithm>,
}

impl Plan {
    /// Asks the library for algorithms.
    ///
    /// # Errors
    /// It has none for this device and shape.
    pub(super) fn new(library: &CublasLt, shape: Shape) -> Result<Plan, CellError> {
        use cudaDataType_t::{CUDA_R_8I, CUDA_R_32I};
        let Shape { side, depth, row, batch } = shape;
        let calls = library.calls;
        let operation = operation(calls)?;
        let operand = layout(calls, CUDA_R_8I, (depth, side, row), batch)?;
        let sums = layout(calls, CUDA_R_32I, (side, side, side), batch)?;
        let algorithms = algorithms(calls, &library.handle, &operation, (&operand, &sums))?;
        Ok(Plan { shape, operation, operand, sums, algorithms })
    }

    /// Enqueues the product.
    pub(super) fn enqueue(&self, library: &CublasLt, arrays: &mut Arrays<'_>) -> Result<(), CellError> {
        self.enqueue_by(self.algorithms.first().ok_or_else(none)?, library, arrays)
    }

    fn enqueue_by(
        &self,
        algorithm: &Algorithm,
        library: &CublasLt,
        arrays: &mut Arrays<'_>,
    ) -> Result<(), CellError> {
        let Arrays { a: (a, a_start), b: (b, b_start), sums: (sums, sums_start) } = arrays;
        fits("A", a, *a_start + self.shape.operand())?;
        fits("B", b, *b_start + self.shape.operand())?;
        fits("the sums", sums, *sums_start + self.shape.sums())?;
        let stream = &library.cuda.stream;
        let (a, b) = (a.device_ptr(stream).0 + *a_start as u64, b.device_ptr(stream).0 + *b_start as u64);
        let sums = sums.device_ptr_mut(stream).0 + (*sums_start * size_of::<i32>()) as u64;
        let (one, zero) = (1i32, 0i32);
        // Row-major sums are column-major ones transposed, so B comes first.
        // SAFETY: descriptors and handle are alive; the layouts stay inside the arrays (checked above); operands are
        // aligned as the algorithms were chosen for, since rows and starts are multiples of 16; the workspace has the
        // bytes that the algorithm was chosen for; the scalars are read before the call returns.
        check("cublasLtMatmul", unsafe {
            (library.calls.multiply)(
                library.handle.raw,
                self.operation.raw,
                (&raw const one).cast(),
                b as *const c_void,
                self.operand.raw,
                a as *const c_void,
                self.operand.raw,
                (&raw const zero).cast(),
                sums as *const c_void,
                self.sums.raw,
                sums as *mut c_void,
                self.sums.raw,
                &raw const algorithm.algorithm,
                library.workspace.device_ptr(stream).0 as *mut c_void,
                WORKSPACE_BYTES,
                stream.cu_stream().cast(),
            )
        })
    }

    /// Times the algorithms and keeps the fastest. All give the same bits, as sums of integers do not depend on their order.
    ///
    /// # Errors
    /// The library refuses every algorithm, or the device fails.
    pub(super) fn choose(&mut self, library: &CublasLt, arrays: &mut Arrays<'_>) -> Result<(), CellError> {
        let run = |algorithm: &Algorithm| self.enqueue_by(algorithm, library, arrays);
        let best = fastest(&library.cuda, self.shape.side, &self.algorithms, run)?;
        self.algorithms.swap(0, best);
        Ok(())
    }
}

/// Returns the index of the fastest algorithm for matrices of that side. `enqueue` enqueues a product by an algorithm.
///
/// # Errors
/// The library refuses every algorithm, or the device fails.
pub(super) fn fastest(
    cuda: &Cuda,
    side: usize,
    algorithms: &[Algorithm],
    enqueue: impl FnMut(&Algorithm) -> Result<(), CellError>,
) -> Result<usize, CellError> {
    let runs = if side <= SHORT { 8 } else { 1 };
    super::super::fastest::fastest(cuda, runs, algorithms, enqueue)?.ok_or_else(none)
}
