//! The Fortran signatures of the BLAS and LAPACK routines, and the routines of one library. References:
//! <https://www.netlib.org/blas/>, <https://www.netlib.org/lapack/explore-html/>.
//!
//! Everything is passed by pointer, so that one signature serves libraries with 32-bit and with 64-bit integers: the
//! former read and write the low half of each [`Int`], which comes first in memory on the little-endian CPUs that the
//! program is built for.

use std::ffi::c_char;

use super::opened::OpenedBlas;

pub(super) const AS_IT_LIES: Letter = c"N".as_ptr();
pub(super) const LOWER: Letter = c"L".as_ptr();
pub(super) static ONE: Int = 1;

/// A Fortran integer.
pub(super) type Int = i64;
/// A Fortran string of one letter.
pub(super) type Letter = *const c_char;
/// The length of a Fortran string, which follows the other arguments by value.
pub(super) type Length = usize;

#[cfg(target_endian = "big")]
compile_error!("32-bit integers are passed as the low half of 64-bit ones, which must come first in memory");

/// `?gemm`: transpositions, m, n, k, alpha, A, lda, B, ldb, beta, C, ldc.
pub(super) type Gemm<T> = unsafe extern "C" fn(
    Letter,
    Letter,
    *const Int,
    *const Int,
    *const Int,
    *const T,
    *const T,
    *const Int,
    *const T,
    *const Int,
    *const T,
    *mut T,
    *const Int,
    Length,
    Length,
);
/// `?posv`: triangle, n, right-hand sides, A, lda, B, ldb, info.
pub(super) type Posv<T> = unsafe extern "C" fn(
    Letter,
    *const Int,
    *const Int,
    *mut T,
    *const Int,
    *mut T,
    *const Int,
    *mut Int,
    Length,
);
/// `?gesv`: n, right-hand sides, A, lda, pivots, B, ldb, info.
pub(super) type Gesv<T> =
    unsafe extern "C" fn(*const Int, *const Int, *mut T, *const Int, *mut Int, *mut T, *const Int, *mut Int);
/// `?gesdd`: job, m, n, A, lda, S, U, ldu, Vt, ldvt, work, its length, integer work, info.
pub(super) type Gesdd<T> = unsafe extern "C" fn(
    Letter,
    *const Int,
    *const Int,
    *mut T,
    *const Int,
    *mut T,
    *mut T,
    *const Int,
    *mut T,
    *const Int,
    *mut T,
    *const Int,
    *mut Int,
    *mut Int,
    Length,
);
/// `?potrf`: triangle, n, A, lda, info.
pub(super) type Potrf<T> = unsafe extern "C" fn(Letter, *const Int, *mut T, *const Int, *mut Int, Length);
/// `?trsm`: side, triangle, transposition, diagonal, m, n, alpha, A, lda, B, ldb.
pub(super) type Trsm<T> = unsafe extern "C" fn(
    Letter,
    Letter,
    Letter,
    Letter,
    *const Int,
    *const Int,
    *const T,
    *const T,
    *const Int,
    *mut T,
    *const Int,
    Length,
    Length,
    Length,
    Length,
);
/// `?syrk`: triangle, transposition, n, k, alpha, A, lda, beta, C, ldc.
pub(super) type Syrk<T> = unsafe extern "C" fn(
    Letter,
    Letter,
    *const Int,
    *const Int,
    *const T,
    *const T,
    *const Int,
    *const T,
    *mut T,
    *const Int,
    Length,
    Length,
);
/// `?trsv`: triangle, transposition, diagonal, n, A, lda, x, its stride.
pub(super) type Trsv<T> = unsafe extern "C" fn(
    Letter,
    Letter,
    Letter,
    *const Int,
    *const T,
    *const Int,
    *mut T,
    *const Int,
    Length,
    Length,
    Length,
);

/// The routines of BLAS and LAPACK for one element type.
pub(crate) struct Routines<T> {
    pub(super) gemm: Gemm<T>,
    pub(super) lapack: Option<Lapack<T>>,
}

/// The routines of LAPACK, and those of BLAS that a factorisation in blocks calls in addition.
pub(super) struct Lapack<T> {
    pub(super) posv: Posv<T>,
    pub(super) gesv: Gesv<T>,
    pub(super) gesdd: Gesdd<T>,
    pub(super) potrf: Potrf<T>,
    pub(super) trsm: Trsm<T>,
    pub(super) syrk: Syrk<T>,
    pub(super) trsv: Trsv<T>,
}

impl<T> Routines<T> {
    /// Finds the routines whose names begin with `letter`; those of LAPACK only if the library `has_lapack`.
    pub(super) fn find(library: &OpenedBlas, letter: char, has_lapack: bool) -> Result<Self, String> {
        let name = |routine: &str| format!("{letter}{routine}_");
        // SAFETY: the names are those of the routines whose types these are.
        unsafe {
            let lapack = || -> Result<Lapack<T>, String> {
                Ok(Lapack {
                    posv: library.routine(&name("posv"))?,
                    gesv: library.routine(&name("gesv"))?,
                    gesdd: library.routine(&name("gesdd"))?,
                    potrf: library.routine(&name("potrf"))?,
                    trsm: library.routine(&name("trsm"))?,
                    syrk: library.routine(&name("syrk"))?,
                    trsv: library.routine(&name("trsv"))?,
                })
            };
            let lapack = has_lapack.then(lapack).transpose()?;
            Ok(Routines { gemm: library.routine(&name("gemm"))?, lapack })
        }
    }
}
