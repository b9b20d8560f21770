//! A variant that exists once per BLAS library, and the libraries it exists for.

use std::sync::Arc;

use gpubench_backend::Prepared;
use gpubench_model::case::Case;
use gpubench_model::data::Operand;
use gpubench_model::error::CellError;

use crate::context::Cpu;
use crate::libs::blas::{Library, Vendor};

/// Prepares a job of one case with a library.
pub(crate) type LibraryPrepare =
    fn(&Cpu, &Case, &mut [Operand], &Library) -> Result<Box<Prepared>, CellError>;

/// The libraries that a variant exists for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scope {
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

/// A variant of BLAS libraries and the function that prepares its jobs.
pub(crate) struct LibraryVariant {
    pub(crate) op: &'static str,
    /// The suffix after the library's word in the variant's name.
    pub(crate) suffix: &'static str,
    /// The summary, with `{}` in place of the library's name.
    pub(crate) summary: &'static str,
    pub(crate) scope: Scope,
    pub(crate) prepare: LibraryPrepare,
}

impl Scope {
    /// Returns whether the variant exists for `library`, one of `all` on this machine.
    pub(super) fn takes(self, library: &Arc<Library>, all: &[Arc<Library>]) -> bool {
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
