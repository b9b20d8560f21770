//! Calls into CUDA that the compiler cannot check, wrapped in functions that check what they can.

pub(crate) mod cufft;
pub(crate) mod cusolver;
pub(crate) mod cusparse;
pub mod dl;
pub mod driver;
pub(crate) mod fft_kernels;
pub mod nvrtc;
pub(crate) mod spmv_kernel;
