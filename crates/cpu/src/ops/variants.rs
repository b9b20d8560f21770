//! The entries of the variant tables, and the variants that they make on one machine.

use std::borrow::Cow;
use std::sync::Arc;

use gpubench_backend::{Accuracy, Prepared, Side, Variant};
use gpubench_report::case::{Case, DType};
use gpubench_report::data::Operand;
use gpubench_report::error::CellError;

use crate::libs::blas::{BlasLibrary, Vendor};

/// Prepares a job of one case without a BLAS library, for the given number of threads.
type PrepareAlone = fn(usize, &Case, &mut [Operand]) -> Result<Box<Prepared>, CellError>;
/// Prepares a job of one case with a BLAS library, for the given number of threads.
type PrepareWithLibrary = fn(usize, &Case, &mut [Operand], &BlasLibrary) -> Result<Box<Prepared>, CellError>;

/// A variant that needs no BLAS library, and the function that prepares its jobs.
pub(super) struct CpuVariant {
    pub(super) variant: Variant,
    prepare: PrepareAlone,
}

/// Describes a CPU variant in IEEE arithmetic, for every element type.
const fn described(
    op: &'static str,
    name: Cow<'static, str>,
    summary: Cow<'static, str>,
    default: bool,
    library: Option<Cow<'static, str>>,
) -> Variant {
    Variant {
        op: Cow::Borrowed(op),
        name,
        summary,
        side: Side::Cpu,
        accuracy: Accuracy::Ieee,
        origin: None,
        default,
        dtypes: Cow::Borrowed(DType::ALL),
        library,
    }
}

/// Makes a variant that needs no library.
pub(super) const fn variant(
    op: &'static str,
    name: &'static str,
    summary: &'static str,
    default: bool,
    prepare: PrepareAlone,
) -> CpuVariant {
    let variant = described(op, Cow::Borrowed(name), Cow::Borrowed(summary), default, None);
    CpuVariant { variant, prepare }
}

/// Makes a default variant that calls the named library, which is no BLAS.
pub(super) const fn library_variant(
    op: &'static str,
    name: &'static str,
    summary: &'static str,
    library: &'static str,
    prepare: PrepareAlone,
) -> CpuVariant {
    let library = Some(Cow::Borrowed(library));
    let variant = described(op, Cow::Borrowed(name), Cow::Borrowed(summary), true, library);
    CpuVariant { variant, prepare }
}

/// Makes a [`PrepareAlone`] that calls a generic function with the element type of the case, and passes on further
/// arguments. With `with`, makes a [`PrepareWithLibrary`].
macro_rules! by_dtype {
    ($prepare:ident with $library:ident $(, $argument:expr)*) => {
        |threads, case, inputs, $library| match case.dtype {
            gpubench_report::case::DType::F32 => $prepare::<f32>(threads, case, inputs, $library $(, $argument)*),
            gpubench_report::case::DType::F64 => $prepare::<f64>(threads, case, inputs, $library $(, $argument)*),
        }
    };
    ($prepare:ident $(, $argument:expr)*) => {
        |threads, case, inputs| match case.dtype {
            gpubench_report::case::DType::F32 => $prepare::<f32>(threads, case, inputs $(, $argument)*),
            gpubench_report::case::DType::F64 => $prepare::<f64>(threads, case, inputs $(, $argument)*),
        }
    };
}
pub(super) use by_dtype;

/// The libraries that a variant exists for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scope {
    /// Every library that has BLAS. All run by default: the fastest depends on CPU, size and type.
    Blas,
    /// Every library that has LAPACK; all run by default.
    Lapack,
    /// The preferred OpenBLAS, whose own Cholesky falls behind its products; runs by default.
    OpenBlas,
    /// Every MKL, for its FFTs and vector functions; the preferred one runs by default.
    Mkl,
    /// The preferred libraries that have LAPACK, only for comparison.
    Comparison,
    /// The best LAPACK with 32-bit integers per vendor, only for comparison.
    NdarrayLinalg,
}

impl Scope {
    /// Returns whether the variant exists for `library`, one of `all` on this machine.
    fn takes(self, library: &Arc<BlasLibrary>, all: &[Arc<BlasLibrary>]) -> bool {
        let has_lapack = library.vendor().has_lapack();
        match self {
            Scope::Blas => true,
            Scope::Lapack => has_lapack,
            Scope::OpenBlas => library.vendor() == Vendor::OpenBlas && library.is_preferred(),
            Scope::Mkl => library.vendor() == Vendor::Mkl,
            Scope::Comparison => has_lapack && library.is_preferred(),
            Scope::NdarrayLinalg => {
                let mut same = all.iter().filter(|other| other.vendor() == library.vendor());
                let fit = same.clone().find(|other| !other.has_long_integers());
                has_lapack && fit.or(same.next()).is_some_and(|chosen| Arc::ptr_eq(chosen, library))
            }
        }
    }
}

/// A variant that exists once per BLAS library, and the function that prepares its jobs.
pub(super) struct LibraryVariant {
    pub(super) op: &'static str,
    /// The suffix after the library's word in the variant's name.
    pub(super) suffix: &'static str,
    /// The summary, with `{}` in place of the library's name.
    pub(super) summary: &'static str,
    pub(super) scope: Scope,
    pub(super) prepare: PrepareWithLibrary,
}

/// A variant that is available on this machine.
pub(crate) struct AvailableVariant {
    pub(crate) variant: Variant,
    make: Make,
}

/// Prepares the jobs of a variant, without a BLAS library or with the one it belongs to.
enum Make {
    Alone(PrepareAlone),
    With(PrepareWithLibrary, Arc<BlasLibrary>),
}

impl AvailableVariant {
    /// Makes a variant that needs no BLAS library.
    pub(super) fn alone(entry: &CpuVariant) -> AvailableVariant {
        AvailableVariant { variant: entry.variant.clone(), make: Make::Alone(entry.prepare) }
    }

    /// Makes the variant for `library`, one of `all` on this machine, if it exists for it.
    pub(super) fn with(
        entry: &LibraryVariant,
        library: &Arc<BlasLibrary>,
        all: &[Arc<BlasLibrary>],
    ) -> Option<AvailableVariant> {
        if !entry.scope.takes(library, all) {
            return None;
        }
        let default = match entry.scope {
            Scope::Blas | Scope::Lapack | Scope::OpenBlas => true,
            Scope::Mkl => library.is_preferred(),
            Scope::Comparison | Scope::NdarrayLinalg => false,
        };
        let word = match entry.scope {
            // There is one per vendor.
            Scope::NdarrayLinalg => library.vendor().word(),
            _ => library.word(),
        };
        let name = format!("{word}{}", entry.suffix);
        let summary = entry.summary.replace("{}", &library.name());
        let library_word = Some(Cow::Owned(library.word().to_owned()));
        let variant = described(entry.op, Cow::Owned(name), Cow::Owned(summary), default, library_word);
        Some(AvailableVariant { variant, make: Make::With(entry.prepare, Arc::clone(library)) })
    }

    pub(crate) fn prepare(
        &self,
        threads: usize,
        case: &Case,
        inputs: &mut [Operand],
    ) -> Result<Box<Prepared>, CellError> {
        match &self.make {
            Make::Alone(prepare) => prepare(threads, case, inputs),
            Make::With(prepare, library) => prepare(threads, case, inputs, library),
        }
    }

    /// Returns whether it calls the library of that word.
    pub(crate) fn needs(&self, library: &str) -> bool {
        self.variant.library.as_deref() == Some(library)
    }

    /// Returns `op/variant`.
    pub(crate) fn title(&self) -> String {
        format!("{}/{}", self.variant.op, self.variant.name)
    }
}
