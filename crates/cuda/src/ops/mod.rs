//! The ops on CUDA: the list of the variants that call libraries or plain kernels, the entry of a variant in a list, and the case
//! from which a variant makes its job.

mod copies;
pub mod dense;
pub mod elementwise;
pub mod fft;
mod host_buffer;
mod loops;
mod matmul;
pub(crate) mod overhead;
pub mod reduction;
pub mod solve;
pub mod spgemm;
pub mod spmv;
pub mod svd;

use std::borrow::Cow;

use cudarc::driver::CudaSlice;
use gpubench_backend::{Accuracy, Prepared, Shapes, Side, Variant};
use gpubench_report::case::{Case, DType};
use gpubench_report::data::{Csr, Element, Operand};

use crate::{CellError, Cuda, DeviceValue, KernelSource, Library, Result, kernel_source};

/// The variants that call a library, in the order of the ops.
pub static LIBRARY_TABLES: &[&[Kernel]] =
    &[matmul::KERNELS, fft::KERNELS, solve::KERNELS, spgemm::KERNELS, spmv::KERNELS, svd::KERNELS];

/// The variants by plain kernels or by the driver alone, in the order of the ops.
pub static PLAIN_TABLES: &[&[Kernel]] =
    &[elementwise::KERNELS, reduction::KERNELS, copies::KERNELS, overhead::KERNELS, loops::KERNELS];

/// Kernels that convert arrays to another type, and copy matrices to padded rows and back.
pub static CONVERT: KernelSource = kernel_source!("common/convert");

/// A case with its operands on the host, and the context of its jobs.
#[derive(Clone, Copy)]
pub struct Setup<'a> {
    /// The context.
    pub cuda: &'a Cuda,
    /// The case.
    pub case: &'a Case,
    /// Operands on the host.
    pub inputs: &'a [Operand],
}

impl<'a> Setup<'a> {
    /// Returns the size N of the case.
    pub fn n(&self) -> usize {
        self.case.side()
    }

    /// Returns an operand.
    ///
    /// # Errors
    /// There is none of that number.
    pub fn operand(&self, index: usize) -> Result<&'a Operand> {
        operand(self.inputs, index)
    }

    /// Returns the elements of a dense operand.
    pub fn input<T: Element>(&self, index: usize) -> Result<&'a [T]> {
        self.operand(index)?.dense_slice()
    }

    /// Returns a sparse operand.
    pub fn sparse(&self, index: usize) -> Result<&'a Csr> {
        self.operand(index)?.as_csr()
    }

    /// Copies a dense operand to the device.
    pub fn upload<T: DeviceValue>(&self, index: usize) -> Result<CudaSlice<T::Stored>> {
        self.cuda.upload(T::stored(self.input(index)?))
    }

    /// Returns the bytes of `count` matrices of rows x cols, N x N without a shape.
    pub fn matrix_bytes(&self, count: u128) -> u128 {
        let [rows, cols] = ["rows", "cols"].map(|name| u128::from(self.case.extent(name)));
        (count * u128::from(self.case.dtype.bytes())).saturating_mul(rows * cols)
    }

    /// Checks that `count` matrices of rows x cols fit into device memory.
    pub fn reserve_matrices(&self, count: u128) -> Result<()> {
        self.cuda.reserve(self.matrix_bytes(count))
    }
}

fn operand(inputs: &[Operand], index: usize) -> Result<&Operand> {
    inputs.get(index).ok_or_else(|| CellError::Failed(format!("operand {index} is missing")))
}

/// Makes a job for one case.
pub type Prepare = fn(Setup<'_>) -> Result<Box<Prepared>>;

/// A variant with its requirements and the function that prepares its jobs.
pub struct Kernel {
    /// The variant.
    pub variant: Variant,
    /// The sources in `kernels/` that it compiles for any case.
    pub sources: &'static [&'static KernelSource],
    /// The libraries that it calls for any case, besides the compiler.
    pub libraries: &'static [Library],
    /// Makes a job.
    pub prepare: Prepare,
}

impl Kernel {
    /// Declares a variant by kernels of those sources alone.
    pub const fn own(
        variant: Variant,
        sources: &'static [&'static KernelSource],
        prepare: Prepare,
    ) -> Kernel {
        Kernel { variant, sources, libraries: &[], prepare }
    }

    /// Declares a variant by those libraries alone.
    const fn by_library(variant: Variant, libraries: &'static [Library], prepare: Prepare) -> Kernel {
        Kernel { variant, sources: &[], libraries, prepare }
    }

    /// Declares a variant that needs neither kernels nor libraries, or not for every case.
    pub const fn bare(variant: Variant, prepare: Prepare) -> Kernel {
        Kernel { variant, sources: &[], libraries: &[], prepare }
    }
}

/// Declares a variant of IEEE arithmetic for float32 and float64 that runs by default.
pub const fn variant(op: &'static str, name: &'static str, summary: &'static str) -> Variant {
    declare(op, name, summary, Accuracy::Ieee, true, DType::REAL, Shapes::Square)
}

/// Declares a variant like [`variant`] that computes every shape of its op.
pub const fn shaped(op: &'static str, name: &'static str, summary: &'static str) -> Variant {
    declare(op, name, summary, Accuracy::Ieee, true, DType::REAL, Shapes::Any)
}

/// Declares a variant like [`shaped`] for those element types.
const fn shaped_of_types(
    op: &'static str,
    name: &'static str,
    summary: &'static str,
    dtypes: &'static [DType],
) -> Variant {
    declare(op, name, summary, Accuracy::Ieee, true, dtypes, Shapes::Any)
}

/// Declares a variant like [`variant`] for batches alone.
const fn batched(
    op: &'static str,
    name: &'static str,
    summary: &'static str,
    dtypes: &'static [DType],
) -> Variant {
    declare(op, name, summary, Accuracy::Ieee, true, dtypes, Shapes::Batches)
}

/// Declares a variant like [`variant`] that runs only when it is named.
pub const fn opt_in(op: &'static str, name: &'static str, summary: &'static str) -> Variant {
    declare(op, name, summary, Accuracy::Ieee, false, DType::REAL, Shapes::Square)
}

/// Declares a variant like [`shaped`] that runs only when it is named.
pub const fn shaped_opt_in(op: &'static str, name: &'static str, summary: &'static str) -> Variant {
    declare(op, name, summary, Accuracy::Ieee, false, DType::REAL, Shapes::Any)
}

/// Declares a float32 variant of that accuracy that runs only when it is named.
pub const fn reduced(
    op: &'static str,
    name: &'static str,
    summary: &'static str,
    accuracy: Accuracy,
) -> Variant {
    declare(op, name, summary, accuracy, false, &[DType::F32], Shapes::Square)
}

/// Declares a variant that emulates float64 and runs only when it is named.
pub const fn emulated(op: &'static str, name: &'static str, summary: &'static str) -> Variant {
    declare(op, name, summary, Accuracy::Emulated, false, &[DType::F64], Shapes::Square)
}

const fn declare(
    op: &'static str,
    name: &'static str,
    summary: &'static str,
    accuracy: Accuracy,
    default: bool,
    dtypes: &'static [DType],
    shapes: Shapes,
) -> Variant {
    Variant {
        op: Cow::Borrowed(op),
        name: Cow::Borrowed(name),
        summary: Cow::Borrowed(summary),
        side: Side::Gpu,
        accuracy,
        origin: None,
        default,
        dtypes: Cow::Borrowed(dtypes),
        shapes,
        library: None,
    }
}

/// Makes a [`Prepare`] function that calls a generic function with the case's element type and further arguments.
#[macro_export]
macro_rules! by_dtype {
    ($prepare:ident $(, $argument:expr)*) => {
        |setup| match setup.case.dtype.working() {
            gpubench_report::case::DType::F64 => $prepare::<f64>(setup $(, $argument)*),
            _ => $prepare::<f32>(setup $(, $argument)*),
        }
    };
}
pub use crate::by_dtype;

/// Makes a [`Prepare`] function that calls a generic function with the case's element type, which may be of 16 bits.
macro_rules! by_real {
    ($prepare:ident) => {
        |setup| match setup.case.dtype {
            gpubench_report::case::DType::Bf16 => $prepare::<half::bf16>(setup),
            gpubench_report::case::DType::F16 => $prepare::<half::f16>(setup),
            gpubench_report::case::DType::F64 => $prepare::<f64>(setup),
            _ => $prepare::<f32>(setup),
        }
    };
}
pub(crate) use by_real;

/// Makes a [`Prepare`] function that calls a generic function with the case's element type, which may be any.
macro_rules! by_type {
    ($prepare:ident) => {
        |setup| match setup.case.dtype {
            gpubench_report::case::DType::F32 => $prepare::<f32>(setup),
            gpubench_report::case::DType::F64 => $prepare::<f64>(setup),
            gpubench_report::case::DType::Bf16 => $prepare::<half::bf16>(setup),
            gpubench_report::case::DType::F16 => $prepare::<half::f16>(setup),
            gpubench_report::case::DType::C64 => $prepare::<rustfft::num_complex::Complex<f32>>(setup),
            gpubench_report::case::DType::C128 => $prepare::<rustfft::num_complex::Complex<f64>>(setup),
        }
    };
}
pub(crate) use by_type;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_operand_is_an_error() {
        assert!(matches!(operand(&[], 0), Err(CellError::Failed(_))));
    }
}
