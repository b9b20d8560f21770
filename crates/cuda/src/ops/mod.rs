//! The ops on CUDA: the list of their variants, the entry of a variant in it, and the functions with which variants read their
//! operands.

mod copies;
mod dense;
mod elementwise;
pub(crate) mod fft;
mod host_buffer;
mod loops;
mod matmul;
pub(crate) mod overhead;
mod plain;
mod reduction;
mod solve;
mod spgemm;
mod spmv;
mod svd;

use std::borrow::Cow;

use gpubench_backend::{Accuracy, Prepared, Side, Variant};
use gpubench_report::case::{Case, DType};
use gpubench_report::data::{Operand, Real};
use gpubench_report::error::CellError;

use crate::context::Cuda;
use crate::kernels::KernelSource;
use crate::library::Library;

/// The kernels of every op, except `auto`, in the order of the ops.
pub(super) static TABLES: &[&[Kernel]] = &[
    matmul::KERNELS,
    elementwise::KERNELS,
    reduction::KERNELS,
    fft::KERNELS,
    solve::KERNELS,
    spgemm::KERNELS,
    spmv::KERNELS,
    svd::KERNELS,
    plain::KERNELS,
    copies::KERNELS,
    overhead::KERNELS,
    loops::KERNELS,
];

/// Makes a job for one case.
pub(crate) type Prepare = fn(&Cuda, &Case, &[Operand]) -> Result<Box<Prepared>, CellError>;

/// A variant with its requirements and the function that prepares its jobs.
pub(crate) struct Kernel {
    pub variant: Variant,
    /// The sources in `kernels/` that it compiles for any case.
    pub sources: &'static [&'static KernelSource],
    /// The libraries that it calls for any case, besides the compiler.
    pub libraries: &'static [Library],
    pub prepare: Prepare,
}

impl Kernel {
    /// A variant by kernels of those sources alone.
    pub(crate) const fn own(
        variant: Variant,
        sources: &'static [&'static KernelSource],
        prepare: Prepare,
    ) -> Kernel {
        Kernel { variant, sources, libraries: &[], prepare }
    }

    /// A variant by those libraries alone.
    const fn by_library(variant: Variant, libraries: &'static [Library], prepare: Prepare) -> Kernel {
        Kernel { variant, sources: &[], libraries, prepare }
    }

    /// A variant that needs neither kernels nor libraries, or not for every case.
    pub(crate) const fn bare(variant: Variant, prepare: Prepare) -> Kernel {
        Kernel { variant, sources: &[], libraries: &[], prepare }
    }
}

/// Declares a variant of IEEE arithmetic and both element types that runs by default.
pub(crate) const fn variant(op: &'static str, name: &'static str, summary: &'static str) -> Variant {
    declare(op, name, summary, Accuracy::Ieee, true, DType::ALL)
}

/// Declares a variant like [`variant`] for float32 alone.
pub(crate) const fn single(op: &'static str, name: &'static str, summary: &'static str) -> Variant {
    declare(op, name, summary, Accuracy::Ieee, true, &[DType::F32])
}

/// Declares a variant like [`variant`] that runs only when it is named.
pub(crate) const fn opt_in(op: &'static str, name: &'static str, summary: &'static str) -> Variant {
    declare(op, name, summary, Accuracy::Ieee, false, DType::ALL)
}

/// Declares a float32 variant of reduced accuracy that runs only when it is named.
pub(crate) const fn reduced(
    op: &'static str,
    name: &'static str,
    summary: &'static str,
    accuracy: Accuracy,
) -> Variant {
    declare(op, name, summary, accuracy, false, &[DType::F32])
}

/// Declares a variant that emulates float64 and runs only when it is named.
pub(crate) const fn emulated(op: &'static str, name: &'static str, summary: &'static str) -> Variant {
    declare(op, name, summary, Accuracy::Emulated, false, &[DType::F64])
}

const fn declare(
    op: &'static str,
    name: &'static str,
    summary: &'static str,
    accuracy: Accuracy,
    default: bool,
    dtypes: &'static [DType],
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
        library: None,
    }
}

/// Makes a prepare function that calls a generic function with the case's element type and further arguments.
macro_rules! by_dtype {
    ($prepare:ident $(, $argument:expr)*) => {
        |cuda, case, inputs| match case.dtype {
            gpubench_report::case::DType::F32 => $prepare::<f32>(cuda, case, inputs $(, $argument)*),
            gpubench_report::case::DType::F64 => $prepare::<f64>(cuda, case, inputs $(, $argument)*),
        }
    };
}
use by_dtype;

/// Returns the bytes of `count` dense matrices of a case.
fn matrix_bytes(case: &Case, count: u128) -> u128 {
    count * u128::from(case.n) * u128::from(case.n) * u128::from(case.dtype.bytes())
}

/// Returns the elements of a dense input.
fn input<T: Real>(inputs: &[Operand], index: usize) -> Result<&[T], CellError> {
    let operand = inputs.get(index);
    operand.ok_or_else(|| CellError::Failed(format!("operand {index} is missing")))?.dense_slice()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_operand_is_an_error() {
        let missing = input::<f32>(&[], 0);
        assert!(matches!(missing, Err(CellError::Failed(_))));
    }
}
