//! CBLAS's gemm on ndarray's arrays, as a safe function.

use std::ffi::c_int;

use ndarray::Array2;

use super::Provider;
use crate::data::Real;
use crate::error::CellError;

/// The type of `cblas_?gemm`: layout, two transpositions, m, n, k, alpha, A, lda, B, ldb, beta, C, ldc.
pub type Gemm<T> = unsafe extern "C" fn(
    c_int,
    c_int,
    c_int,
    c_int,
    c_int,
    c_int,
    T,
    *const T,
    c_int,
    *const T,
    c_int,
    T,
    *mut T,
    c_int,
);

const ROW_MAJOR: c_int = 101;
const NO_TRANSPOSE: c_int = 111;

/// The element types of BLAS and LAPACK.
pub trait Blas: Real + ndarray_linalg::Lapack {
    /// The provider's gemm for this type.
    fn gemm_of(provider: &Provider) -> Gemm<Self>;
}

impl Blas for f32 {
    fn gemm_of(provider: &Provider) -> Gemm<f32> {
        provider.sgemm
    }
}

impl Blas for f64 {
    fn gemm_of(provider: &Provider) -> Gemm<f64> {
        provider.dgemm
    }
}

impl Provider {
    /// `c = a b` for row-major arrays of shapes m x k, k x n and m x n.
    ///
    /// Shapes that do not agree, other layouts and sides beyond `i32::MAX` are errors.
    pub fn gemm<T: Blas>(&self, a: &Array2<T>, b: &Array2<T>, c: &mut Array2<T>) -> Result<(), CellError> {
        let ((m, k), n) = (a.dim(), b.ncols());
        let row_major = a.is_standard_layout() && b.is_standard_layout() && c.is_standard_layout();
        if b.nrows() != k || c.dim() != (m, n) || !row_major {
            return Err(CellError::call("gemm", "operands are not row-major matrices of agreeing shapes"));
        }
        let side =
            |n: usize| c_int::try_from(n).map_err(|_| CellError::call("gemm", "a side exceeds 2^31 - 1"));
        let (m, n, k) = (side(m)?, side(n)?, side(k)?);
        let (alpha, beta) = (<T as Real>::from_f64(1.0), <T as Real>::from_f64(0.0));
        let (lda, ldb, ldc) = (k.max(1), n.max(1), n.max(1));
        // SAFETY: the arrays hold m*k, k*n and m*n elements row after row, as checked above, and `c`, being
        // borrowed mutably, overlaps neither of the others.
        unsafe {
            T::gemm_of(self)(
                ROW_MAJOR,
                NO_TRANSPOSE,
                NO_TRANSPOSE,
                m,
                n,
                k,
                alpha,
                a.as_ptr(),
                lda,
                b.as_ptr(),
                ldb,
                beta,
                c.as_mut_ptr(),
                ldc,
            );
        }
        Ok(())
    }
}
