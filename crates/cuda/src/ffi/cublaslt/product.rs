//! Products of row-major matrices: of floating point, and exact sums of products of 8-bit integers.

use std::ffi::{c_int, c_void};
use std::marker::PhantomData;

use cudarc::cublas::sys::{cublasComputeType_t, cublasOperation_t, cudaDataType_t};
use cudarc::driver::{CudaSlice, DevicePtr, DevicePtrMut};
use gpubench_ops::matmul::Products;

use super::calls::{Algorithm, Owned, check};
use super::{CublasLt, SHORT, WORKSPACE_BYTES, none};
use crate::ffi::cublas::{Arithmetic, checked_side};
use crate::ffi::launch::fits;
use crate::ffi::tuning::fastest;
use crate::{Cuda, DeviceValue, Result};

/// Values of `cublasLtMatmulDescAttributes_t`: how the library's first and second operand are read, which are B and A here.
const TRANSA: c_int = 3;
const TRANSB: c_int = 4;

/// The product `C = A B` of matrices with elements of type `A` to sums of type `C`, or several such products, whose matrices follow
/// each other.
pub struct LtProduct<A, C> {
    // Descriptions before the library, because fields are dropped in this order.
    operation: Owned,
    /// The layouts of A, B and C.
    layouts: [Owned; 3],
    /// The algorithms that the library proposes, the chosen one first.
    algorithms: Vec<Algorithm>,
    library: CublasLt,
    /// Factors of the product and of the previous C, whose bytes come first.
    factors: [u128; 2],
    /// The side of a square product of as much work.
    side: usize,
    /// Elements of A, B and C, or parts of complex ones.
    elements: [usize; 3],
    types: PhantomData<(A, C)>,
}

impl<S> LtProduct<S, S> {
    /// Loads cuBLASLt and asks for algorithms for products of elements `T`.
    ///
    /// # Errors
    /// The library is missing, or has no algorithm for this device, type and shape.
    pub fn dense<T: DeviceValue<Stored = S>>(cuda: &Cuda, products: &Products) -> Result<Self> {
        let (library, arithmetic) = (CublasLt::load(cuda)?, Arithmetic::of(T::DTYPE));
        let (of_operands, of_answer, compute) = arithmetic.types();
        let operation = library.operation(compute, arithmetic.factor_type())?;
        let factors = arithmetic.factors();
        let mut product = LtProduct::new(library, operation, (of_operands, of_answer), products, factors)?;
        product.elements = product.elements.map(|elements| elements * T::PARTS);
        Ok(product)
    }
}

impl LtProduct<i8, i32> {
    /// Loads cuBLASLt and asks for algorithms for `moduli` products of `pitch` by `pitch` matrices of integers; `pitch` is a
    /// multiple of 16. The rows of A, and the columns of B, are stored as rows.
    ///
    /// # Errors
    /// The library is missing, or has no algorithm for this device and size.
    pub fn of_integers(cuda: &Cuda, pitch: usize, moduli: usize) -> Result<Self> {
        let library = CublasLt::load(cuda)?;
        let operation =
            library.operation(cublasComputeType_t::CUBLAS_COMPUTE_32I, cudaDataType_t::CUDA_R_32I)?;
        let types = (cudaDataType_t::CUDA_R_8I, cudaDataType_t::CUDA_R_32I);
        let products = Products { transposed: [false, true], batch: moduli, ..Products::square(pitch) };
        LtProduct::new(library, operation, types, &products, [1, 0])
    }
}

impl<A, C> LtProduct<A, C> {
    fn new(
        library: CublasLt,
        operation: Owned,
        (of_operands, of_answer): (cudaDataType_t, cudaDataType_t),
        products: &Products,
        factors: [u128; 2],
    ) -> Result<Self> {
        let [m, n, _] = products.sides;
        let [of_a, of_b] = products.stored;
        let count = checked_side(products.batch)?;
        let [a_transposed, b_transposed] = products.transposed;
        for (attribute, is_transposed) in [(TRANSA, b_transposed), (TRANSB, a_transposed)] {
            let transposed = match is_transposed {
                true => cublasOperation_t::CUBLAS_OP_T,
                false => cublasOperation_t::CUBLAS_OP_N,
            };
            let value = (&raw const transposed).cast();
            // SAFETY: the descriptor is alive; the attribute is read from a value of its type before the call returns.
            check("cublasLtMatmulDescSetAttribute", unsafe {
                (library.calls.set_operation)(operation.raw, attribute, value, size_of_val(&transposed))
            })?;
        }
        let layouts = [
            library.layout(of_operands, of_a, count)?,
            library.layout(of_operands, of_b, count)?,
            library.layout(of_answer, [m, n], count)?,
        ];
        let algorithms = library.algorithms(&operation, layouts.each_ref())?;
        let elements = products.lens().map(|len| len * products.batch);
        let (side, types) = (products.side(), PhantomData);
        Ok(LtProduct { operation, layouts, algorithms, library, factors, side, elements, types })
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
        let [of_a, of_b, of_c] = self.elements;
        fits("A", a, of_a)?;
        fits("B", b, of_b)?;
        fits("C", c, of_c)?;
        let CublasLt { cuda: Cuda { stream, .. }, calls, handle, workspace } = &self.library;
        let (a, b) = (a.device_ptr(stream).0 as *const c_void, b.device_ptr(stream).0 as *const c_void);
        let c = c.device_ptr_mut(stream).0 as *mut c_void;
        let [one, zero] = self.factors.each_ref().map(|factor| (&raw const *factor).cast());
        let [of_a, of_b, of_c] = self.layouts.each_ref();
        let [handle, operation, of_a, of_b, of_c] =
            [handle, &self.operation, of_a, of_b, of_c].map(|owned| owned.raw);
        let (chosen, work) = (&raw const algorithm.algorithm, workspace.device_ptr(stream).0 as *mut c_void);
        let (stream, bytes, before) = (stream.cu_stream().cast(), WORKSPACE_BYTES, c.cast_const());
        // Row-major matrices are column-major ones transposed, so B comes first.
        // SAFETY: descriptors and handle are alive; the layouts are those of the arrays (checked above), which begin at
        // allocations and so have the alignment that the algorithms were chosen for; the workspace has the bytes that the
        // algorithm was chosen for; the scalars are read before the call returns.
        check("cublasLtMatmul", unsafe {
            (calls.multiply)(
                handle, operation, one, b, of_b, a, of_a, zero, before, of_c, c, of_c, chosen, work, bytes,
                stream,
            )
        })
    }
}
