//! The interface of one-dimensional FFTs over many lines, which each FFT library implements.

use rustfft::num_complex::Complex;

/// Transforms lines of one length.
pub(crate) trait Lines<T>: Send + Sync {
    /// Number of elements of workspace that [`Lines::transform`] needs.
    fn work(&self) -> usize;

    /// Transforms `lines`, stored one after another, in place.
    fn transform(&self, lines: &mut [Complex<T>], work: &mut [Complex<T>]);

    /// Returns the first error of any call so far.
    fn problem(&self) -> Option<String> {
        None
    }
}
