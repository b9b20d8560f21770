//! Products of square matrices by cuBLAS, of padded copies where that takes less time.

use cudarc::driver::{CudaSlice, CudaStream};
use gpubench_cuda::ffi::cublas::{Cublas, Matrix, Product};
use gpubench_cuda::{Cuda, Result};

use crate::matmul::{PaddedCopies, padded_side};

/// The smallest odd size for which padded copies were measured to take less time.
const MIN_PADDED: usize = 1777;

/// A column-major operand, and whether the product uses its transpose.
#[derive(Clone, Copy)]
pub(super) struct Factor<'a> {
    matrix: &'a CudaSlice<f64>,
    is_transposed: bool,
}

pub(super) fn plain(matrix: &CudaSlice<f64>) -> Factor<'_> {
    Factor { matrix, is_transposed: false }
}

pub(super) fn transposed(matrix: &CudaSlice<f64>) -> Factor<'_> {
    Factor { matrix, is_transposed: true }
}

pub(super) struct SquareProducts {
    pub(super) blas: Cublas,
    n: usize,
    padded: Option<Padded>,
}

/// Copies of both operands and of the answer, with zeros to the right and below.
struct Padded {
    copies: PaddedCopies<f64, f64>,
    side: usize,
    operands: [CudaSlice<f64>; 2],
    answer: CudaSlice<f64>,
}

impl Padded {
    fn new(cuda: &Cuda, n: usize, side: usize) -> Result<Padded> {
        Ok(Padded {
            copies: PaddedCopies::load(cuda, n, side)?,
            side,
            operands: [cuda.alloc(side * side)?, cuda.alloc(side * side)?],
            answer: cuda.alloc(side * side)?,
        })
    }
}

/// Returns the number of rows and columns of padded copies of `n x n` matrices, or `None` if products are not padded.
fn side_of_copies(n: usize) -> Option<usize> {
    (n >= MIN_PADDED && !n.is_multiple_of(2)).then(|| padded_side(n))
}

impl SquareProducts {
    /// Returns the float64 elements of device memory of an instance for size `n`.
    pub(super) fn elements(n: usize) -> u128 {
        side_of_copies(n).map_or(0, |side| 3 * side as u128 * side as u128)
    }

    pub(super) fn new(cuda: &Cuda, n: usize) -> Result<SquareProducts> {
        let blas = Cublas::for_size(cuda, n)?;
        let padded = side_of_copies(n).map(|side| Padded::new(cuda, n, side)).transpose()?;
        Ok(SquareProducts { blas, n, padded })
    }

    pub(super) fn multiply(
        &mut self,
        stream: &CudaStream,
        a: Factor<'_>,
        b: Factor<'_>,
        c: &mut CudaSlice<f64>,
    ) -> Result<()> {
        let at = |factor: Factor<'_>, side| Matrix { transposed: factor.is_transposed, ..Matrix::new(side) };
        let Some(Padded { copies, side, operands: [left, right], answer }) = &mut self.padded else {
            let (n, product) = (self.n, Product::new([self.n; 3]));
            return self.blas.product(
                product,
                (a.matrix, at(a, n)),
                (b.matrix, at(b, n)),
                (c, Matrix::new(n)),
            );
        };
        copies.pad(stream, a.matrix, left)?;
        copies.pad(stream, b.matrix, right)?;
        let (side, product) = (*side, Product::new([*side; 3]));
        self.blas.product(product, (left, at(a, side)), (right, at(b, side)), (answer, Matrix::new(side)))?;
        copies.unpad(stream, answer, c)
    }
}
