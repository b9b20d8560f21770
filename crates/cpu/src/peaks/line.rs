//! A cache line of numbers, and what writes lines.

/// Numbers of a cache line.
pub(crate) const WIDTH: usize = 8;
/// The factor of the triad.
pub(crate) const FACTOR: f64 = 3.0;

/// A cache line of numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C, align(64))]
pub(crate) struct Line(pub(crate) [f64; WIDTH]);

/// Writes `a` from `b` and `c`, which are as long.
pub(crate) type Writer = fn(a: &mut [Line], b: &[Line], c: &[Line]);
