//! How a kernel is entered into its table, and how it takes its operands; knows no op.

use std::borrow::Cow;

use gpubench_backend::{Accuracy, Prepared, Side, Variant};
use gpubench_model::case::{Case, DType};
use gpubench_model::data::{Operand, Real};
use gpubench_model::error::CellError;

use crate::context::Cuda;
use crate::kernels::KernelSource;
use crate::library::Library;

/// Makes a job of one case.
pub(crate) type Prepare = fn(&Cuda, &Case, &[Operand]) -> Result<Box<Prepared>, CellError>;

/// A variant, what it needs, and how its jobs are made.
pub(crate) struct Kernel {
    pub variant: Variant,
    /// The sources in `kernels/` that it compiles, for whichever case.
    pub sources: &'static [&'static KernelSource],
    /// The libraries that it calls besides the compiler, for whichever case.
    pub libraries: &'static [Library],
    pub prepare: Prepare,
}

/// A variant of IEEE arithmetic and both element types that runs by default.
pub(crate) const fn variant(op: &'static str, name: &'static str, summary: &'static str) -> Variant {
    declare(op, name, summary, Accuracy::Ieee, true, DType::ALL)
}

/// The same, but only run when it is named.
pub(crate) const fn extra(op: &'static str, name: &'static str, summary: &'static str) -> Variant {
    declare(op, name, summary, Accuracy::Ieee, false, DType::ALL)
}

/// A variant of that accuracy: float32 only, and only run when it is named.
pub(crate) const fn reduced(
    op: &'static str,
    name: &'static str,
    summary: &'static str,
    accuracy: Accuracy,
) -> Variant {
    declare(op, name, summary, accuracy, false, &[DType::F32])
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
        default,
        dtypes: Cow::Borrowed(dtypes),
        library: None,
    }
}

/// The prepare function that calls a function generic over the element type with the case's one, and with more
/// arguments if need be.
macro_rules! by_dtype {
    ($prepare:ident $(, $argument:expr)*) => {
        |cuda, case, inputs| match case.dtype {
            gpubench_model::case::DType::F32 => $prepare::<f32>(cuda, case, inputs $(, $argument)*),
            gpubench_model::case::DType::F64 => $prepare::<f64>(cuda, case, inputs $(, $argument)*),
        }
    };
}
pub(super) use by_dtype;

/// Bytes of `count` dense matrices of a case.
pub(super) fn matrices(case: &Case, count: u128) -> u128 {
    count * u128::from(case.n) * u128::from(case.n) * u128::from(case.dtype.bytes())
}

/// The elements of a dense input.
pub(super) fn input<T: Real>(inputs: &[Operand], index: usize) -> Result<&[T], CellError> {
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
