//! cuBLAS: a handle with its own workspace on the context's stream, and square row-major products.
//!
//! API: <https://docs.nvidia.com/cuda/cublas/>.

mod batch;
mod dense;

use std::ffi::c_void;

pub(crate) use batch::Addresses;
pub use dense::{Matrix, Product};

use cudarc::cublas::sys::{self, cublasComputeType_t, cublasGemmAlgo_t, cublasHandle_t, cublasOperation_t};
use cudarc::cublas::sys::{cublasStatus_t, cudaDataType_t};
use cudarc::driver::{CudaSlice, DevicePtr, DevicePtrMut};
use gpubench_ops::matmul::Products;
use gpubench_report::case::DType;

use super::status::Status;
use super::succeeded;
use crate::{CellError, Cuda, Library, Result, Unavailable};

/// The workspace that cuBLAS recommends for the largest chips. Without it, cuBLAS allocates during calls.
const WORKSPACE_BYTES: usize = 32 << 20;
/// The workspace for products of matrices of up to [`SMALL`] rows and columns.
///
/// With 32 MiB, cuBLAS 13.0 splits the sums of Aᵀ B into 132 parts on an H200 if N is odd and at most 137. Adding the parts up
/// takes several times as long as the rest. They need more than 4 MiB.
const SMALL_WORKSPACE_BYTES: usize = 1 << 20;
/// Up to this size 1 MiB was measured to be no slower than 32 MiB. From 500 on, some products take longer with it.
const SMALL: usize = 257;

/// The first version of cuBLAS that emulates float64, as `cublasGetVersion` reports it.
const EMULATES_FROM: i32 = 130_100;

/// Bytes of device memory to reserve for a handle and its workspace.
pub const WORKSPACE: u128 = 64 << 20;

/// Returns a size as the 32-bit integer that cuBLAS takes.
///
/// # Errors
/// It exceeds 32 bits.
pub fn checked_side(n: usize) -> Result<i32> {
    i32::try_from(n).map_err(|_| {
        Unavailable::new(format!("a dimension of {n} exceeds cuBLAS's 32-bit sizes"), "choose a smaller size")
            .into()
    })
}

/// The arithmetic of a product: the types of operands, answer and sums.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arithmetic {
    /// float32 throughout, by IEEE.
    F32,
    /// float64 throughout.
    F64,
    /// float64 by products of 8-bit integers, as exact as IEEE or more so.
    EmulatedF64,
    /// float32 operands rounded to TF32, float32 sums.
    Tf32,
    /// float16 operands, float32 sums and answer.
    F16,
    /// bfloat16 operands, float32 sums and answer.
    Bf16,
    /// float16 operands and answer, float32 sums.
    F16Throughout,
    /// bfloat16 operands and answer, float32 sums.
    Bf16Throughout,
    /// Complex, float32 throughout.
    C64,
    /// Complex, float64 throughout.
    C128,
}

impl Arithmetic {
    /// Returns the arithmetic of an element type, with an answer of that type.
    pub fn of(dtype: DType) -> Arithmetic {
        match dtype {
            DType::F32 => Arithmetic::F32,
            DType::F64 => Arithmetic::F64,
            DType::Bf16 => Arithmetic::Bf16Throughout,
            DType::F16 => Arithmetic::F16Throughout,
            DType::C64 => Arithmetic::C64,
            DType::C128 => Arithmetic::C128,
        }
    }

    pub(in crate::ffi) fn types(self) -> (cudaDataType_t, cudaDataType_t, cublasComputeType_t) {
        use cublasComputeType_t::{
            CUBLAS_COMPUTE_32F, CUBLAS_COMPUTE_32F_FAST_TF32, CUBLAS_COMPUTE_64F,
            CUBLAS_COMPUTE_64F_EMULATED_FIXEDPOINT,
        };
        use cudaDataType_t::{CUDA_C_32F, CUDA_C_64F, CUDA_R_16BF, CUDA_R_16F, CUDA_R_32F, CUDA_R_64F};
        match self {
            Arithmetic::F32 => (CUDA_R_32F, CUDA_R_32F, CUBLAS_COMPUTE_32F),
            Arithmetic::F64 => (CUDA_R_64F, CUDA_R_64F, CUBLAS_COMPUTE_64F),
            Arithmetic::EmulatedF64 => (CUDA_R_64F, CUDA_R_64F, CUBLAS_COMPUTE_64F_EMULATED_FIXEDPOINT),
            Arithmetic::Tf32 => (CUDA_R_32F, CUDA_R_32F, CUBLAS_COMPUTE_32F_FAST_TF32),
            Arithmetic::F16 => (CUDA_R_16F, CUDA_R_32F, CUBLAS_COMPUTE_32F),
            Arithmetic::Bf16 => (CUDA_R_16BF, CUDA_R_32F, CUBLAS_COMPUTE_32F),
            Arithmetic::F16Throughout => (CUDA_R_16F, CUDA_R_16F, CUBLAS_COMPUTE_32F),
            Arithmetic::Bf16Throughout => (CUDA_R_16BF, CUDA_R_16BF, CUBLAS_COMPUTE_32F),
            Arithmetic::C64 => (CUDA_C_32F, CUDA_C_32F, CUBLAS_COMPUTE_32F),
            Arithmetic::C128 => (CUDA_C_64F, CUDA_C_64F, CUBLAS_COMPUTE_64F),
        }
    }

    /// Returns the factors 1 and 0 in the type of the sums, whose bytes come first; the imaginary part of a complex one is zero.
    pub(in crate::ffi) fn factors(self) -> [u128; 2] {
        match self {
            Arithmetic::F64 | Arithmetic::EmulatedF64 | Arithmetic::C128 => [1f64.to_bits().into(), 0],
            _ => [1f32.to_bits().into(), 0],
        }
    }

    /// Returns the type of these factors.
    pub(in crate::ffi) fn factor_type(self) -> cudaDataType_t {
        match self {
            Arithmetic::F64 | Arithmetic::EmulatedF64 => cudaDataType_t::CUDA_R_64F,
            Arithmetic::C64 => cudaDataType_t::CUDA_C_32F,
            Arithmetic::C128 => cudaDataType_t::CUDA_C_64F,
            _ => cudaDataType_t::CUDA_R_32F,
        }
    }

    /// Returns the bytes per element of the operands and of the answer.
    fn bytes(self) -> (usize, usize) {
        match self {
            Arithmetic::F32 | Arithmetic::Tf32 => (4, 4),
            Arithmetic::F64 | Arithmetic::EmulatedF64 => (8, 8),
            Arithmetic::F16 | Arithmetic::Bf16 => (2, 4),
            Arithmetic::F16Throughout | Arithmetic::Bf16Throughout => (2, 2),
            Arithmetic::C64 => (8, 8),
            Arithmetic::C128 => (16, 16),
        }
    }
}

/// A cuBLAS handle.
pub struct Cublas {
    handle: cublasHandle_t,
    cuda: Cuda,
    /// The handle uses it until it is destroyed.
    _workspace: CudaSlice<u8>,
}

impl Cublas {
    /// Loads cuBLAS and makes a handle on the context's stream.
    pub fn new(cuda: &Cuda) -> Result<Cublas> {
        Cublas::with_workspace(cuda, WORKSPACE_BYTES)
    }

    /// Makes a handle for products of matrices of up to `n` rows and columns, transposed or not.
    pub fn for_size(cuda: &Cuda, n: usize) -> Result<Cublas> {
        Cublas::with_workspace(cuda, if n <= SMALL { SMALL_WORKSPACE_BYTES } else { WORKSPACE_BYTES })
    }

    /// Makes a handle whose emulated products emulate wherever cuBLAS can; by itself it does so only where it expects to save time. It
    /// computes in float64 where the operands' range needs too many bits.
    ///
    /// # Errors
    /// As for [`Cublas::new`]; cuBLAS before 13.1 cannot emulate float64.
    pub fn emulating(cuda: &Cuda) -> Result<Cublas> {
        use sys::cublasEmulationStrategy_t::CUBLAS_EMULATION_STRATEGY_EAGER;
        let made = Cublas::new(cuda)?;
        let mut version = 0;
        // SAFETY: the handle is alive and `version` is writable.
        check("cublasGetVersion", unsafe { sys::cublasGetVersion_v2(made.handle, &raw mut version) })?;
        if version < EMULATES_FROM {
            let reason =
                format!("cuBLAS {}.{} cannot emulate float64", version / 10_000, version / 100 % 100);
            return Err(Unavailable::new(reason, "install cuBLAS of CUDA 13.0 update 2 or later").into());
        }
        // SAFETY: the handle is alive, and this version has the function.
        let status = unsafe { sys::cublasSetEmulationStrategy(made.handle, CUBLAS_EMULATION_STRATEGY_EAGER) };
        check("cublasSetEmulationStrategy", status)?;
        Ok(made)
    }

    fn with_workspace(cuda: &Cuda, bytes: usize) -> Result<Cublas> {
        cuda.require(Library::Cublas)?;
        let mut workspace = cuda.alloc::<u8>(bytes)?;
        let mut handle = std::ptr::null_mut();
        // SAFETY: `handle` is writable and the context is current.
        check("cublasCreate", unsafe { sys::cublasCreate_v2(&raw mut handle) })?;
        let address = workspace.device_ptr_mut(&cuda.stream).0;
        let made = Cublas { handle, cuda: cuda.clone(), _workspace: workspace };
        cuda.count_plan();
        // SAFETY: the stream outlives the handle, as `made` holds both.
        check("cublasSetStream", unsafe { sys::cublasSetStream_v2(handle, cuda.stream.cu_stream().cast()) })?;
        // After setting the stream, because that resets the workspace to cuBLAS's own.
        // SAFETY: the workspace has that many bytes and outlives the handle.
        check("cublasSetWorkspace", unsafe { sys::cublasSetWorkspace_v2(handle, address as *mut _, bytes) })?;
        Ok(made)
    }

    /// Enqueues row-major products `c = a * b` whose elements have the sizes of `arithmetic`; those of complex arithmetic are pairs in the
    /// slices.
    ///
    /// # Errors
    /// The matrices exceed their slices, or a size 32 bits.
    pub fn multiply<A, C>(
        &self,
        arithmetic: Arithmetic,
        products: &Products,
        a: &CudaSlice<A>,
        b: &CudaSlice<A>,
        c: &mut CudaSlice<C>,
    ) -> Result<()> {
        let lens = products.lens();
        let (of_operand, of_answer) = arithmetic.bytes();
        let held = [
            (a.num_bytes(), of_operand, size_of::<A>()),
            (b.num_bytes(), of_operand, size_of::<A>()),
            (c.num_bytes(), of_answer, size_of::<C>()),
        ];
        let fits = held.iter().zip(lens).all(|((held, element, stored), of_one)| {
            let needed =
                products.batch.checked_mul(of_one).and_then(|elements| elements.checked_mul(*element));
            element % stored == 0 && needed.is_some_and(|needed| needed <= *held)
        });
        if !fits {
            return Err(CellError::Failed(format!("the operands do not fit {products:?} in {arithmetic:?}")));
        }
        let [m, n, k] = products.sides.map(checked_side);
        let (m, n, k, count) = (m?, n?, k?, checked_side(products.batch)?);
        let [a_leading, b_leading] = products.stored.map(|[_, cols]| checked_side(cols));
        let (a_leading, b_leading) = (a_leading?, b_leading?);
        let [a_step, b_step, c_step] = lens.map(|len| i64::try_from(len).unwrap_or(i64::MAX));
        let [a_op, b_op] = products.transposed.map(|is_transposed| match is_transposed {
            true => cublasOperation_t::CUBLAS_OP_T,
            false => cublasOperation_t::CUBLAS_OP_N,
        });
        let stream = &self.cuda.stream;
        let (a, b) = (a.device_ptr(stream).0 as *const _, b.device_ptr(stream).0 as *const _);
        let c = c.device_ptr_mut(stream).0 as *mut _;
        let (operand, answer, compute) = arithmetic.types();
        let factors = arithmetic.factors();
        let [alpha, beta] = factors.each_ref().map(|factor| (&raw const *factor).cast::<c_void>());
        let (handle, default) = (self.handle, cublasGemmAlgo_t::CUBLAS_GEMM_DEFAULT);
        // Row-major A is column-major A transposed, and (A B) transposed is B transposed times A transposed.
        if count == 1 {
            // SAFETY: the matrices lie within their slices and have these types (checked above); alpha and beta have the type
            // of the sums and are read before the call returns, as the pointer mode is the host's.
            return check("cublasGemmEx", unsafe {
                sys::cublasGemmEx(
                    handle, b_op, a_op, n, m, k, alpha, b, operand, b_leading, a, operand, a_leading, beta,
                    c, answer, n, compute, default,
                )
            });
        }
        // SAFETY: as above, for each of the matrices, which lie one after another.
        check("cublasGemmStridedBatchedEx", unsafe {
            sys::cublasGemmStridedBatchedEx(
                handle, b_op, a_op, n, m, k, alpha, b, operand, b_leading, b_step, a, operand, a_leading,
                a_step, beta, c, answer, n, c_step, count, compute, default,
            )
        })
    }

    /// Enqueues `c = a * b` for `n` by `n` row-major matrices whose elements have the sizes of `arithmetic`, and for operands whose
    /// rows begin `pitch` elements apart. A pitch below `n` counts as `n`.
    pub fn multiply_padded<A, C>(
        &self,
        arithmetic: Arithmetic,
        n: i32,
        pitch: i32,
        a: &CudaSlice<A>,
        b: &CudaSlice<A>,
        c: &mut CudaSlice<C>,
    ) -> Result<()> {
        let pitch = pitch.max(n);
        let rows_of = |elements: i32| {
            let [rows, elements] = [n, elements].map(|count| usize::try_from(count).unwrap_or(usize::MAX));
            rows.saturating_mul(elements)
        };
        let long_enough = a.len().min(b.len()) >= rows_of(pitch) && c.len() >= rows_of(n);
        if !long_enough || (size_of::<A>(), size_of::<C>()) != arithmetic.bytes() {
            return Err(CellError::Failed(format!(
                "the operands do not fit a {arithmetic:?} product of N = {n}"
            )));
        }
        let stream = &self.cuda.stream;
        let (a, b) = (a.device_ptr(stream).0 as *const _, b.device_ptr(stream).0 as *const _);
        let c = c.device_ptr_mut(stream).0 as *mut _;
        let (operand, answer, compute) = arithmetic.types();
        let factors = arithmetic.factors();
        let [alpha, beta] = factors.each_ref().map(|factor| (&raw const *factor).cast::<c_void>());
        let (handle, plain) = (self.handle, cublasOperation_t::CUBLAS_OP_N);
        let default = cublasGemmAlgo_t::CUBLAS_GEMM_DEFAULT;
        // Row-major A is column-major A transposed, and (A B) transposed is B transposed times A transposed.
        // SAFETY: A and B hold n rows of `pitch` elements and C n rows of n, of these types (checked above); alpha and beta
        // have the type of the sums and are read before the call returns, as the pointer mode is the host's.
        check("cublasGemmEx", unsafe {
            sys::cublasGemmEx(
                handle, plain, plain, n, n, n, alpha, b, operand, pitch, a, operand, pitch, beta, c, answer,
                n, compute, default,
            )
        })
    }
}

impl Drop for Cublas {
    fn drop(&mut self) {
        // SAFETY: the handle was created by cuBLAS and is destroyed once; a status is of no use here.
        unsafe { sys::cublasDestroy_v2(self.handle) };
    }
}

fn check(call: &str, status: cublasStatus_t) -> Result<()> {
    let status = Status::from(status);
    // cuBLAS reports this after a fault in a kernel, which leaves the context unusable.
    if status.is(cublasStatus_t::CUBLAS_STATUS_EXECUTION_FAILED) {
        return Err(CellError::DeviceLost(format!("{call}: {status}")));
    }
    succeeded(call, status)
}
