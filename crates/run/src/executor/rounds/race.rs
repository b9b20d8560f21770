//! Decides from short samples which competitors may be near the best.
//!
//! All run a few executions; a competitor drops out as soon as its interval and the leader's show that it is far behind,
//! and the others run more (Maron and Moore, "Hoeffding races: accelerating model selection search for classification
//! and function approximation", Advances in Neural Information Processing Systems 6, 1994). The intervals are Student's,
//! as in the t-race of Birattari, Stützle, Paquete and Varrentrapp ("A racing algorithm for configuring
//! metaheuristics", GECCO 2002), here of the logarithms of times, whose errors are relative.
//!
//! The executions of a batch follow each other, and other work on the machine slows all of them. So a competitor drops out
//! after two batches, with the others' in between, and by the faster one.

use statrs::distribution::{ContinuousCDF, StudentsT};

/// Multiple of the best time up to which a competitor is near.
const NEAR: f64 = 1.5;
/// Multiple of the best time from which one batch decides.
const FAR: f64 = 5.0;
const CONFIDENCE: f64 = 0.95;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Standing {
    /// It may be the best, or nearly.
    Near,
    /// The time is more than [`NEAR`] times the best, beyond the intervals of both.
    Behind,
    /// The samples say that it is behind, their interval does not: more samples decide.
    Open,
}

/// Keeps the faster of two batches of times in `best`; an empty one is none.
pub(super) fn keep_faster(best: &mut Vec<f64>, times: Vec<f64>) {
    if best.is_empty() || TimeInterval::of(&times).mean < TimeInterval::of(best).mean {
        *best = times;
    }
}

/// Returns the standing of each competitor after batch number `batch` (from 0), from the seconds of the executions of its
/// fastest batch. One without times takes no part.
pub(super) fn standings<'t>(times: impl IntoIterator<Item = &'t [f64]>, batch: u32) -> Vec<Standing> {
    let intervals: Vec<TimeInterval> = times.into_iter().map(TimeInterval::of).collect();
    let behind = if batch == 0 { FAR } else { NEAR };
    let least = |end: fn(&TimeInterval) -> f64| intervals.iter().map(end).fold(f64::INFINITY, f64::min);
    let (best_mean, best_high) = (least(|one| one.mean), least(|one| one.high));
    let standing = |one: &TimeInterval| match () {
        () if one.low > behind * best_high => Standing::Behind,
        () if one.mean > NEAR * best_mean => Standing::Open,
        () => Standing::Near,
    };
    intervals.iter().map(standing).collect()
}

/// Geometric mean of some times, and its interval, in seconds.
#[derive(Clone, Copy, Debug)]
struct TimeInterval {
    low: f64,
    mean: f64,
    high: f64,
}

impl TimeInterval {
    /// A single time has an interval without ends.
    fn of(times: &[f64]) -> TimeInterval {
        // A time of zero, as a simulated device may report, has no logarithm.
        let logs: Vec<f64> = times.iter().map(|time| time.max(1e-12).ln()).collect();
        let n = logs.len() as f64;
        let mean = logs.iter().sum::<f64>() / n;
        let variance = logs.iter().map(|log| (log - mean).powi(2)).sum::<f64>() / (n - 1.0);
        let student = (n > 1.0).then(|| StudentsT::new(0.0, 1.0, n - 1.0).ok()).flatten();
        let half_width = student.map_or(f64::INFINITY, |student| {
            student.inverse_cdf((1.0 + CONFIDENCE) / 2.0) * (variance / n).sqrt()
        });
        TimeInterval { low: (mean - half_width).exp(), mean: mean.exp(), high: (mean + half_width).exp() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpubench_report::data::generator::{Stream, normal};

    #[test]
    fn intervals_decide_and_single_times_do_not() {
        let of = |times: &[&[f64]]| standings(times.iter().copied(), 1);
        use Standing::{Behind, Near, Open};
        assert_eq!(of(&[&[1.0, 1.01, 0.99], &[1.4, 1.41, 1.42], &[1.7, 1.71, 1.69]]), [Near, Near, Behind]);
        assert_eq!(of(&[&[1.0], &[9.0]]), [Near, Open], "one sample each decides nothing");
        assert_eq!(of(&[&[1.0, 1.0], &[1.6, 2.6]]), [Near, Open], "the samples differ too much");
        assert_eq!(of(&[&[3.0, 3.0]]), [Near]);
        assert_eq!(of(&[&[], &[3.0, 3.0], &[5.0, 5.0]]), [Near, Near, Behind], "one has failed");
    }

    #[test]
    fn one_batch_decides_where_the_distance_is_large() {
        let times = [[1.0; 2], [4.0; 2], [6.0; 2]];
        let times = || times.iter().map(|times| &times[..]);
        assert_eq!(standings(times(), 0), [Standing::Near, Standing::Open, Standing::Behind]);
        assert_eq!(standings(times(), 1), [Standing::Near, Standing::Behind, Standing::Behind]);
    }

    #[test]
    fn the_faster_batch_counts() {
        let mut best = vec![];
        for (times, expected) in [(3.0, 3.0), (4.0, 3.0), (2.0, 2.0)] {
            keep_faster(&mut best, vec![times; 2]);
            assert!((best[0] - expected).abs() < 1e-9);
        }
        keep_faster(&mut best, vec![]);
        assert!((best[0] - 2.0).abs() < 1e-9);
    }

    /// Share of 2000 races of two competitors, the second `ratio` times slower, in which it drops out.
    fn dropped(ratio: f64, scatter: f64, executions: u64) -> f64 {
        let races = (0..2000u64).filter(|race| {
            let stream = Stream::new(7, *race);
            let times = |from: u64, scale: f64| {
                (from..from + executions)
                    .map(|i| {
                        scale * (scatter * normal(stream.uniform(2 * i), stream.uniform(2 * i + 1))).exp()
                    })
                    .collect::<Vec<_>>()
            };
            standings([&times(0, 1.0)[..], &times(100, ratio)], 1)[1] == Standing::Behind
        });
        races.count() as f64 / 2000.0
    }

    #[test]
    fn a_near_competitor_seldom_drops_out_and_one_far_behind_usually_does() {
        for executions in [2, 3, 6] {
            for scatter in [0.01, 0.05, 0.2] {
                let share = dropped(1.4, scatter, executions);
                assert!(share < 0.01, "{executions} executions, scatter {scatter}: {share}");
            }
        }
        assert!(dropped(2.0, 0.02, 3) > 0.95 && dropped(3.0, 0.05, 6) > 0.99);
    }
}
