//! A variant that is made for each BLAS library, and the libraries it is made for.

use gpubench_backend::Prepared;
use gpubench_model::case::Case;
use gpubench_model::data::Operand;
use gpubench_model::error::CellError;

use super::Cpu;
use super::blas::Library;

/// Makes a job of one case with a library.
pub type LibraryPrepare = fn(&Cpu, &Case, &[Operand], &Library) -> Result<Box<Prepared>, CellError>;

/// Which libraries a kernel is made for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// Every library that has BLAS. All run by default: which is fastest depends on processor, size and type.
    Blas,
    /// Every library that has LAPACK; all run by default.
    Lapack,
    /// The preferred OpenBLAS, whose own Cholesky falls behind its products; runs by default.
    OpenBlas,
    /// Every MKL, for its FFTs; the preferred one runs by default.
    Dfti,
    /// The preferred libraries that have LAPACK, for comparison alone.
    Comparison,
    /// Each vendor's best LAPACK with 32-bit integers, for comparison alone.
    NdarrayLinalg,
}

/// A variant of a BLAS library and how its jobs are made.
pub struct LibraryKernel {
    /// Name of the op.
    pub op: &'static str,
    /// What follows the library's word in the variant's name.
    pub suffix: &'static str,
    /// What it is, with the library's name in place of `{}`.
    pub summary: &'static str,
    /// The libraries it is made for.
    pub scope: Scope,
    /// Makes a job.
    pub prepare: LibraryPrepare,
}
