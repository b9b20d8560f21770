//! How much a cell's time differs from one run to the next when nothing has changed.
//!
//! The run is the unit: samples of one run share its memory layout, its clocks and its neighbours, so a narrow interval
//! within a run says little about the next one. Where a side has several runs, their spread is measured, and because
//! few runs estimate a spread poorly it is moderated by that of the sweep's other cells; that may widen a cell's own
//! spread and never narrows it. With one run per side [`Unreplicated`] estimates it from all cells. No spread is ever
//! taken to be less than the runs themselves show inside.

use std::collections::BTreeMap;

use super::unreplicated::Unreplicated;
use crate::Limits;
use crate::pairs::evidence::pooled_variance;
use crate::pairs::pace::{ASSUMED_DF, Pace};
use crate::pairs::pairing::{Pair, within};
use crate::statistics::moderation::{Prior, fit, moderate};

/// Degrees of freedom that the assumed spread adds to runs of a sweep with too few cells to learn from.
const WEAK_DF: f64 = 4.0;

/// The change that counts for `pair`, relative: the policy's, or that of its pace.
pub(crate) fn threshold(pair: &Pair, limits: &Limits) -> f64 {
    limits.threshold.unwrap_or_else(|| Pace::of(pair).threshold())
}

/// Variance of the logarithm of a run's median, and the degrees of freedom it is worth.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct RunVariance {
    /// The variance; its root is the relative standard deviation.
    pub(crate) variance: f64,
    pub(crate) df: f64,
    /// The variance that the cell's own runs show and its degrees of freedom; `None` where each side has one run.
    pub own: Option<(f64, f64)>,
}

impl RunVariance {
    /// With its variances that many times as large.
    pub(crate) fn times(self, factor: f64) -> RunVariance {
        let own = self.own.map(|(variance, df)| (factor * variance, df));
        RunVariance { variance: factor * self.variance, own, ..self }
    }
}

/// The spread of each pair that has times on a side; `limits` are the policy's limits of each pair, `stored` the spreads
/// that baselines kept, by cell.
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
    let spread = |((pair, limits), own): ((&Pair, &Limits), &Option<(f64, f64)>)| {
        let pace = Pace::of(pair);
        let stored = stored.get(&pair.cell.to_string()).map_or(0.0, |sd| sd * sd);
        let least = within(pair)?.max(pace.least().powi(2));
        let (variance, df) = match own {
            Some(own) => {
                let usual = limits.run_spread.unwrap_or(pace.usual()).powi(2);
                let weak = Prior { variance: usual, df: WEAK_DF };
                let (variance, df) = moderate(priors[pace as usize].unwrap_or(weak), *own);
                // A restless cell among quiet ones would be judged by their spread.
                (variance.max(own.0), df)
            }
            None if stored > 0.0 => (stored, ASSUMED_DF),
            None => unreplicated.spread(pair, limits)?,
        };
        let own = own.map(|(variance, df)| (variance.max(least), df));
        Some(RunVariance { variance: variance.max(least).max(stored), df, own })
    };
    pairs.iter().zip(limits).zip(&own).map(spread).collect()
}

/// How far the cells moved that have one run per side, are the same thing on both sides, and are not left out.
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
