//! Solves systems by a Cholesky factorisation in blocks, then two triangular solves for the one right-hand side.
//!
//! The factorisation is right-looking: most of the work is one large symmetric update per block, which libraries do
//! nearly as fast as a product (Golub and Van Loan, "Matrix Computations", 4.2.9).

use gpubench_model::data::Real;
use gpubench_model::error::CellError;

use super::abi::{AS_IT_LIES, LOWER, Letter, ONE};
use super::{Blas, Provider};

/// Columns per block: enough that the update is nearly a product, and few enough that factorising the block itself,
/// which scales worse, is a small part.
const BLOCK: usize = 512;

const RIGHT: Letter = c"R".as_ptr();
const TRANSPOSED: Letter = c"T".as_ptr();
/// A diagonal that is stored.
const STORED: Letter = c"N".as_ptr();

impl Provider {
    /// Solves as [`Provider::posv`] does, block by block.
    pub(crate) fn posv_in_blocks<T: Blas>(&self, a: &mut [T], b: &mut [T]) -> Result<(), CellError> {
        let (n, side) = (self.system_side(a, b)?, b.len());
        for first in (0..side).step_by(BLOCK) {
            self.factorise_block(a, side, first)?;
        }
        let trsv = self.lapack::<T>()?.blocked.trsv;
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
        let routines = &self.lapack::<T>()?.blocked;
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
}
