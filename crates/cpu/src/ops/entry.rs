//! Constructors for the entries of the variant tables.

use std::borrow::Cow;

use gpubench_backend::{Accuracy, Side, Variant};
use gpubench_model::case::DType;

use super::cpu_variant::{CpuVariant, Prepare};

/// A CPU variant in IEEE arithmetic, for every element type.
pub(super) const fn variant(
    op: &'static str,
    name: &'static str,
    summary: &'static str,
    default: bool,
    prepare: Prepare,
) -> CpuVariant {
    with_library(op, name, summary, default, None, prepare)
}

/// A variant that calls the named library; otherwise as [`variant`].
pub(super) const fn library_variant(
    op: &'static str,
    name: &'static str,
    summary: &'static str,
    default: bool,
    library: &'static str,
    prepare: Prepare,
) -> CpuVariant {
    with_library(op, name, summary, default, Some(library), prepare)
}

const fn with_library(
    op: &'static str,
    name: &'static str,
    summary: &'static str,
    default: bool,
    library: Option<&'static str>,
    prepare: Prepare,
) -> CpuVariant {
    let library = match library {
        Some(library) => Some(Cow::Borrowed(library)),
        None => None,
    };
    CpuVariant {
        variant: Variant {
            op: Cow::Borrowed(op),
            name: Cow::Borrowed(name),
            summary: Cow::Borrowed(summary),
            side: Side::Cpu,
            accuracy: Accuracy::Ieee,
            origin: None,
            default,
            dtypes: Cow::Borrowed(DType::ALL),
            library,
        },
        prepare,
    }
}

/// Makes a [`Prepare`] that calls a generic function with the element type of the case, and passes on further
/// arguments. With `with`, makes a [`LibraryPrepare`](super::library_variant::LibraryPrepare).
macro_rules! by_dtype {
    ($prepare:ident with $library:ident $(, $argument:expr)*) => {
        |cpu, case, inputs, $library| match case.dtype {
            gpubench_model::case::DType::F32 => $prepare::<f32>(cpu, case, inputs, $library $(, $argument)*),
            gpubench_model::case::DType::F64 => $prepare::<f64>(cpu, case, inputs, $library $(, $argument)*),
        }
    };
    ($prepare:ident $(, $argument:expr)*) => {
        |cpu, case, inputs| match case.dtype {
            gpubench_model::case::DType::F32 => $prepare::<f32>(cpu, case, inputs $(, $argument)*),
            gpubench_model::case::DType::F64 => $prepare::<f64>(cpu, case, inputs $(, $argument)*),
        }
    };
}
pub(super) use by_dtype;
