//! The op solve: A x = b for a symmetric positive definite A, by cuSOLVER and by an own Cholesky kernel.

mod cholesky;
mod vendor;

use gpubench_report::case::DType;
use gpubench_report::error::CellError;

use super::{Kernel, by_dtype, opt_in, variant};
use crate::context::Library;
use cholesky::{REFINEMENT, SOURCE, prepare as own};
use vendor::{Routine, prepare as vendor};

pub(crate) static KERNELS: &[Kernel] = &[
    Kernel::by_library(
        variant("solve", "potrf", "cuSOLVER Cholesky factorisation and solve"),
        &[Library::Cusolver],
        by_dtype!(vendor, Routine::Cholesky),
    ),
    Kernel::by_library(
        opt_in("solve", "getrf", "cuSOLVER LU factorisation and solve, as in a general solver"),
        &[Library::Cusolver],
        by_dtype!(vendor, Routine::Lu),
    ),
    Kernel::own(
        opt_in("solve", "cholesky", "own Cholesky: factorisation and substitution in one launch"),
        &[&SOURCE.f32, &SOURCE.f64],
        by_dtype!(own, false),
    ),
    Kernel::own(
        opt_in("solve", "cholesky-refined", "own Cholesky, then one step of iterative refinement"),
        &[&SOURCE.f32, &SOURCE.f64, &REFINEMENT.f32, &REFINEMENT.f64],
        by_dtype!(own, true),
    ),
];

/// Converts a factorisation's `info`: 0 is success, a positive value the leading minor or pivot that failed.
fn check_info(info: i32, positive: &str, dtype: DType) -> Result<(), CellError> {
    let next = if dtype == DType::F32 { "; try float64" } else { "; scale it, or shift its diagonal" };
    match info {
        0 => Ok(()),
        1.. => Err(CellError::Failed(format!("the matrix is {positive} {info}{next}"))),
        _ => Err(CellError::Failed(format!(
            "cuSOLVER rejected argument {}; please report this bug",
            info.unsigned_abs()
        ))),
    }
}

/// The words before the order of the leading minor in the error of [`check_info`].
const NOT_POSITIVE_DEFINITE: &str = "not positive definite in this arithmetic: leading minor";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn info_is_converted_to_words() {
        check_info(0, "singular", DType::F32).unwrap();
        let text =
            |dtype| check_info(3, "not positive definite: leading minor", dtype).unwrap_err().to_string();
        assert_eq!(text(DType::F32), "the matrix is not positive definite: leading minor 3; try float64");
        assert!(text(DType::F64).ends_with("leading minor 3; scale it, or shift its diagonal"));
        assert!(check_info(-2, "", DType::F32).unwrap_err().to_string().contains("argument 2"));
    }
}
