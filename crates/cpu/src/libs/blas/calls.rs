//! The BLAS and LAPACK routines that jobs call directly, as safe functions on row-major matrices. None of them
//! allocates.
//!
//! References: <https://www.netlib.org/blas/> (gemm), <https://www.netlib.org/lapack/explore-html/> (posv, gesv).

use gpubench_model::data::Real;
use gpubench_model::error::CellError;
use ndarray::Array2;

use super::abi::{AS_IT_LIES, Int, LOWER, ONE};
use super::{Blas, Provider};

impl Provider {
    /// Computes `c = a b` for row-major arrays of shapes m x k, k x n and m x n. To Fortran, this is the transpose of
    /// `b` times the transpose of `a`.
    ///
    /// Returns an error for shapes that do not agree, other layouts, and sides beyond the range of the library's
    /// integers.
    pub(crate) fn gemm<T: Blas>(
        &self,
        a: &Array2<T>,
        b: &Array2<T>,
        c: &mut Array2<T>,
    ) -> Result<(), CellError> {
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
    pub(crate) fn posv<T: Blas>(&self, a: &mut [T], b: &mut [T]) -> Result<(), CellError> {
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
    pub(crate) fn gesv<T: Blas>(
        &self,
        a: &mut [T],
        pivots: &mut [i64],
        b: &mut [T],
    ) -> Result<(), CellError> {
        let (gesv, n) = (self.lapack::<T>()?.gesv, self.system_side(a, b)?);
        if pivots.len() != b.len() {
            return Err(CellError::call("gesv", "the number of pivots differs from the number of rows"));
        }
        let mut info = 0;
        // SAFETY: `a` holds n*n, `b` and `pivots` n elements, as checked, each of them borrowed mutably.
        unsafe {
            let (n, info) = (&raw const n, &raw mut info);
            gesv(n, &raw const ONE, a.as_mut_ptr(), n, pivots.as_mut_ptr(), b.as_mut_ptr(), n, info);
        }
        self.succeeded("gesv", info)
    }

    /// Returns the side of a system of equations.
    pub(super) fn system_side<T>(&self, a: &[T], b: &[T]) -> Result<Int, CellError> {
        if b.len().checked_mul(b.len()) != Some(a.len()) {
            return Err(CellError::call("solve", "the matrix and the right-hand side do not agree"));
        }
        self.int(b.len())
    }
}
