//! The routines of BLAS and LAPACK that jobs call straight, as safe functions on row-major matrices.
//!
//! They are called as Fortran does, by pointers alone, so that one signature serves libraries with 32-bit and with
//! 64-bit integers: the former read and write the low half of each [`Int`], which comes first in memory on the
//! little-endian processors that the program is built for. Nothing here allocates.

use std::ffi::c_char;

use gpubench_model::data::Real;
use gpubench_model::error::CellError;
use ndarray::Array2;

use super::Provider;
use super::blocked::Blocked;

/// An integer as Fortran gets it.
pub(super) type Int = i64;
/// A Fortran string of one letter.
pub(super) type Letter = *const c_char;
/// The length of a Fortran string, which follows the other arguments by value.
pub(super) type Length = usize;

#[cfg(target_endian = "big")]
compile_error!("32-bit integers are passed as the low half of 64-bit ones, which must come first in memory");

/// `?gemm`: transpositions, m, n, k, alpha, A, lda, B, ldb, beta, C, ldc.
type Gemm<T> = unsafe extern "C" fn(
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
type Posv<T> = unsafe extern "C" fn(
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
type Gesv<T> =
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

/// A library's routines for one element type.
pub struct Routines<T> {
    gemm: Gemm<T>,
    lapack: Option<Lapack<T>>,
}

/// Those of LAPACK.
pub(super) struct Lapack<T> {
    posv: Posv<T>,
    gesv: Gesv<T>,
    pub(super) gesdd: Gesdd<T>,
    pub(super) blocked: Blocked<T>,
}

impl<T> Routines<T> {
    /// The routines that begin with `letter`; those of LAPACK only if the library `has_lapack`.
    pub(super) fn find(
        library: &super::open::Opened,
        letter: char,
        has_lapack: bool,
    ) -> Result<Self, String> {
        let name = |routine: &str| format!("{letter}{routine}_");
        // SAFETY: the names are those of the routines whose types these are.
        unsafe {
            let lapack = || -> Result<Lapack<T>, String> {
                Ok(Lapack {
                    posv: library.routine(&name("posv"))?,
                    gesv: library.routine(&name("gesv"))?,
                    gesdd: library.routine(&name("gesdd"))?,
                    blocked: Blocked::find(library, letter)?,
                })
            };
            let lapack = has_lapack.then(lapack).transpose()?;
            Ok(Routines { gemm: library.routine(&name("gemm"))?, lapack })
        }
    }
}

/// The element types of BLAS and LAPACK.
pub trait Blas: Real + ndarray_linalg::Lapack<Real = Self> {
    /// The provider's routines for this type.
    fn routines(provider: &Provider) -> &Routines<Self>;
}

impl Blas for f32 {
    fn routines(provider: &Provider) -> &Routines<f32> {
        &provider.single
    }
}

impl Blas for f64 {
    fn routines(provider: &Provider) -> &Routines<f64> {
        &provider.double
    }
}

pub(super) const AS_IT_LIES: Letter = c"N".as_ptr();
pub(super) const LOWER: Letter = c"L".as_ptr();
pub(super) static ONE: Int = 1;

impl Provider {
    /// `c = a b` for row-major arrays of shapes m x k, k x n and m x n: to Fortran, the transpose of `b` times that of
    /// `a`.
    ///
    /// Shapes that do not agree, other layouts and sides that the library's integers cannot hold are errors.
    pub fn gemm<T: Blas>(&self, a: &Array2<T>, b: &Array2<T>, c: &mut Array2<T>) -> Result<(), CellError> {
        let ((m, k), n) = (a.dim(), b.ncols());
        let row_major = a.is_standard_layout() && b.is_standard_layout() && c.is_standard_layout();
        if b.nrows() != k || c.dim() != (m, n) || !row_major {
            return Err(CellError::call("gemm", "operands are not row-major matrices of agreeing shapes"));
        }
        let (m, n, k) = (self.int(m)?, self.int(n)?, self.int(k)?);
        let (alpha, beta) = (<T as Real>::from_f64(1.0), <T as Real>::from_f64(0.0));
        let (a_row, b_row) = (k.max(1), n.max(1));
        // SAFETY: the arrays hold m*k, k*n and m*n elements row after row, as checked above, and `c`, being
        // borrowed mutably, overlaps neither of the others.
        unsafe {
            (T::routines(self).gemm)(
                AS_IT_LIES,
                AS_IT_LIES,
                &raw const n,
                &raw const m,
                &raw const k,
                &raw const alpha,
                b.as_ptr(),
                &raw const b_row,
                a.as_ptr(),
                &raw const a_row,
                &raw const beta,
                c.as_mut_ptr(),
                &raw const b_row,
                1,
                1,
            );
        }
        Ok(())
    }

    /// Solves `a x = b` for a symmetric positive definite `a` of n x n: the factor replaces half of `a`, the solution
    /// `b`. A matrix that is not positive definite is an error.
    pub fn posv<T: Blas>(&self, a: &mut [T], b: &mut [T]) -> Result<(), CellError> {
        let (posv, n) = (self.lapack::<T>()?.posv, self.system_side(a, b)?);
        let mut info = 0;
        // SAFETY: `a` holds n*n and `b` n elements, as checked, each of them borrowed mutably.
        unsafe {
            let (n, info) = (&raw const n, &raw mut info);
            posv(LOWER, n, &raw const ONE, a.as_mut_ptr(), n, b.as_mut_ptr(), n, info, 1);
        }
        self.succeeded("posv", info)
    }

    /// Solves `aᵀ x = b` for `a` of n x n by LU: the factors replace `a`, the solution `b`; `pivots` holds n. A singular
    /// matrix is an error.
    pub fn gesv<T: Blas>(&self, a: &mut [T], pivots: &mut [i64], b: &mut [T]) -> Result<(), CellError> {
        let (gesv, n) = (self.lapack::<T>()?.gesv, self.system_side(a, b)?);
        if pivots.len() != b.len() {
            return Err(CellError::call("gesv", "there is not one pivot a row"));
        }
        let mut info = 0;
        // SAFETY: `a` holds n*n, `b` and `pivots` n elements, as checked, each of them borrowed mutably.
        unsafe {
            let (n, info) = (&raw const n, &raw mut info);
            gesv(n, &raw const ONE, a.as_mut_ptr(), n, pivots.as_mut_ptr(), b.as_mut_ptr(), n, info);
        }
        self.succeeded("gesv", info)
    }

    /// The side of a system of equations.
    pub(super) fn system_side<T>(&self, a: &[T], b: &[T]) -> Result<Int, CellError> {
        if b.len().checked_mul(b.len()) != Some(a.len()) {
            return Err(CellError::call("solve", "the matrix and the right-hand side do not agree"));
        }
        self.int(b.len())
    }

    pub(super) fn lapack<T: Blas>(&self) -> Result<&Lapack<T>, CellError> {
        T::routines(self).lapack.as_ref().ok_or_else(|| CellError::call("LAPACK", "the library has none"))
    }

    pub(super) fn int(&self, number: usize) -> Result<Int, CellError> {
        let most = if self.has_long_integers { i64::MAX } else { i64::from(i32::MAX) };
        let number = i64::try_from(number).ok().filter(|number| *number <= most);
        number.ok_or_else(|| CellError::call("BLAS", "a side exceeds what the library's integers hold"))
    }

    pub(super) fn succeeded(&self, routine: &str, info: Int) -> Result<(), CellError> {
        // Of 32-bit integers only the low half is written.
        let info = if self.has_long_integers { info } else { i64::from(info as i32) };
        if info == 0 { Ok(()) } else { Err(CellError::call(routine, format!("it ended with info {info}"))) }
    }
}
