//! Levels of a series of logarithms: their minimum length, their position and the noise around them.

use gpubench_model::measure::stats::median;

/// Minimum number of values on either side of a step. One or two deviating values are outliers, or
/// [`Latest`](super::steps::Latest).
pub(crate) const MIN_LEVEL: usize = 3;

/// Number of reports without which a series has no step: a level before it and one after.
pub(crate) const MIN_REPORTS: usize = 2 * MIN_LEVEL;

/// Returns the levels that begin at `cuts`: the index of the first value, and the values.
pub(crate) fn parts<'a>(logs: &'a [f64], cuts: &'a [usize]) -> impl Iterator<Item = (usize, &'a [f64])> {
    let ends = cuts.iter().skip(1).copied().chain([logs.len()]);
    cuts.iter().zip(ends).map(|(&first, end)| (first, &logs[first..end]))
}

/// Estimates the standard deviation of the logarithms around their level from the median of the absolute differences of
/// values at distance `apart`.
///
/// A step or an outlier changes few differences and hardly affects their median. For normal noise that median is 0.9539
/// (0.6745 times the root of 2) standard deviations.
pub(crate) fn noise(logs: &[f64], apart: usize) -> f64 {
    let differences: Vec<f64> =
        logs.windows(apart + 1).map(|window| (window[apart] - window[0]).abs()).collect();
    median(&differences).unwrap_or(0.0) / 0.9539
}

/// Returns the median; 0 without values.
pub(crate) fn center(logs: &[f64]) -> f64 {
    median(logs).unwrap_or(0.0)
}
