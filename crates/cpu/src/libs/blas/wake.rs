//! Wakes the threads of a BLAS library by a product whose result is not used.

use gpubench_model::error::CellError;
use ndarray::Array2;

use super::Provider;

/// Largest side at which OpenBLAS multiplies on one thread (its threshold is 64^3 multiplications).
const SERIAL_SIDE: usize = 64;
/// Rows and depth of the product, and columns per thread. OpenBLAS gives each thread at least 32 columns, and it uses
/// its kernels for small matrices up to 100^3 multiplications on two threads; this is the smallest product beyond both
/// limits.
const DEPTH: usize = 128;
const COLUMNS_EACH: usize = 32;

/// The product that wakes the threads, for a job with matrices of some side.
pub(crate) struct ThreadWaker {
    provider: &'static Provider,
    /// None if the job takes one thread.
    product: Option<[Array2<f32>; 3]>,
}

impl ThreadWaker {
    /// Allocates the matrices for `threads` threads, unless jobs of this side use one thread.
    pub(crate) fn new(provider: &'static Provider, threads: usize, side: usize) -> Self {
        let zeros = |rows, columns| Array2::zeros((rows, columns));
        let columns = COLUMNS_EACH * threads;
        let product = (side > SERIAL_SIDE && threads > 1)
            .then(|| [zeros(DEPTH, DEPTH), zeros(DEPTH, columns), zeros(DEPTH, columns)]);
        ThreadWaker { provider, product }
    }

    /// Multiplies. The library's threads have worked when this returns, and spin for more work for a while.
    pub(crate) fn wake(&mut self) -> Result<(), CellError> {
        match &mut self.product {
            Some([a, b, c]) => self.provider.gemm(a, b, c),
            None => Ok(()),
        }
    }
}
