//! Finds the steps of a series of times, and checks if its newest values may be a new step.
//!
//! It works on plain numbers. `docs/trend.md` describes the method and its calibration.

use gpubench_report::measure::stats::median;
use serde::Serialize;

use super::TimeLevel;
use super::select::{MIN_LEVEL, MIN_REPORTS, SelectedSteps, center, noise, parts, select};

/// Smallest number of values for which the correlation of the noise is reported; for fewer it is too uncertain.
const MIN_FOR_CORRELATION: usize = 20;
/// Penalty of a further level, in standard deviations of the noise per unit of ln n.
const PENALTY: f64 = 1.6;
/// Share of the penalty for proposals, of which few are kept.
const PROPOSED: f64 = 0.6;
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
    /// Correlation of that noise between successive values, from 0 to 0.9; `None` for fewer than 20 values.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub correlation: Option<f64>,
    /// End over beginning of a straight line through the logarithms, if that explains the series better than levels; the
    /// series then has one level.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub drift: Option<f64>,
    /// The levels, in order, without gaps; all values but the latest belong to one.
    pub levels: Vec<TimeLevel>,
    /// The newest values, if they deviate from the last level.
    #[serde(skip)]
    pub latest: Option<Latest>,
}

/// Finds the levels of positive `values` in order of time; ignores steps below `threshold` (0.02 is 2 %).
///
/// A piecewise constant fit of the logarithms that minimises the absolute deviations from the medians, in standard
/// deviations of the noise, plus a penalty per level that grows with ln n: exact, by dynamic programming (optimal
/// partitioning of Jackson et al., "An algorithm for optimal partitioning of data on an interval", IEEE Signal
/// Processing Letters 12 (2005); the penalty as in Killick, Fearnhead and Eckley, "Optimal detection of changepoints
/// with a linear computational cost", Journal of the American Statistical Association 107 (2012); the L1 cost as in
/// asv). Steps below the threshold are then taken out, the smallest first.
pub(crate) fn fit(values: &[f64], threshold: f64) -> Fit {
    let Some(reference) = median(values) else {
        return Fit::default();
    };
    // Relative to the median, so that the result is independent of the unit and does not overflow.
    let logs: Vec<f64> = values.iter().map(|value| (value / reference).clamp(1e-300, 1e300).ln()).collect();
    let min_step = threshold.ln_1p();
    let (settled, levels) = split_latest(&logs, min_step);
    let found: Vec<TimeLevel> = parts(settled, &levels.selection.cuts)
        .map(|(first, part)| TimeLevel { first, count: part.len(), median_s: reference * center(part).exp() })
        .collect();
    let after = reference * center(&logs[settled.len()..]).exp();
    let latest = found.last().filter(|_| settled.len() < logs.len());
    let latest = latest.map(|level| Latest { first: settled.len(), ratio: after / level.median_s });
    Fit {
        levels: found,
        latest,
        noise: (logs.len() >= MIN_LEVEL).then_some(levels.noise),
        drift: levels.selection.drift.map(f64::exp),
        correlation: (logs.len() >= MIN_FOR_CORRELATION).then_some(levels.selection.correlation),
    }
}

/// Levels of a series and the standard deviation of the noise around them.
struct Levels {
    selection: SelectedSteps,
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
    let penalty = penalty(logs.len());
    let cost = |logs: &[f64], cuts: &[usize]| {
        let deviations: f64 = deviations(logs, cuts).iter().sum();
        deviations / unit + penalty * cuts.len() as f64
    };
    // Values of a level of the whole series cost little there; otherwise one more level would cost less.
    let is_explained = cost(logs, &whole.selection.cuts) <= cost(settled, &without.selection.cuts) + penalty;
    let last = without.selection.cuts.last().map_or(settled, |first| &settled[*first..]);
    match (is_explained && whole.selection.cuts != without.selection.cuts)
        || !is_separated(last, newest, limit)
    {
        true => (logs, whole),
        false => (settled, without),
    }
}

/// Returns the penalty of a level in a series of `count` values, in standard deviations.
fn penalty(count: usize) -> f64 {
    PENALTY * (count as f64).ln()
}

/// Returns the standard deviation that scales costs.
fn unit(noise: f64, count: usize, min_step: f64) -> f64 {
    // Noise far below the smallest step of interest would only create steps of no interest.
    (noise * (1.0 + SHORT / count as f64)).max(min_step / 5.0).max(1e-9)
}

/// Returns the levels of a series, with the larger of `noise` and the deviations around the levels.
fn levels(logs: &[f64], noise: f64, min_step: f64) -> Levels {
    let unit = unit(noise, logs.len(), min_step);
    let clipped = clip_outliers(logs, OUTLIER_LIMIT * unit);
    let proposed = partition(&clipped, unit, PROPOSED * penalty(logs.len()));
    let selection = select(&clipped, proposed, min_step);
    // Differences of neighbours show too little of noise that is correlated. Of normal noise the median of the absolute
    // deviations is 0.6745 standard deviations; around one level of a series that drifts it is not that of the noise.
    let left = match selection.drift {
        None => median(&deviations(logs, &selection.cuts)).unwrap_or(0.0) / 0.6745,
        Some(_) => 0.0,
    };
    Levels { noise: noise.max(left), selection }
}

/// Returns the distance of each value from the median of its level.
fn deviations(logs: &[f64], cuts: &[usize]) -> Vec<f64> {
    let of = |part: &[f64]| {
        let level = center(part);
        part.iter().map(|log| (log - level).abs()).collect::<Vec<f64>>()
    };
    parts(logs, cuts).flat_map(|(_, part)| of(part)).collect()
}

/// Clips outliers to within `limit` of the median of the five values around them, so that two neighbouring outliers do
/// not form a level (Hampel's filter). Keeps runs of at least `MIN_LEVEL` values.
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

/// Values in ascending order, with sums from which their L1 cost follows.
#[derive(Default)]
struct Deviations {
    sorted: Vec<f64>,
    sum: f64,
    /// Sum of the lower half, which has the median if their number is odd.
    low_sum: f64,
}

impl Deviations {
    fn add(&mut self, value: f64) {
        let before = self.sorted.len().div_ceil(2);
        let index = self.sorted.partition_point(|known| *known < value);
        self.sorted.insert(index, value);
        let half = self.sorted.len().div_ceil(2);
        self.sum += value;
        self.low_sum += match (index < half, half > before) {
            (true, true) => value,
            // The largest value of the lower half moves to the upper one, or the smallest of the upper one to the lower.
            (true, false) => value - self.sorted[half],
            (false, true) => self.sorted[half - 1],
            (false, false) => 0.0,
        };
    }

    /// Returns the sum of the distances of the values from their median.
    fn cost(&self) -> f64 {
        let half = self.sorted.len().div_ceil(2);
        // Any median gives the same sum, so the upper end of the lower half is as good as the middle.
        let Some(median) = half.checked_sub(1).map(|index| self.sorted[index]) else { return 0.0 };
        let (low, high) = (half as f64, (self.sorted.len() - half) as f64);
        ((self.sum - self.low_sum - high * median) + (low * median - self.low_sum)).max(0.0)
    }
}

/// Returns the first indices of the levels of the cheapest fit.
fn partition(logs: &[f64], unit: f64, penalty: f64) -> Vec<usize> {
    let n = logs.len();
    if n < MIN_REPORTS {
        return vec![0];
    }
    // The least cost of the values before an index, and the first value of the last level of that fit.
    let mut cheapest = vec![(f64::INFINITY, 0); n + 1];
    cheapest[0] = (0.0, 0);
    for end in MIN_LEVEL..=n {
        let mut deviations = Deviations::default();
        for first in (0..end).rev() {
            deviations.add(logs[first]);
            let level = deviations.cost() / unit + penalty;
            if level > cheapest[end].0 {
                break;
            }
            let cost = cheapest[first].0 + level;
            if end - first >= MIN_LEVEL && cost < cheapest[end].0 {
                cheapest[end] = (cost, first);
            }
        }
    }
    let mut cuts = vec![];
    let mut end = n;
    while end > 0 {
        end = cheapest[end].1;
        cuts.push(end);
    }
    cuts.reverse();
    cuts
}

/// Counts the values at the end that deviate by more than `limit` from those before them, all on one side. Returns 0 if
/// they are enough for a level, which the fit finds.
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
