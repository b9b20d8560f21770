//! Products of square row-major matrices of floating point, by the fastest of the algorithms that the library proposes.

use std::ffi::c_void;

use cudarc::cublas::sys::{cublasComputeType_t, cudaDataType_t};
use cudarc::driver::{CudaSlice, DevicePtr, DevicePtrMut};
use gpubench_model::error::CellError;

use super::calls::{Algorithm, Owned, check};
use super::{CublasLt, WORKSPACE_BYTES, algorithms, fastest, layout, none, operation};
use crate::context::{Cuda, Element};
use crate::ffi::launch::fits;

/// An element type, with the types of its sums.
pub(crate) trait ProductReal: Element {
    const TYPE: cudaDataType_t;
    const COMPUTE: cublasComputeType_t;
    const ONE: Self;
    const ZERO: Self;
}

impl ProductReal for f32 {
    const TYPE: cudaDataType_t = cudaDataType_t::CUDA_R_32F;
    const COMPUTE: cublasComputeType_t = cublasComputeType_t::CUBLAS_COMPUTE_32F;
    const ONE: f32 = 1.0;
    const ZERO: f32 = 0.0;
}

impl ProductReal for f64 {
    const TYPE: cudaDataType_t = cudaDataType_t::CUDA_R_64F;
    const COMPUTE: cublasComputeType_t = cublasComputeType_t::CUBLAS_COMPUTE_64F;
    const ONE: f64 = 1.0;
    const ZERO: f64 = 0.0;
}

/// The product `C = A B` of `n` by `n` matrices.
pub(crate) struct DenseProduct {
    // Descriptions before the library, because fields are dropped in this order.
    operation: Owned,
    matrix: Owned,
    algorithms: Vec<Algorithm>,
    library: CublasLt,
    n: usize,
}

impl DenseProduct {
    /// Asks the library for algorithms.
    ///
    /// # Errors
    /// The library is missing, or has none for this device, type and size.
    pub(crate) fn new<T: ProductReal>(cuda: &Cuda, n: usize) -> Result<DenseProduct, CellError> {
        let library = CublasLt::load(cuda)?;
        let calls = library.calls;
        let operation = operation(calls, T::COMPUTE, T::TYPE)?;
        let matrix = layout(calls, T::TYPE, (n, n, n), 1)?;
        let algorithms = algorithms(calls, &library.handle, &operation, (&matrix, &matrix))?;
        Ok(DenseProduct { operation, matrix, algorithms, library, n })
    }

    /// Enqueues the product.
    pub(crate) fn enqueue<T: ProductReal>(
        &self,
        a: &CudaSlice<T>,
        b: &CudaSlice<T>,
        c: &mut CudaSlice<T>,
    ) -> Result<(), CellError> {
        self.enqueue_by(self.algorithms.first().ok_or_else(none)?, a, b, c)
    }

    /// Times the algorithms on these matrices, and keeps the fastest.
    ///
    /// # Errors
    /// The library refuses every algorithm, or the device fails.
    pub(crate) fn choose<T: ProductReal>(
        &mut self,
        a: &CudaSlice<T>,
        b: &CudaSlice<T>,
        c: &mut CudaSlice<T>,
    ) -> Result<(), CellError> {
        let run = |algorithm: &Algorithm| self.enqueue_by(algorithm, a, b, c);
        let best = fastest(&self.library.cuda, self.n, &self.algorithms, run)?;
        self.algorithms.swap(0, best);
        Ok(())
    }

    fn enqueue_by<T: ProductReal>(
        &self,
        algorithm: &Algorithm,
        a: &CudaSlice<T>,
        b: &CudaSlice<T>,
        c: &mut CudaSlice<T>,
    ) -> Result<(), CellError> {
        let area = self.n * self.n;
        fits("A", a, area)?;
        fits("B", b, area)?;
        fits("C", c, area)?;
        let library = &self.library;
        let stream = &library.cuda.stream;
        let (a, b, c) = (a.device_ptr(stream).0, b.device_ptr(stream).0, c.device_ptr_mut(stream).0);
        let (one, zero) = (T::ONE, T::ZERO);
        let matrix = self.matrix.raw;
        // Row-major matrices are column-major ones transposed, so B comes first.
        // SAFETY: descriptors and handle are alive; the layouts are those of the arrays (checked above), which begin at
        // allocations and so have the alignment that the algorithms were chosen for; the workspace has the bytes that the
        // algorithm was chosen for; the scalars are read before the call returns.
        check("cublasLtMatmul", unsafe {
            (library.calls.multiply)(
                library.handle.raw,
                self.operation.raw,
                (&raw const one).cast(),
                b as *const c_void,
                matrix,
                a as *const c_void,
                matrix,
                (&raw const zero).cast(),
                c as *const c_void,
                matrix,
                c as *mut c_void,
                matrix,
                &raw const algorithm.algorithm,
                library.workspace.device_ptr(stream).0 as *mut c_void,
                WORKSPACE_BYTES,
                stream.cu_stream().cast(),
            )
        })
    }
}
