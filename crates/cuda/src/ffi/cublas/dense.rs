//! Products of column-major float64 matrices of any shape, or of batches of one shape, by cuBLAS.

use cudarc::cublas::sys::{self, cublasOperation_t};
use cudarc::driver::{CudaSlice, DevicePtr, DevicePtrMut};

use super::{Cublas, check};
use crate::{CellError, Result};

/// The position of a column-major matrix, or of the first of a batch, within a slice.
#[derive(Clone, Copy, Debug)]
pub struct Matrix {
    /// Elements before the matrix.
    pub offset: usize,
    /// Elements from one column to the next.
    pub leading: usize,
    /// Elements from one matrix to the next.
    pub stride: usize,
    /// Whether the product uses its transpose.
    pub transposed: bool,
}

impl Matrix {
    /// A matrix at the start of the slice whose columns have `leading` elements and follow each other.
    pub fn new(leading: usize) -> Matrix {
        Matrix { offset: 0, leading, stride: 0, transposed: false }
    }

    /// The matrix, transposed.
    pub fn t(self) -> Matrix {
        Matrix { transposed: !self.transposed, ..self }
    }

    /// The matrix, starting `offset` elements into the slice.
    pub fn from(self, offset: usize) -> Matrix {
        Matrix { offset, ..self }
    }

    /// The first of a batch whose matrices are `stride` elements apart.
    pub fn each(self, stride: usize) -> Matrix {
        Matrix { stride, ..self }
    }

    fn operation(self) -> cublasOperation_t {
        if self.transposed { cublasOperation_t::CUBLAS_OP_T } else { cublasOperation_t::CUBLAS_OP_N }
    }

    /// Fails if `count` matrices that are `rows` by `columns`, after any transposition, exceed a slice of `len`
    /// elements.
    fn fits(self, len: usize, count: usize, (rows, columns): (usize, usize)) -> Result<()> {
        let (rows, columns) = if self.transposed { (columns, rows) } else { (rows, columns) };
        let end = self.offset
            + count.saturating_sub(1) * self.stride
            + columns.saturating_sub(1) * self.leading
            + rows;
        if self.leading >= rows.max(1) && end <= len {
            return Ok(());
        }
        Err(CellError::Failed(format!(
            "{count} matrices of {rows} x {columns} at {self:?} exceed {len} elements"
        )))
    }
}

/// `C = alpha A B + beta C`, `count` times.
#[derive(Clone, Copy, Debug)]
pub struct Product {
    /// Rows of C, its columns, and the columns of A.
    pub shape: [usize; 3],
    /// Number of products of that shape.
    pub count: usize,
    /// Factor of the product.
    pub alpha: f64,
    /// Factor of the previous C; with 0, C is not read.
    pub beta: f64,
}

impl Product {
    /// The product `C = A B` of that shape.
    pub fn new(shape: [usize; 3]) -> Product {
        Product { shape, count: 1, alpha: 1.0, beta: 0.0 }
    }

    /// Subtracts the product from C instead.
    pub fn subtracted(self) -> Product {
        Product { alpha: -1.0, beta: 1.0, ..self }
    }

    /// The product for each of a batch of `count` matrices.
    pub fn times(self, count: usize) -> Product {
        Product { count, ..self }
    }
}

impl Cublas {
    /// Enqueues a product. C is not transposed, and its matrices do not overlap.
    ///
    /// # Errors
    /// A matrix exceeds its slice, or a size exceeds 32 bits.
    pub fn product(
        &self,
        product: Product,
        (a, a_at): (&CudaSlice<f64>, Matrix),
        (b, b_at): (&CudaSlice<f64>, Matrix),
        (c, c_at): (&mut CudaSlice<f64>, Matrix),
    ) -> Result<()> {
        let Product { shape: [m, n, k], count, alpha, beta } = product;
        a_at.fits(a.len(), count, (m, k))?;
        b_at.fits(b.len(), count, (k, n))?;
        c_at.fits(c.len(), count, (m, n))?;
        if c_at.transposed || (count > 1 && c_at.stride < c_at.leading * n) {
            return Err(CellError::Failed(format!("the answer cannot have the layout {c_at:?}")));
        }
        let side = |value: usize| i32::try_from(value).map_err(|error| CellError::call("cublasDgemm", error));
        let long = |value: usize| i64::try_from(value).map_err(|error| CellError::call("cublasDgemm", error));
        let stream = &self.cuda.stream;
        let at = |start: u64, offset: usize| start + (offset * size_of::<f64>()) as u64;
        let a_start = at(a.device_ptr(stream).0, a_at.offset);
        let b_start = at(b.device_ptr(stream).0, b_at.offset);
        let c_start = at(c.device_ptr_mut(stream).0, c_at.offset);
        let (a_op, b_op) = (a_at.operation(), b_at.operation());
        let (m, n, k) = (side(m)?, side(n)?, side(k)?);
        let (a_leading, b_leading, c_leading) =
            (side(a_at.leading)?, side(b_at.leading)?, side(c_at.leading)?);
        let (a, b, c) = (a_start as *const f64, b_start as *const f64, c_start as *mut f64);
        let (handle, alpha, beta) = (self.handle, &raw const alpha, &raw const beta);
        if count == 1 {
            // SAFETY: all matrices lie within their slices (checked above); the factors are read before the call
            // returns, as the pointer mode is the host's.
            return check("cublasDgemm", unsafe {
                sys::cublasDgemm_v2(
                    handle, a_op, b_op, m, n, k, alpha, a, a_leading, b, b_leading, beta, c, c_leading,
                )
            });
        }
        let (a_stride, b_stride, c_stride) = (long(a_at.stride)?, long(b_at.stride)?, long(c_at.stride)?);
        let count = side(count)?;
        // SAFETY: as above, for each of the matrices.
        check("cublasDgemmStridedBatched", unsafe {
            sys::cublasDgemmStridedBatched(
                handle, a_op, b_op, m, n, k, alpha, a, a_leading, a_stride, b, b_leading, b_stride, beta, c,
                c_leading, c_stride, count,
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_matrix_that_leaves_its_slice_is_refused() {
        let whole = Matrix::new(4);
        whole.fits(12, 1, (4, 3)).unwrap();
        whole.t().fits(12, 1, (3, 4)).unwrap();
        assert!(whole.fits(11, 1, (4, 3)).is_err());
        assert!(whole.t().fits(12, 1, (4, 3)).is_err());
        assert!(whole.fits(12, 1, (5, 2)).is_err());
        whole.from(2).fits(12, 1, (2, 3)).unwrap();
        assert!(whole.from(2).fits(12, 1, (3, 3)).is_err());
        whole.each(12).fits(24, 2, (4, 3)).unwrap();
        assert!(whole.each(12).fits(24, 3, (4, 3)).is_err());
    }
}
