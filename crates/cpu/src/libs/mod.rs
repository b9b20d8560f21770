//! Libraries found at run time: BLAS and LAPACK of several vendors, MKL's FFTs, FFTW.

pub(crate) mod blas;
pub(crate) mod dfti;
pub(crate) mod fft_lines;
pub(crate) mod fftw;
