//! The BLAS and LAPACK routines that jobs call directly, as safe functions on row-major matrices. None of them
//! allocates.
//!
//! References: <https://www.netlib.org/blas/> (gemm), <https://www.netlib.org/lapack/explore-html/> (posv, gesv).
//!
//! The Cholesky factorisation in blocks is right-looking: most of the work is one large symmetric update per block, which
//! libraries do nearly as fast as a product (Golub and Van Loan, "Matrix Computations", 4.2.9).

use gpubench_report::data::Real;
use gpubench_report::error::CellError;
use ndarray::Array2;

use super::abi::{AS_IT_LIES, Int, LOWER, Letter, ONE};
use super::{Blas, Provider};

/// Columns per block: enough that the update is nearly a product, and few enough that factorising the block itself,
/// which scales worse, is a small part.
const BLOCK: usize = 512;

const RIGHT: Letter = c"R".as_ptr();
const TRANSPOSED: Letter = c"T".as_ptr();
/// A diagonal that is stored.
const STORED: Letter = c"N".as_ptr();

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

    /// Solves as [`Provider::posv`] does, by a factorisation in blocks and two triangular solves for the one right-hand
    /// side.
    pub(crate) fn posv_in_blocks<T: Blas>(&self, a: &mut [T], b: &mut [T]) -> Result<(), CellError> {
        let (n, side) = (self.system_side(a, b)?, b.len());
        for first in (0..side).step_by(BLOCK) {
            self.factorise_block(a, side, first)?;
        }
        let trsv = self.lapack::<T>()?.trsv;
        for transposition in [AS_IT_LIES, TRANSPOSED] {
            // SAFETY: `a` holds n*n and `b` n elements, as checked, the latter borrowed mutably.
            unsafe {
                let (n, a, b) = (&raw const n, a.as_ptr(), b.as_mut_ptr());
                trsv(LOWER, transposition, STORED, n, a, n, b, &raw const ONE, 1, 1, 1);
            }
        }
        Ok(())
    }

    /// Factorises the block of columns that begins at `first`, and updates the columns after it.
    fn factorise_block<T: Blas>(&self, a: &mut [T], side: usize, first: usize) -> Result<(), CellError> {
        let routines = self.lapack::<T>()?;
        let width = BLOCK.min(side - first);
        let behind = first + width;
        let (n, k, rest) = (self.int(side)?, self.int(width)?, self.int(side - behind)?);
        let (one, minus_one) = (<T as Real>::from_f64(1.0), <T as Real>::from_f64(-1.0));
        let mut info = 0;
        // SAFETY: column after column of n elements, of which `a` holds n: the block's diagonal begins at (first, first),
        // what is below it at (behind, first), and the rest of the matrix, if there is any, at (behind, behind).
        unsafe {
            let (n, k, rest_) = (&raw const n, &raw const k, &raw const rest);
            let (one, minus_one) = (&raw const one, &raw const minus_one);
            let diagonal = a.as_mut_ptr().add(first * side + first);
            (routines.potrf)(LOWER, k, diagonal, n, &raw mut info, 1);
            if info == 0 && rest > 0 {
                let below = diagonal.add(width);
                let further = a.as_mut_ptr().add(behind * side + behind);
                let trsm = routines.trsm;
                trsm(RIGHT, LOWER, TRANSPOSED, STORED, rest_, k, one, diagonal, n, below, n, 1, 1, 1, 1);
                (routines.syrk)(LOWER, AS_IT_LIES, rest_, k, minus_one, below, n, one, further, n, 1, 1);
            }
        }
        self.succeeded("potrf", info)
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
    fn system_side<T>(&self, a: &[T], b: &[T]) -> Result<Int, CellError> {
        if b.len().checked_mul(b.len()) != Some(a.len()) {
            return Err(CellError::call("solve", "the matrix and the right-hand side do not agree"));
        }
        self.int(b.len())
    }
}
