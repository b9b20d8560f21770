//! One-dimensional FFTs of many lines, whichever library does them.

use rustfft::num_complex::Complex;

/// What transforms lines of one length.
pub(crate) trait Lines<T>: Send + Sync {
    /// Elements that [`Lines::transform`] works in.
    fn work(&self) -> usize;

    /// Transforms `lines`, one behind the other, in place.
    fn transform(&self, lines: &mut [Complex<T>], work: &mut [Complex<T>]);

    /// What went wrong in any call so far.
    fn problem(&self) -> Option<String> {
        None
    }
}
