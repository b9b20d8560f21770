//! Products of square row-major matrices: of floating point, and exact sums of products of 8-bit integers.

use std::ffi::{c_int, c_void};
use std::marker::PhantomData;

use cudarc::cublas::sys::{cublasComputeType_t, cublasOperation_t, cudaDataType_t};
use cudarc::driver::{CudaSlice, DevicePtr, DevicePtrMut};
use gpubench_report::case::DType;

use super::calls::{Algorithm, Owned, check};
use super::{CublasLt, SHORT, WORKSPACE_BYTES, none};
use crate::ffi::launch::fits;
use crate::ffi::tuning::fastest;
use crate::{Cuda, DeviceElement, Result};

/// Value of `cublasLtMatmulDescAttributes_t`: how the first operand is read.
const TRANSA: c_int = 3;

/// The product `C = A B` of matrices with elements of type `A` to sums of type `C`, or several such products, whose matrices follow
/// each other.
pub struct LtProduct<A, C> {
    // Descriptions before the library, because fields are dropped in this order.
    operation: Owned,
    /// The layout of both operands.
    operand: Owned,
    answer: Owned,
    /// The algorithms that the library proposes, the chosen one first.
    algorithms: Vec<Algorithm>,
    library: CublasLt,
    /// Factors of the product and of the previous C.
    factors: (C, C),
    side: usize,
    /// Elements of each array.
    elements: usize,
    operands: PhantomData<A>,
}

impl<T: DeviceElement> LtProduct<T, T> {
    /// Loads cuBLASLt and asks for algorithms for `n` by `n` matrices of floating point.
    ///
    /// # Errors
    /// The library is missing, or has no algorithm for this device, type and size.
    pub fn dense(cuda: &Cuda, n: usize) -> Result<Self> {
        let library = CublasLt::load(cuda)?;
        let (of, compute) = match T::DTYPE {
            DType::F32 => (cudaDataType_t::CUDA_R_32F, cublasComputeType_t::CUBLAS_COMPUTE_32F),
            DType::F64 => (cudaDataType_t::CUDA_R_64F, cublasComputeType_t::CUBLAS_COMPUTE_64F),
        };
        let operation = library.operation(compute, of)?;
        LtProduct::new(library, operation, (of, of), (n, 1), (T::ONE, T::ZERO))
    }
}

impl LtProduct<i8, i32> {
    /// Loads cuBLASLt and asks for algorithms for `moduli` products of `pitch` by `pitch` matrices of integers; `pitch` is a
    /// multiple of 16. The rows of A, and the columns of B, are stored as rows.
    ///
    /// # Errors
    /// The library is missing, or has no algorithm for this device and size.
    pub fn of_integers(cuda: &Cuda, pitch: usize, moduli: i32) -> Result<Self> {
        let library = CublasLt::load(cuda)?;
        let operation =
            library.operation(cublasComputeType_t::CUBLAS_COMPUTE_32I, cudaDataType_t::CUDA_R_32I)?;
        let transposed = cublasOperation_t::CUBLAS_OP_T;
        let value = (&raw const transposed).cast();
        // SAFETY: the descriptor is alive; the attribute is read from a value of its type before the call returns.
        check("cublasLtMatmulDescSetAttribute", unsafe {
            (library.calls.set_operation)(operation.raw, TRANSA, value, size_of_val(&transposed))
        })?;
        let types = (cudaDataType_t::CUDA_R_8I, cudaDataType_t::CUDA_R_32I);
        LtProduct::new(library, operation, types, (pitch, moduli), (1, 0))
    }
}

impl<A, C> LtProduct<A, C> {
    fn new(
        library: CublasLt,
        operation: Owned,
        (of_operands, of_answer): (cudaDataType_t, cudaDataType_t),
        (side, count): (usize, i32),
        factors: (C, C),
    ) -> Result<Self> {
        let operand = library.layout(of_operands, side, count)?;
        let answer = library.layout(of_answer, side, count)?;
        let algorithms = library.algorithms(&operation, &operand, &answer)?;
        let elements = count.unsigned_abs() as usize * side * side;
        let operands = PhantomData;
        Ok(LtProduct { operation, operand, answer, algorithms, library, factors, side, elements, operands })
    }

    /// Enqueues the product.
    pub fn enqueue(&self, a: &CudaSlice<A>, b: &CudaSlice<A>, c: &mut CudaSlice<C>) -> Result<()> {
        self.enqueue_by(self.algorithms.first().ok_or_else(none)?, a, b, c)
    }

    /// Times the algorithms on these matrices, and keeps the fastest. For integers all give the same bits, as sums of integers do
    /// not depend on their order.
    ///
    /// # Errors
    /// The library refuses every algorithm, or the device fails.
    pub fn choose(&mut self, a: &CudaSlice<A>, b: &CudaSlice<A>, c: &mut CudaSlice<C>) -> Result<()> {
        let run = |algorithm: &Algorithm| self.enqueue_by(algorithm, a, b, c);
        let runs = if self.side <= SHORT { 8 } else { 1 };
        let best = fastest(&self.library.cuda, runs, &self.algorithms, run)?;
        self.algorithms.swap(0, best.ok_or_else(none)?);
        Ok(())
    }

    fn enqueue_by(
        &self,
        algorithm: &Algorithm,
        a: &CudaSlice<A>,
        b: &CudaSlice<A>,
        c: &mut CudaSlice<C>,
    ) -> Result<()> {
        fits("A", a, self.elements)?;
        fits("B", b, self.elements)?;
        fits("C", c, self.elements)?;
        let CublasLt { cuda: Cuda { stream, .. }, calls, handle, workspace } = &self.library;
        let (a, b) = (a.device_ptr(stream).0 as *const c_void, b.device_ptr(stream).0 as *const c_void);
        let c = c.device_ptr_mut(stream).0 as *mut c_void;
        let (one, zero) = ((&raw const self.factors.0).cast(), (&raw const self.factors.1).cast());
        let [handle, operation, operand, answer] =
            [handle, &self.operation, &self.operand, &self.answer].map(|owned| owned.raw);
        let (chosen, work) = (&raw const algorithm.algorithm, workspace.device_ptr(stream).0 as *mut c_void);
        let (stream, bytes, before) = (stream.cu_stream().cast(), WORKSPACE_BYTES, c.cast_const());
        // Row-major matrices are column-major ones transposed, so B comes first.
        // SAFETY: descriptors and handle are alive; the layouts are those of the arrays (checked above), which begin at
        // allocations and so have the alignment that the algorithms were chosen for; the workspace has the bytes that the
        // algorithm was chosen for; the scalars are read before the call returns.
        check("cublasLtMatmul", unsafe {
            (calls.multiply)(
                handle, operation, one, b, operand, a, operand, zero, before, answer, c, answer, chosen,
                work, bytes, stream,
            )
        })
    }
}
