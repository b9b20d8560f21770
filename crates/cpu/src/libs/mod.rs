//! Libraries found at run time: BLAS and LAPACK from several vendors, the FFTs and vector functions of MKL, FFTW, and Intel's OpenMP.

pub(crate) mod blas;
pub(crate) mod dfti;
pub(crate) mod fft_lines;
pub(crate) mod fftw;
pub(crate) mod openmp;
pub(crate) mod vml;
