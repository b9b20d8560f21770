//! The unsafe calls into CUDA, wrapped in functions that check lengths and lifetimes.

pub(crate) mod cholesky;
pub(crate) mod contents;
pub(crate) mod context;
pub(crate) mod cublas;
pub(crate) mod cublaslt;
pub(crate) mod cufft;
pub(crate) mod cusolver;
pub(crate) mod cusparse;
pub(crate) mod dl;
pub(crate) mod driver;
pub(crate) mod fft_fill;
pub(crate) mod fft_hermitian;
pub(crate) mod launch;
pub(crate) mod nvrtc;
pub(crate) mod ozaki;
pub(crate) mod pinned;
pub(crate) mod reduce;
pub(crate) mod single;
pub(crate) mod spgemm;
pub(crate) mod spmv;
pub(crate) mod square_product;
pub(crate) mod status;
pub(crate) mod svd;
pub(crate) mod timing;
pub(crate) mod tridiagonal;

use gpubench_model::error::CellError;
use status::Status;

/// Fails if a library call did not return success.
fn succeeded(call: &str, status: impl Into<Status>) -> Result<(), CellError> {
    let status = status.into();
    if status.is_success() {
        return Ok(());
    }
    Err(CellError::call(call, format!("{status}; try a smaller size, or run `gpubench doctor`")))
}
