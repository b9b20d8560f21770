//! Products of the residues of `ozaki2-int8`: 8-bit integers with 32-bit sums.

use std::ffi::{c_int, c_void};

use cudarc::cublas::sys::{cublasComputeType_t, cublasOperation_t, cudaDataType_t};
use cudarc::driver::{CudaSlice, DevicePtr, DevicePtrMut};
use gpubench_model::error::CellError;

use super::calls::{Algorithm, Calls, Owned, check};
use super::{CublasLt, WORKSPACE_BYTES, algorithms, fastest, layout, none, operation};
use crate::context::Cuda;
use crate::ffi::launch::fits;

/// Value of `cublasLtMatmulDescAttributes_t`: how the first operand is read.
const TRANSA: c_int = 3;
/// Products of matrices of residues, one for each modulus. Rows of A, and columns of B, are stored as rows of `pitch`
/// bytes, the matrices one after the other.
pub(crate) struct ResidueProducts {
    // Descriptions before the library, because fields are dropped in this order.
    operation: Owned,
    /// The layout of both operands: the products of a sum are contiguous.
    operand: Owned,
    sums: Owned,
    /// The algorithms of doing it, the chosen one first.
    algorithms: Vec<Algorithm>,
    library: CublasLt,
    pitch: usize,
    moduli: i32,
}

impl ResidueProducts {
    /// Loads cuBLASLt and plans `moduli` products of `pitch` by `pitch` matrices; `pitch` is a multiple of 16.
    ///
    /// # Errors
    /// The library is missing, or has no algorithm for this device and size.
    pub(crate) fn new(cuda: &Cuda, pitch: usize, moduli: i32) -> Result<ResidueProducts, CellError> {
        use cudaDataType_t::{CUDA_R_8I, CUDA_R_32I};
        let library = CublasLt::load(cuda)?;
        let calls = library.calls;
        let operation = transposed_operation(calls)?;
        let operand = layout(calls, CUDA_R_8I, (pitch, pitch, pitch), moduli)?;
        let sums = layout(calls, CUDA_R_32I, (pitch, pitch, pitch), moduli)?;
        let algorithms = algorithms(calls, &library.handle, &operation, (&operand, &sums))?;
        Ok(ResidueProducts { operation, operand, sums, algorithms, library, pitch, moduli })
    }

    /// Enqueues all products.
    pub(crate) fn enqueue(
        &self,
        a: &CudaSlice<i8>,
        b: &CudaSlice<i8>,
        sums: &mut CudaSlice<i32>,
    ) -> Result<(), CellError> {
        self.enqueue_by(self.algorithms.first().ok_or_else(none)?, a, b, sums)
    }

    /// Times the algorithms on these residues, and keeps the fastest. All give the same bits, as sums of integers do not depend
    /// on their order.
    ///
    /// # Errors
    /// The library refuses every algorithm, or the device fails.
    pub(crate) fn choose(
        &mut self,
        a: &CudaSlice<i8>,
        b: &CudaSlice<i8>,
        sums: &mut CudaSlice<i32>,
    ) -> Result<(), CellError> {
        let run = |algorithm: &Algorithm| self.enqueue_by(algorithm, a, b, sums);
        let best = fastest(&self.library.cuda, self.pitch, &self.algorithms, run)?;
        self.algorithms.swap(0, best);
        Ok(())
    }

    fn enqueue_by(
        &self,
        algorithm: &Algorithm,
        a: &CudaSlice<i8>,
        b: &CudaSlice<i8>,
        sums: &mut CudaSlice<i32>,
    ) -> Result<(), CellError> {
        let elements = self.moduli.unsigned_abs() as usize * self.pitch * self.pitch;
        fits("A", a, elements)?;
        fits("B", b, elements)?;
        fits("the sums", sums, elements)?;
        let library = &self.library;
        let stream = &library.cuda.stream;
        let (a, b, sums) = (a.device_ptr(stream).0, b.device_ptr(stream).0, sums.device_ptr_mut(stream).0);
        let (one, zero) = (1i32, 0i32);
        // Row-major sums are column-major ones transposed, so B comes first.
        // SAFETY: descriptors and handle are alive; the layouts stay inside the arrays (checked above); operands are
        // aligned as the algorithms were chosen for, since rows are multiples of 16; the workspace has the
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
}

/// Describes 32-bit sums of products of integers; the first operand is read transposed.
fn transposed_operation(calls: Calls) -> Result<Owned, CellError> {
    let operation = operation(calls, cublasComputeType_t::CUBLAS_COMPUTE_32I, cudaDataType_t::CUDA_R_32I)?;
    let transposed = cublasOperation_t::CUBLAS_OP_T;
    let value = (&raw const transposed).cast();
    // SAFETY: the descriptor is alive; the attribute is read from a value of its type before the call returns.
    check("cublasLtMatmulDescSetAttribute", unsafe {
        (calls.set_operation)(operation.raw, TRANSA, value, size_of_val(&transposed))
    })?;
    Ok(operation)
}
