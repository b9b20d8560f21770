//! Finds the steps of a series of times, and checks if its newest values may be a new step.
//!
//! It works on plain numbers. `docs/trend.md` describes the method and its calibration.

use gpubench_report::measure::stats::median;
use serde::Serialize;

use super::TimeLevel;
use super::select::{MIN_LEVEL, center, noise, parts, select};

/// Relative increase of the noise of a short series, times its length.
const SHORT: f64 = 10.0;
/// Largest deviation of a value from its neighbours in the fit, in standard deviations.
const OUTLIER_LIMIT: f64 = 3.0;
/// Smallest deviation of the newest values from their level that is reported, in standard deviations.
const APART: f64 = 4.0;
/// Minimum and maximum number of values with which the newest ones are compared.
const BEFORE_LATEST: (usize, usize) = (5, 9);

/// Values at the end that deviate from the last level and are too few for a level of their own.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Latest {
    /// Index of the first of them.
    pub first: usize,
    /// Median of these values over that of the last level.
    pub ratio: f64,
}

/// The levels of a series and the noise around them.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Fit {
    /// Relative standard deviation between successive values; `None` for fewer than `MIN_LEVEL` values.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub noise: Option<f64>,
    /// End over beginning of a straight line through the logarithms, if that explains the series better than levels.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub drift: Option<f64>,
    /// The levels, in order, without gaps; all values but the latest belong to one.
    pub levels: Vec<TimeLevel>,
    /// The newest values, if they deviate from the last level.
    #[serde(skip)]
    pub latest: Option<Latest>,
}

/// Finds the likeliest piecewise constant levels of positive `values`; ignores steps below `threshold` (0.02 is 2 %).
pub(crate) fn fit(values: &[f64], threshold: f64) -> Fit {
    let Some(reference) = median(values) else {
        return Fit::default();
    };
    // Relative to the median, so that the result is independent of the unit and does not overflow.
    let logs: Vec<f64> = values.iter().map(|value| (value / reference).clamp(1e-300, 1e300).ln()).collect();
    let min_step = threshold.ln_1p();
    let (settled, levels) = split_latest(&logs, min_step);
    let found: Vec<TimeLevel> = parts(settled, &levels.cuts)
        .map(|(first, part)| TimeLevel { first, count: part.len(), median_s: reference * center(part).exp() })
        .collect();
    let after = reference * center(&logs[settled.len()..]).exp();
    let latest = found.last().filter(|_| settled.len() < logs.len());
    let latest = latest.map(|level| Latest { first: settled.len(), ratio: after / level.median_s });
    Fit {
        levels: found,
        latest,
        noise: (logs.len() >= MIN_LEVEL).then_some(levels.noise),
        drift: levels.drift.map(f64::exp),
    }
}

/// Where levels begin, the drift of a series that has one instead, and the noise.
struct Levels {
    cuts: Vec<usize>,
    drift: Option<f64>,
    noise: f64,
}

/// Splits off the newest values if they deviate and no level explains them; returns the other values with their levels.
fn split_latest(logs: &[f64], min_step: f64) -> (&[f64], Levels) {
    let noise = noise(logs, 1);
    let unit = unit(noise, logs.len(), min_step);
    let whole = levels(logs, noise, min_step);
    let limit = min_step.max(APART * unit);
    let (settled, newest) = logs.split_at(logs.len() - apart(logs, limit));
    if newest.is_empty() {
        return (logs, whole);
    }
    let without = levels(settled, noise, min_step);
    let deviate = |levels: &Levels| {
        let last = levels.cuts.last().map_or(settled, |first| &settled[*first..]);
        is_separated(last, newest, limit)
    };
    // A level of the whole series may explain them together with values before them.
    if deviate(&whole) && deviate(&without) { (settled, without) } else { (logs, whole) }
}

/// Returns the standard deviation that limits are multiples of.
fn unit(noise: f64, count: usize, min_step: f64) -> f64 {
    // Noise far below the smallest step of interest would only create steps of no interest.
    (noise * (1.0 + SHORT / count as f64)).max(min_step / 5.0).max(1e-9)
}

/// Returns the levels of a series, with the larger of `noise` and the deviations around the levels.
fn levels(logs: &[f64], noise: f64, min_step: f64) -> Levels {
    let unit = unit(noise, logs.len(), min_step);
    let (cuts, drift) = select(&clip_outliers(logs, OUTLIER_LIMIT * unit), min_step);
    // Differences of neighbours show too little of noise that is correlated. Of normal noise the median of the absolute
    // deviations is 0.6745 standard deviations; around one level of a series that drifts it is not that of the noise.
    let deviations = parts(logs, &cuts).filter(|_| drift.is_none()).flat_map(|(_, part)| {
        let level = center(part);
        part.iter().map(move |log| (log - level).abs())
    });
    let left = center(&deviations.collect::<Vec<f64>>()) / 0.6745;
    Levels { cuts, drift, noise: noise.max(left) }
}

/// Clips outliers to within `limit` of the median of five values, so that two do not form a level (Hampel's filter).
fn clip_outliers(logs: &[f64], limit: f64) -> Vec<f64> {
    const WINDOW: usize = 2 * MIN_LEVEL - 1;
    let last = logs.len().saturating_sub(WINDOW);
    let clip = |(index, log): (usize, &f64)| {
        let first = index.saturating_sub(MIN_LEVEL - 1).min(last);
        let middle = center(&logs[first..(first + WINDOW).min(logs.len())]);
        log.clamp(middle - limit, middle + limit)
    };
    logs.iter().enumerate().map(clip).collect()
}

/// Counts the values at the end that deviate by more than `limit` on one side; 0 if they make a level.
fn apart(logs: &[f64], limit: f64) -> usize {
    let is_apart = |count: usize| {
        let (before, end) = logs.split_at(logs.len() - count);
        is_separated(&before[before.len().saturating_sub(BEFORE_LATEST.1)..], end, limit)
    };
    let most = MIN_LEVEL.min(logs.len().saturating_sub(BEFORE_LATEST.0));
    (1..=most).rev().find(|&count| is_apart(count)).filter(|&count| count < MIN_LEVEL).unwrap_or(0)
}

/// Returns true if all of `end` deviates by more than `limit` from the median of `before`, on one side.
fn is_separated(before: &[f64], end: &[f64], limit: f64) -> bool {
    let center = center(before);
    [1.0, -1.0].iter().any(|sign| end.iter().all(|log| sign * (log - center) > limit))
}

#[cfg(test)]
mod tests;
