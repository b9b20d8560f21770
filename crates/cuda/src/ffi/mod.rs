//! Calls into CUDA that the compiler cannot check, wrapped in functions that check what they can.

pub mod cholesky;
pub mod contents;
pub mod context;
pub mod cublas;
pub mod cublaslt;
pub mod cufft;
pub mod cusolver;
pub mod cusparse;
pub mod dl;
pub mod driver;
pub mod fft;
pub mod fft_mirrored;
pub mod launch;
pub mod nvrtc;
pub mod ozaki;
pub mod pinned;
pub mod reduce;
pub mod single;
pub mod spgemm;
pub mod spmv;
pub mod square_product;
pub mod svd;
pub mod timing;
pub mod tridiagonal;
