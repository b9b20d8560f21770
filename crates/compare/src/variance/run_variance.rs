//! Estimates the variance of a cell's time between unchanged runs.
//!
//! The run is the unit of evidence: samples of one run share its memory layout, its clocks and the load of other
//! programs, so a narrow interval within a run says little about the next run. If a side has several runs, their variance
//! is measured. Few runs estimate it poorly, so it is moderated by that of the sweep's other cells, which may widen but
//! never narrows it. With one run per side [`Unreplicated`] estimates it from all cells. The variance is never smaller
//! than the estimate from within the runs.

use std::collections::BTreeMap;

use super::unreplicated::Unreplicated;
use crate::Limits;
use crate::pairs::evidence::pooled_variance;
use crate::pairs::pace::{ASSUMED_DF, Pace};
use crate::pairs::pairing::{Pair, within};
use crate::statistics::moderation::{Prior, fit, moderate};

/// Degrees of freedom of the assumed variance in sweeps with too few cells for a prior.
const WEAK_DF: f64 = 4.0;

/// Returns the relative threshold for `pair`: that of the policy, or the default of its pace.
pub(crate) fn threshold(pair: &Pair, limits: &Limits) -> f64 {
    limits.threshold.unwrap_or_else(|| Pace::of(pair).threshold())
}

/// Variance of the logarithm of a run's median, with its degrees of freedom.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct RunVariance {
    /// The variance; its root is the relative standard deviation.
    pub(crate) variance: f64,
    pub(crate) df: f64,
    /// The variance of the cell's own runs and its degrees of freedom; `None` if each side has one run.
    pub own: Option<(f64, f64)>,
}

impl RunVariance {
    /// Multiplies its variances by `factor`.
    pub(crate) fn times(self, factor: f64) -> RunVariance {
        let own = self.own.map(|(variance, df)| (factor * variance, df));
        RunVariance { variance: factor * self.variance, own, ..self }
    }
}

/// Estimates the variance of each pair that has times. `limits` are the policy's limits of each pair, `stored` the
/// standard deviations recorded by baselines, by cell.
pub(crate) fn run_variances(
    pairs: &[Pair],
    limits: &[Limits],
    stored: &BTreeMap<String, f64>,
) -> Vec<Option<RunVariance>> {
    let own: Vec<Option<(f64, f64)>> = pairs.iter().map(|pair| pooled_variance(pair.runs())).collect();
    let priors = Pace::ALL.map(|pace| {
        let of_pace = pairs.iter().zip(&own).filter(|(pair, _)| Pace::of(pair) == pace);
        fit(&of_pace.filter_map(|(_, own)| *own).collect::<Vec<_>>())
    });
    let unreplicated = unreplicated(pairs, limits);
    let of_pair = |((pair, limits), own): ((&Pair, &Limits), &Option<(f64, f64)>)| {
        let pace = Pace::of(pair);
        let stored = stored.get(&pair.cell.to_string()).map_or(0.0, |sd| sd * sd);
        let least = within(pair)?.max(pace.min_variation().powi(2));
        let (variance, df) = match own {
            Some(own) => {
                let usual = limits.variation_between_runs.unwrap_or(pace.typical_variation()).powi(2);
                let weak = Prior { variance: usual, df: WEAK_DF };
                let (variance, df) = moderate(priors[pace as usize].unwrap_or(weak), *own);
                // Moderation alone would give a noisy cell among quiet ones too small a variance.
                (variance.max(own.0), df)
            }
            None if stored > 0.0 => (stored, ASSUMED_DF),
            None => unreplicated.variance(pair, limits)?,
        };
        let own = own.map(|(variance, df)| (variance.max(least), df));
        Some(RunVariance { variance: variance.max(least).max(stored), df, own })
    };
    pairs.iter().zip(limits).zip(&own).map(of_pair).collect()
}

/// Estimates the variation from the changes of comparable cells that have one run per side and are not ignored.
pub(crate) fn unreplicated(pairs: &[Pair], limits: &[Limits]) -> Unreplicated {
    Unreplicated::of(pairs, |place, pair| {
        let is_single = pair.runs().all(|runs| runs.len() == 1);
        is_single
            && !limits[place].ignored
            && pair
                .both()
                .is_none_or(|(old, new)| crate::pairs::comparability::incomparable(old, new).is_none())
    })
}
