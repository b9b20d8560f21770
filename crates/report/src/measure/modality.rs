//! Tests whether samples form two clusters, by the best split of the sorted samples.

use serde::{Deserialize, Serialize};

use super::stats::{quantile, sorted};

/// Minimum number of samples for a verdict.
const SAMPLES: usize = 20;
/// Minimum number of samples in a cluster, and its minimum share of all.
const CLUMP_SAMPLES: usize = 5;
const CLUMP_SHARE: f64 = 0.1;
/// Share of the samples ignored at either end, rounded up: an outlier would widen its cluster and hide the gap.
const STRAY_SHARE: f64 = 0.025;
/// Separation above which clusters are distinct; a normal distribution cut in two has 2.65, a uniform one 3.46, and
/// few samples of an exponential one without its outliers up to 5.
const SEPARATION: f64 = 5.0;
/// Minimum distance of the centres, relative to the lower one; closer centres count as one time.
const LEAST_GAP: f64 = 0.02;
/// Minimum distance of the centres in clock ticks; closer clusters are the steps of the clock.
const TICKS: f64 = 2.5;

/// Two clusters of samples.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Modes {
    /// Median of the lower cluster, in the unit of the samples.
    pub low: f64,
    /// Median of the upper cluster.
    pub high: f64,
    /// Share of the samples in the upper cluster, from 0 to 1.
    pub share_high: f64,
}

/// Returns the two clusters of `samples`, if there are two.
///
/// The split with the least sum of squares within its two parts (Fisher, "On grouping for maximum homogeneity",
/// Journal of the American Statistical Association 53, 1958) is accepted when its parts are far apart by the D of
/// Ashman, Bird and Zepf, "Detecting bimodality in astronomical datasets", Astronomical Journal 108 (1994).
pub fn modes(samples: &[f64]) -> Option<Modes> {
    if samples.len() < SAMPLES {
        return None;
    }
    let sorted = sorted(samples);
    let strays = (sorted.len() as f64 * STRAY_SHARE).ceil() as usize;
    let kept = &sorted[strays..sorted.len() - strays];
    let cut = best_cut(kept, smallest_cluster(sorted.len()).saturating_sub(strays).max(1))?;
    let (lower, upper) = kept.split_at(cut);
    let (low, high) = (quantile(lower, 0.5), quantile(upper, 0.5));
    let gap = high - low;
    let distinct = separation(lower, upper) > SEPARATION && gap > LEAST_GAP * low && gap > TICKS * tick(kept);
    distinct.then_some(Modes { low, high, share_high: (upper.len() + strays) as f64 / sorted.len() as f64 })
}

fn smallest_cluster(n: usize) -> usize {
    ((n as f64 * CLUMP_SHARE).ceil() as usize).max(CLUMP_SAMPLES)
}

/// Returns the cut that leaves the least sum of squares, among those with `min` values on either side.
fn best_cut(sorted: &[f64], min: usize) -> Option<usize> {
    let n = sorted.len();
    // The smallest sum within means the largest sum between; sums relative to the first value keep their digits.
    let total: f64 = sorted.iter().map(|x| x - sorted[0]).sum();
    let mut below = 0.0;
    let mut best = (0.0, None);
    for (cut, value) in (1..n).zip(sorted) {
        below += value - sorted[0];
        let (count, rest) = (cut as f64, (n - cut) as f64);
        let between = count * rest * (below / count - (total - below) / rest).powi(2);
        if cut >= min && n - cut >= min && between > best.0 {
            best = (between, Some(cut));
        }
    }
    best.1
}

/// Returns Ashman's D: the distance of the means in units of the root mean square deviation.
fn separation(lower: &[f64], upper: &[f64]) -> f64 {
    let moments = |part: &[f64]| {
        let mean = part.iter().sum::<f64>() / part.len() as f64;
        let variance = part.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / part.len() as f64;
        (mean, variance)
    };
    let ((low, low_variance), (high, high_variance)) = (moments(lower), moments(upper));
    (high - low) / ((low_variance + high_variance) / 2.0).sqrt()
}

/// Returns the smallest step between different values, rounding aside; infinite when all are equal.
fn tick(sorted: &[f64]) -> f64 {
    let steps = sorted.windows(2).map(|pair| pair[1] - pair[0]);
    steps.filter(|step| *step > 1e-9 * sorted[0].abs()).fold(f64::INFINITY, f64::min)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::generator::{Stream, normal};

    const TRIALS: u64 = 2000;

    /// Share of the trials called bimodal when a sample is made of three uniforms.
    fn fires(seed: u64, series: impl Fn(f64, f64, f64) -> f64) -> f64 {
        let fired = (0..TRIALS).filter(|&trial| {
            let stream = Stream::new(seed, trial);
            let count = 30 + stream.bits(0) % 171;
            let at = |i: u64| stream.uniform::<f64>(i);
            let samples: Vec<f64> =
                (1..=count).map(|i| series(at(3 * i), at(3 * i + 1), at(3 * i + 2))).collect();
            modes(&samples).is_some()
        });
        fired.count() as f64 / TRIALS as f64
    }

    #[test]
    fn one_cluster_is_not_called_two() {
        let t2 = |u: f64| (2.0 * u - 1.0) / (2.0 * u * (1.0 - u)).max(1e-12).sqrt();
        let shares = [
            ("normal", fires(1, |u, v, _| 1.0 + 0.05 * normal(u, v))),
            ("uniform", fires(2, |u, _, _| 1.0 + u)),
            ("lognormal", fires(3, |u, v, _| (0.5 * normal(u, v)).exp())),
            ("student t with two degrees", fires(4, |u, _, _| 10.0 + t2(u))),
            ("exponential", fires(5, |u, _, _| 1.0 - (1.0 - u).ln())),
            ("wide exponential", fires(6, |u, _, _| 1e-3 - (1.0 - u).ln())),
            ("constant", fires(7, |_, _, _| 0.1)),
            ("two ticks", fires(8, |u, _, _| 0.032 * (31.0 + (u + 0.5).floor()))),
            ("ticks of a narrow normal", fires(9, |u, v, _| 0.5 * (10.0 + 0.4 * normal(u, v)).round())),
            ("ticks of a wide normal", fires(10, |u, v, _| 0.5 * (20.0 + 2.0 * normal(u, v)).round())),
            ("touching modes", fires(11, |u, v, w| if w < 0.5 { 1.0 } else { 1.06 } + 0.02 * normal(u, v))),
        ];
        for (name, share) in shares {
            assert!(share <= 0.01, "{name}: {share}");
        }
    }

    #[test]
    fn two_clusters_are_found() {
        let shares = [
            ("70/30", fires(21, |u, v, w| if w < 0.7 { 1.0 } else { 1.2 } + 0.01 * normal(u, v))),
            ("halves", fires(22, |u, v, w| if w < 0.5 { 1.0 } else { 1.05 } + 0.005 * normal(u, v))),
            (
                "wider above",
                fires(23, |u, v, w| if w < 0.4 { 1.0 + 0.01 * u } else { 2.0 + 0.1 * normal(u, v) }),
            ),
        ];
        for (name, share) in shares {
            assert!(share >= 0.95, "{name}: {share}");
        }
    }

    #[test]
    fn clusters_are_found_despite_an_outlier() {
        let mut samples: Vec<f64> =
            (0..40).map(|i| if i % 4 == 0 { 2.0 } else { 1.0 } + 1e-3 * f64::from(i)).collect();
        samples.push(40.0);
        let found = modes(&samples).unwrap();
        assert!((found.low - 1.02).abs() < 0.01 && (found.high - 2.02).abs() < 0.01, "{found:?}");
        assert!((found.share_high - 11.0 / 41.0).abs() < 0.03, "{found:?}");
    }

    #[test]
    fn few_samples_and_small_clusters_give_no_modes() {
        let clusters = |low: usize, high: usize| {
            let at = |centre: f64, i: usize| centre + 1e-3 * i as f64;
            (0..low).map(|i| at(1.0, i)).chain((0..high).map(|i| at(2.0, i))).collect::<Vec<f64>>()
        };
        assert_eq!(modes(&[]), None);
        assert_eq!(modes(&clusters(9, 10)), None);
        assert!(modes(&clusters(10, 10)).is_some());
        assert_eq!(modes(&clusters(97, 3)), None);
    }

    proptest::proptest! {
        #[test]
        fn clusters_lie_within_the_samples(samples in proptest::collection::vec(0.0f64..2.0, 0..80), far in 0.0f64..9.0) {
            let samples: Vec<f64> = samples.iter().map(|x| if *x < 1.0 { *x } else { x + far }).collect();
            if let Some(found) = modes(&samples) {
                let (min, max) = samples.iter().fold((f64::MAX, 0.0f64), |(a, b), &x| (a.min(x), b.max(x)));
                proptest::prop_assert!(min <= found.low && found.low < found.high && found.high <= max);
                proptest::prop_assert!(found.share_high >= CLUMP_SHARE && found.share_high <= 1.0 - CLUMP_SHARE);
            }
        }
    }
}
