//! Summaries of samples: order statistics only, since timings are skewed.

use std::sync::OnceLock;

use serde::{Deserialize, Serialize};

/// Order statistics of a set of samples, in the unit of the samples.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// Median; the mean of the middle two for an even count.
    pub median: f64,
    /// Smallest sample.
    pub min: f64,
    /// Largest sample.
    pub max: f64,
    /// Median absolute deviation from the median, not scaled.
    pub mad: f64,
    /// Lower end of the distribution-free 95 % interval of the median.
    pub low: f64,
    /// Upper end of that interval.
    pub high: f64,
    /// 5th percentile; see [`quantile`] for the rule of all four.
    pub p05: f64,
    /// 25th percentile.
    pub p25: f64,
    /// 75th percentile.
    pub p75: f64,
    /// 95th percentile.
    pub p95: f64,
}

impl Summary {
    /// Summarises `samples`; `None` when there is none.
    pub fn of(samples: &[f64]) -> Option<Summary> {
        let sorted = sorted(samples);
        let (&min, &max) = (sorted.first()?, sorted.last()?);
        let median = median_of_sorted(&sorted);
        let mut deviations: Vec<f64> = sorted.iter().map(|x| (x - median).abs()).collect();
        let rank = interval_rank(sorted.len());
        Some(Summary {
            median,
            min,
            max,
            mad: median_of(&mut deviations),
            low: sorted[rank],
            high: sorted[sorted.len() - 1 - rank],
            p05: quantile(&sorted, 0.05),
            p25: quantile(&sorted, 0.25),
            p75: quantile(&sorted, 0.75),
            p95: quantile(&sorted, 0.95),
        })
    }

    /// Half the width of the interval relative to the median; 0 for a zero median.
    pub fn relative_spread(&self) -> f64 {
        if self.median > 0.0 { (self.high - self.low) / 2.0 / self.median } else { 0.0 }
    }
}

/// Returns the median, the mean of the middle two for an even count; `None` without values.
pub fn median(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| median_of(&mut values.to_vec()))
}

/// Returns the upper median, which is one of the values, without a full sort. Reorders `values`; `None` without values.
pub fn upper_median(values: &mut [f64]) -> Option<f64> {
    let middle = values.len() / 2;
    (!values.is_empty()).then(|| *values.select_nth_unstable_by(middle, f64::total_cmp).1)
}

/// Returns the `p`-quantile of ascending values, `p` in [0, 1]; NaN when there is no value.
///
/// Linear interpolation between the order statistics around position `p * (n - 1)`: definition 7 of Hyndman
/// and Fan, "Sample quantiles in statistical packages", The American Statistician 50 (1996). The 0.5-quantile
/// is the median.
pub fn quantile(sorted: &[f64], p: f64) -> f64 {
    let Some(last) = sorted.len().checked_sub(1) else { return f64::NAN };
    let position = p.clamp(0.0, 1.0) * last as f64;
    let below = position.floor() as usize;
    let (low, high) = (sorted[below], sorted[(below + 1).min(last)]);
    let value = low + (position - below as f64) * (high - low);
    value.clamp(low, high)
}

/// Returns whether a 95 % interval of the median exists for `n` samples, that is for `n >= 6`.
///
/// With five, even the whole range covers the median in only 1 - 2 / 2^5 = 93.75 % of cases.
pub fn has_interval(n: usize) -> bool {
    n >= 6
}

/// Half the width of the 95 % interval relative to the median; half the range where no interval exists.
///
/// 0 for equal samples or none, infinite for unequal ones around a median that is not positive.
pub fn relative_half_width(samples: &[f64]) -> f64 {
    let Some(last) = samples.len().checked_sub(1) else { return 0.0 };
    let rank = interval_rank(samples.len());
    let mut samples = samples.to_vec();
    // A stop rule asks often, so only what is needed gets into order.
    let (below, &mut high, _) = samples.select_nth_unstable_by(last - rank, f64::total_cmp);
    let low = if rank < below.len() { *below.select_nth_unstable_by(rank, f64::total_cmp).1 } else { high };
    let half_width = (high - low) / 2.0;
    let median = median_of(&mut samples[rank..=last - rank]);
    match half_width > 0.0 {
        false => 0.0,
        true if median > 0.0 => half_width / median,
        true => f64::INFINITY,
    }
}

/// Returns the number of significant digits that a median deserves, from 1 to 4. The last digit's place stays at or
/// above `half_width`, half the width of its interval; a width of zero gives 4.
///
/// 123.4 with 1 gives 3 (`123`), with 1.5 gives 2 (`120`). After the benchmark utilities of PyTorch, which take
/// `floor(log10(median / half_width))`; that loses a digit whenever the median's leading digits are the larger.
pub fn significant_digits(median: f64, half_width: f64) -> usize {
    const MOST: f64 = 4.0;
    // Keeps exact powers of ten on their own side of the step.
    const SLACK: f64 = 1e-9;
    if half_width == 0.0 {
        return MOST as usize;
    }
    let place_of_first = (median.log10() + SLACK).floor();
    let place_of_last = (half_width.log10() - SLACK).ceil();
    let digits = place_of_first - place_of_last + 1.0;
    if digits.is_nan() { 1 } else { digits.clamp(1.0, MOST) as usize }
}

/// Returns the values in ascending order.
pub(crate) fn sorted(values: &[f64]) -> Vec<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    sorted
}

/// Returns the median of at least one value; reorders them.
fn median_of(values: &mut [f64]) -> f64 {
    let middle = values.len() / 2;
    let is_odd = values.len() % 2 == 1;
    let (below, &mut upper, _) = values.select_nth_unstable_by(middle, f64::total_cmp);
    match below.iter().copied().max_by(f64::total_cmp) {
        Some(lower) if !is_odd => f64::midpoint(lower, upper),
        _ => upper,
    }
}

fn median_of_sorted(sorted: &[f64]) -> f64 {
    let middle = sorted.len() / 2;
    if sorted.len() % 2 == 1 { sorted[middle] } else { f64::midpoint(sorted[middle - 1], sorted[middle]) }
}

/// Returns the largest rank `r` such that `[x_(r), x_(n-1-r)]` (zero-based) covers the median with at least 95 %.
///
/// Exact binomial tails; below six samples no rank does and the whole range is taken. Source: Conover,
/// *Practical Nonparametric Statistics*, 3rd ed., section 3.2.
fn interval_rank(n: usize) -> usize {
    // A stop rule asks for the same few numbers of samples in every cell.
    static RANKS: [OnceLock<usize>; 1024] = [const { OnceLock::new() }; 1024];
    let rank = || computed_rank(n);
    RANKS.get(n).map_or_else(rank, |known| *known.get_or_init(rank))
}

fn computed_rank(n: usize) -> usize {
    let mut log_term = -(n as f64) * std::f64::consts::LN_2;
    let mut tail = 0.0;
    let mut rank = 0;
    for k in 0..n / 2 {
        tail += log_term.exp();
        if 2.0 * tail > 0.05 {
            break;
        }
        rank = k;
        log_term += ((n - k) as f64 / (k + 1) as f64).ln();
    }
    rank
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn even_and_odd_counts_have_the_textbook_median() {
        assert_eq!(Summary::of(&[3.0, 1.0, 2.0]).map(|s| s.median), Some(2.0));
        assert_eq!(Summary::of(&[4.0, 1.0, 2.0, 3.0]).map(|s| s.median), Some(2.5));
        assert_eq!(Summary::of(&[]), None);
        assert_eq!([median(&[3.0, 1.0, 2.0]), median(&[4.0, 1.0, 2.0, 3.0])], [Some(2.0), Some(2.5)]);
        assert_eq!([median(&[]), upper_median(&mut [])], [None; 2]);
        assert_eq!(upper_median(&mut [4.0, 1.0, 2.0, 3.0]), Some(3.0));
    }

    #[test]
    fn interval_ranks_match_published_tables() {
        // Zero-based lower ranks of the 95 % interval; one-based tables give 1, 1, 1, 2, 6, 10.
        for (n, rank) in [(1, 0), (5, 0), (6, 0), (10, 1), (20, 5), (30, 9)] {
            assert_eq!([interval_rank(n), interval_rank(n)], [rank; 2], "n = {n}");
        }
    }

    #[test]
    fn quantiles_follow_definition_7() {
        // R: quantile(c(1, 2, 4, 8, 16), c(0, .05, .25, .5, .6, .95, 1))
        let values = [1.0, 2.0, 4.0, 8.0, 16.0];
        for (p, expected) in
            [(0.0, 1.0), (0.05, 1.2), (0.25, 2.0), (0.5, 4.0), (0.6, 5.6), (0.95, 14.4), (1.0, 16.0)]
        {
            assert!((quantile(&values, p) - expected).abs() < 1e-12, "p = {p}");
        }
        assert!(quantile(&[], 0.5).is_nan());
        assert_eq!(quantile(&[3.0], 0.95), 3.0);
    }

    #[test]
    fn an_interval_exists_exactly_where_the_whole_range_covers_95_percent() {
        for n in 1..40 {
            assert_eq!(has_interval(n), 1.0 - 2.0 * 0.5f64.powi(n as i32) >= 0.95, "n = {n}");
        }
    }

    #[test]
    fn half_widths_of_odd_sets_are_defined() {
        assert_eq!(relative_half_width(&[]), 0.0);
        assert_eq!(relative_half_width(&[5.0]), 0.0);
        assert_eq!(relative_half_width(&[0.0, 0.0]), 0.0);
        assert_eq!(relative_half_width(&[0.0, 0.0, 1.0]), f64::INFINITY);
        assert_eq!(relative_half_width(&[1.0, 2.0, 3.0]), 0.5);
    }

    #[test]
    fn digits_stop_at_the_place_of_the_half_width() {
        for (median, half_width, digits) in [
            (123.4, 1.0, 3),
            (123.4, 1.5, 2),
            (123.4, 0.1, 4),
            (123.4, 0.0, 4),
            (123.4, 1e-9, 4),
            (1.05, 0.01, 3),
            (9.87, 0.05, 2),
            (9.87, 0.1, 2),
            (1e-6, 1e-8, 3),
            (5.0, 50.0, 1),
            (5.0, f64::INFINITY, 1),
            (0.0, 1.0, 1),
            (f64::NAN, 1.0, 1),
        ] {
            assert_eq!(significant_digits(median, half_width), digits, "{median} +- {half_width}");
        }
    }

    fn half_width_of_sorted(samples: &[f64]) -> f64 {
        let (sorted, rank) = (sorted(samples), interval_rank(samples.len()));
        let half_width = (sorted[sorted.len() - 1 - rank] - sorted[rank]) / 2.0;
        if half_width > 0.0 { half_width / median_of_sorted(&sorted) } else { 0.0 }
    }

    proptest::proptest! {
        #[test]
        fn a_summary_is_ordered(samples in proptest::collection::vec(0.0f64..1e3, 1..60)) {
            let s = Summary::of(&samples).unwrap();
            let quantiles = [s.min, s.p05, s.p25, s.median, s.p75, s.p95, s.max];
            proptest::prop_assert!(quantiles.windows(2).all(|p| p[0] <= p[1] + 1e-12 * p[1]), "{:?}", s);
            proptest::prop_assert!(s.min <= s.low && s.low <= s.median && s.median <= s.high && s.high <= s.max);
            proptest::prop_assert_eq!(median(&samples), Some(s.median));
            proptest::prop_assert_eq!(relative_half_width(&samples), half_width_of_sorted(&samples));
            let sorted = sorted(&samples);
            proptest::prop_assert!((quantile(&sorted, 0.5) - s.median).abs() <= 1e-12 * s.median);
            proptest::prop_assert!((relative_half_width(&sorted) - s.relative_spread()).abs() < 1e-12);
        }

        #[test]
        fn no_digit_lies_below_the_half_width(median in 1e-9f64..1e9, relative in 1e-6f64..1.0) {
            let digits = significant_digits(median, median * relative);
            let place = |digits: usize| 10f64.powi(median.log10().floor() as i32 + 1 - digits as i32);
            proptest::prop_assert!((1..=4).contains(&digits));
            proptest::prop_assert!(digits == 1 || place(digits) > median * relative * (1.0 - 1e-6));
            proptest::prop_assert!(digits == 4 || place(digits + 1) < median * relative * (1.0 + 1e-6));
        }
    }
}
