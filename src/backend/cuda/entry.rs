//! How a kernel is entered into its table, and how it takes its operands; knows no op.

use std::borrow::Cow;

use crate::backend::{Accuracy, Side, Variant};
use crate::case::DType;
use crate::data::Operand;
use crate::error::CellError;

/// A variant in IEEE arithmetic of both element types.
pub(super) const fn ieee(
    op: &'static str,
    name: &'static str,
    summary: &'static str,
    default: bool,
) -> Variant {
    declare(op, name, summary, Accuracy::Ieee, default, DType::ALL)
}

/// A variant of reduced precision: float32 only, and only run when it is named.
pub(super) const fn reduced(
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
    }
}

/// Operand number `index`.
pub(super) fn input(inputs: &[Operand], index: usize) -> Result<&Operand, CellError> {
    inputs.get(index).ok_or_else(|| CellError::Failed(format!("operand {index} is missing")))
}
