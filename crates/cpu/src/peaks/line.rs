//! A cache line of numbers, and the function type that writes lines.

/// Numbers per cache line.
pub(crate) const WIDTH: usize = 8;
/// The factor of the triad.
pub(crate) const FACTOR: f64 = 3.0;

/// A cache line of numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C, align(64))]
pub(crate) struct Line(pub(crate) [f64; WIDTH]);

/// Writes `a` from `b` and `c`, which have the same length.
pub(crate) type Writer = fn(a: &mut [Line], b: &[Line], c: &[Line]);
