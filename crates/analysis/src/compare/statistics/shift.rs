//! Estimates the difference between two groups of logarithms, with its interval, p-value and smallest detectable value.

use std::cell::RefCell;
use std::collections::HashMap;

use statrs::distribution::{ContinuousCDF, StudentsT};

/// Multiple of `alpha` for the two-sided test by a cell's own runs: a false slowdown has probability `alpha`.
pub(crate) const OWN_SHARE: f64 = 2.0;

pub(crate) const CONFIDENCE: f64 = 0.95;

/// Probability with which a smallest detectable change is detected.
pub(crate) const POWER: f64 = 0.8;

/// Variance of the shift of Hodges and Lehmann over that of the difference of means, for normal values: at three to five runs per side by
/// simulation (1.07 at ten, and pi / 3 for many; Hodges and Lehmann, "Estimates of location based on rank tests", Annals of Mathematical
/// Statistics 34, 1963). With two per side both are the same.
const RANK_VARIANCE: f64 = 1.1;

/// A difference of logarithms with its standard error.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Shift {
    pub(crate) log: f64,
    pub error: f64,
    pub(crate) df: f64,
}

impl Shift {
    /// Estimates the shift as the median over all pairs of runs. `variance` is that of one run's logarithm.
    pub(crate) fn of(old: &[f64], new: &[f64], variance: f64, df: f64) -> Shift {
        let mut differences: Vec<f64> = old.iter().flat_map(|a| new.iter().map(move |b| b - a)).collect();
        differences.sort_unstable_by(f64::total_cmp);
        let log = gpubench_report::measure::stats::quantile(&differences, 0.5);
        Shift { log, error: standard_error(variance, old.len(), new.len()), df }
    }

    pub(crate) fn ratio(self) -> f64 {
        ratio(self.log)
    }

    /// Returns the 95 % interval of the ratio.
    pub(crate) fn ratio_interval(self) -> [f64; 2] {
        self.interval().map(ratio)
    }

    /// Returns the 95 % interval of the logarithm.
    pub(crate) fn interval(self) -> [f64; 2] {
        let half = quantile(self.df, (1.0 + CONFIDENCE) / 2.0) * self.error;
        [self.log - half, self.log + half]
    }

    /// Returns the two-sided p-value of no difference.
    pub(crate) fn p(self) -> f64 {
        if self.error <= 0.0 {
            return if self.log == 0.0 { 1.0 } else { 0.0 };
        }
        (2.0 * student(self.df).map_or(0.5, |t| t.sf(self.log.abs() / self.error))).clamp(0.0, 1.0)
    }

    /// Returns the smallest relative slowdown whose interval lies beyond `threshold` and whose p <= `alpha` with probability `power`.
    pub(crate) fn smallest_detectable(self, threshold: f64, alpha: f64, power: f64) -> f64 {
        let beyond = threshold.ln_1p() + quantile(self.df, (1.0 + CONFIDENCE) / 2.0) * self.error;
        let significant = quantile(self.df, 1.0 - alpha / 2.0) * self.error;
        (beyond.max(significant) + quantile(self.df, power) * self.error).exp_m1()
    }

    /// Returns the smallest relative slowdown for which p <= `alpha` with probability `power`.
    pub(crate) fn smallest_significant(self, alpha: f64, power: f64) -> f64 {
        ((quantile(self.df, 1.0 - alpha / 2.0) + quantile(self.df, power)) * self.error).exp_m1()
    }

    /// Returns the smallest slowdown of a mean detected with 80 %: its interval reaches `threshold`, and p <= `alpha`.
    pub(crate) fn smallest_detectable_mean(self, threshold: f64, alpha: f64) -> f64 {
        let reaching = threshold.ln_1p() - quantile(self.df, (1.0 + CONFIDENCE) / 2.0) * self.error;
        let significant = quantile(self.df, 1.0 - alpha / 2.0) * self.error;
        (reaching.max(significant) + quantile(self.df, POWER) * self.error).exp_m1()
    }
}

/// Returns the ratio of a logarithm, at most the largest number: JSON has no infinity.
pub(crate) fn ratio(log: f64) -> f64 {
    log.exp().min(f64::MAX)
}

/// Returns the standard error of the shift for the given numbers of runs per side.
pub(crate) fn standard_error(variance: f64, old: usize, new: usize) -> f64 {
    let loss = if old.max(new) > 2 { RANK_VARIANCE } else { 1.0 };
    (loss * variance * (1.0 / old as f64 + 1.0 / new as f64)).sqrt()
}

fn student(df: f64) -> Option<StudentsT> {
    StudentsT::new(0.0, 1.0, df).ok()
}

const MAX_QUANTILES: usize = 1 << 14;

/// Returns the `p`-quantile of Student's t; infinite if `df` is no number of degrees of freedom.
pub(crate) fn quantile(df: f64, p: f64) -> f64 {
    thread_local! {
        // Computing one takes microseconds of iteration, and the cells of a comparison share a few of them.
        static QUANTILES: RefCell<HashMap<[u64; 2], f64>> = RefCell::default();
    }
    QUANTILES.with_borrow_mut(|known| {
        if known.len() >= MAX_QUANTILES {
            known.clear();
        }
        let key = [df.to_bits(), p.to_bits()];
        *known.entry(key).or_insert_with(|| student(df).map_or(f64::INFINITY, |t| t.inverse_cdf(p)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_smallest_changes_are_quantiles_of_the_error() {
        // At 100 000 degrees of freedom, Student's quantiles are those of the normal distribution: 1.96, 0.8416 and 1.2816.
        let shift = Shift { log: 0.0, error: 0.01, df: 1e5 };
        let is = |found: f64, log: f64| assert!((found.ln_1p() - log).abs() < 2e-5, "{found} {log}");
        is(shift.smallest_significant(0.05, 0.8), 0.0196 + 0.008416);
        is(shift.smallest_detectable(0.02, 0.05, 0.9), 1.02f64.ln() + 0.0196 + 0.012816);
        is(shift.smallest_detectable_mean(0.1, 0.05), 1.1f64.ln() - 0.0196 + 0.008416);
        is(shift.smallest_detectable_mean(0.01, 0.05), 0.0196 + 0.008416);
    }

    #[test]
    fn one_run_per_side_has_the_ratio_of_its_medians() {
        let shift = Shift::of(&[2f64.ln()], &[3f64.ln()], 0.01 * 0.01, 10.0);
        assert!((shift.ratio() - 1.5).abs() < 1e-12);
        assert!((shift.error - 0.01 * 2f64.sqrt()).abs() < 1e-12);
    }

    #[test]
    fn intervals_and_chances_are_those_of_student_s_t() {
        // Tables: t of 10 degrees of freedom is 2.228 at 97.5 % and 4.144 at 99.9 %.
        let shift = Shift { log: 4.144, error: 1.0, df: 10.0 };
        assert!((shift.p() - 0.002).abs() < 2e-6, "{}", shift.p());
        let [low, high] = shift.interval();
        assert!((high - 4.144 - 2.228).abs() < 1e-3 && (4.144 - low - 2.228).abs() < 1e-3);
        // By numerical integration: beyond 27.77 lie 1.0002e-5 of the t of 4 degrees of freedom, both sides together.
        let far = quantile(4.0, 1.0 - 1e-5 / 2.0);
        assert!((far - 27.77).abs() < 0.01, "{far}");
    }

    #[test]
    fn one_outlier_of_five_runs_does_not_move_the_shift() {
        let old = [0.0, 0.001, -0.001, 0.0, 0.002];
        let new = [0.0, 0.001, 0.5, -0.001, 0.0];
        assert!(Shift::of(&old, &new, 1e-6, 8.0).log.abs() < 0.002);
    }

    #[test]
    fn a_run_against_itself_differs_in_nothing() {
        let shift = Shift::of(&[1.0], &[1.0], 0.0, 10.0);
        assert_eq!((shift.interval(), shift.p()), ([0.0, 0.0], 1.0));
        assert!((shift.smallest_detectable(0.05, 0.01, POWER) - 0.05).abs() < 1e-12);
    }

    proptest! {
        #[test]
        fn swapping_sides_inverts_the_ratio(
            old in prop::collection::vec(-1.0f64..1.0, 1..6), new in prop::collection::vec(-1.0f64..1.0, 1..6),
        ) {
            let (there, back) = (Shift::of(&old, &new, 1e-4, 6.0), Shift::of(&new, &old, 1e-4, 6.0));
            prop_assert!((there.log + back.log).abs() < 1e-12 && (there.p() - back.p()).abs() < 1e-12);
        }

        #[test]
        fn more_noise_hides_larger_changes(error in 1e-4f64..0.1, threshold in 0.0f64..0.2) {
            let seen = |error| Shift { log: 0.0, error, df: 10.0 }.smallest_detectable(threshold, 1e-3, POWER);
            prop_assert!(seen(error) > threshold && seen(2.0 * error) > seen(error));
        }
    }
}
