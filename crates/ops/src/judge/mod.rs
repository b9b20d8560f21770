//! Judges answers by float64 projections, residuals and direct sums, in the same way for every backend.
//!
//! | op | method | source |
//! |---|---|---|
//! | matmul, spgemm | `C x` against `A (B x)` for balanced random weights and for ones, row by row | Freivalds 1977; Huang and Abraham 1984 (checksums); BLIS's test suite |
//! | transfer, overhead | equality | |
//! | reduction | compensated sums, two-pass deviation | Neumaier 1974; Ogita, Rump and Oishi 2005 |
//! | fft | row 0 and column 0 by direct summation; every other row by a projection | Freivalds 1977; `FFTW`'s benchFFT (relative L2 error) |
//! | solve | componentwise backward error | Oettli and Prager 1964; LAPACK's `BERR` |
//! | svd | LAPACK's three test ratios; `UᵀA y` against `S Vᵀ y`, and four orthogonality projections | LAPACK's `xDRVBD` (Working Note 41); Higham and Tisseur 2000 |
//! | all others | every entry again in float64 | |
//!
//! Every bound is a small constant times the unit roundoff of the element type times the growth that rounding errors
//! show in the simplest right algorithm, so that any sound library passes and one visibly wrong entry does not. A
//! value is a relative error; anything not finite becomes `f64::MAX`.

mod fourier;
mod norm;
mod parts;
mod products;
mod sparse;
mod sums;

use gpubench_report::measure::stats::upper_median;
use rayon::prelude::*;

pub(super) use fourier::{dft, dft_of_axes};
pub(super) use norm::{Block, one_norm};
pub(super) use parts::{csr, dense};
pub(super) use products::{
    adjoint_times, as_wide, balanced_and_ones, columns_times, magnitudes_times, rows_times, weights,
};
pub(super) use sparse::{csr_times, largest, magnitudes, row_norms, structural_fault, widest_row};
pub(super) use sums::{moments, sum};

/// Unit roundoff of the judge's own arithmetic.
pub(super) const JUDGE_ROUNDOFF: f64 = f64::EPSILON / 2.0;

/// Returns the largest magnitude; infinite if any value is not finite, zero if there is none.
pub(super) fn worst(values: impl ParallelIterator<Item = f64>) -> f64 {
    let magnitude = |value: f64| if value.is_finite() { value.abs() } else { f64::INFINITY };
    values.map(magnitude).reduce(|| 0.0, f64::max)
}

/// Returns `error` relative to `scale`; 0 relative to 0 is 0.
pub(super) fn relative(error: f64, scale: f64) -> f64 {
    if error == 0.0 { 0.0 } else { error / scale }
}

/// Returns the median of the magnitudes (the upper one of an even number); zero if there is none.
pub(super) fn median_magnitude(mut values: Vec<f64>) -> f64 {
    values.iter_mut().for_each(|value| *value = value.abs());
    upper_median(&mut values).unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_worst_of_values_with_a_nan_is_infinite() {
        assert_eq!(worst(vec![1.0, f64::NAN, 2.0].into_par_iter()), f64::INFINITY);
        assert_eq!(worst(vec![1.0, -3.0, 2.0].into_par_iter()), 3.0);
    }

    #[test]
    fn the_median_magnitude_ignores_signs_and_outliers() {
        assert_eq!(median_magnitude(vec![]), 0.0);
        assert_eq!(median_magnitude(vec![-3.0]), 3.0);
        assert_eq!(median_magnitude(vec![1.0, f64::INFINITY, -2.0, 0.5]), 2.0);
    }

    #[test]
    fn an_error_where_nothing_is_expected_is_infinite() {
        assert_eq!(relative(1e-300, 0.0), f64::INFINITY);
        assert_eq!(relative(0.0, 0.0), 0.0);
    }
}
