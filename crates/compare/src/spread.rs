//! How much a cell's time differs from one run to the next when nothing has changed.
//!
//! The run is the unit: samples of one run share its memory layout, its clocks and its neighbours, so a narrow interval
//! within a run says little about the next one. Where a side has several runs, their spread is measured, and because
//! few runs estimate a spread poorly it is moderated by that of the sweep's other cells; that may widen a cell's own
//! spread and never narrows it. With one run per side [`Unreplicated`] estimates it from all cells. No spread is ever
//! taken to be less than the runs themselves show inside.

use std::collections::BTreeMap;

use gpubench_model::Side;

use super::Limits;
use super::evidence::pooled_variance;
use super::moderation::{Prior, fit, moderate};
use super::pairing::Pair;
use super::unreplicated::Unreplicated;

/// Degrees of freedom that an assumed spread is worth: it is a guess, so intervals are wider than a known one's.
pub const ASSUMED_DF: f64 = 10.0;

/// Degrees of freedom that the assumed spread adds to runs of a sweep with too few cells to learn from.
const WEAK_DF: f64 = 4.0;

/// What paces a cell's time, and so how steady it is from run to run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pace {
    /// The device alone: all work was queued before its clock started.
    Device,
    /// A device that waits for the host in between.
    Waiting,
    /// The host itself.
    Host,
}

impl Pace {
    /// Every pace.
    pub const ALL: [Pace; 3] = [Pace::Device, Pace::Waiting, Pace::Host];

    /// What is timed at that pace, in words.
    pub fn name(self) -> &'static str {
        match self {
            Pace::Device => "where the device paces the work",
            Pace::Waiting => "where the device waits for the host",
            Pace::Host => "on the CPU",
        }
    }

    /// What paces the times of `pair`.
    pub fn of(pair: &Pair) -> Pace {
        match pair.side {
            Side::Cpu => Pace::Host,
            Side::Gpu if pair.timed().all(|evidence| evidence.held) => Pace::Device,
            Side::Gpu => Pace::Waiting,
        }
    }

    /// The change that counts where a policy names none, relative.
    pub fn threshold(self) -> f64 {
        match self {
            Pace::Device => 0.05,
            Pace::Waiting | Pace::Host => 0.10,
        }
    }

    /// A usual standard deviation from run to run, relative: for plans, and next to the few runs of a small sweep.
    pub fn usual(self) -> f64 {
        match self {
            Pace::Device => 0.01,
            Pace::Waiting | Pace::Host => 0.04,
        }
    }

    /// The standard deviation from run to run that is assumed for verdicts where neither runs nor other cells show one,
    /// relative. Cautious: with it, hosts that differ by 12 % from run to run raise a false alarm in less than 1 % of
    /// comparisons.
    pub fn cautious(self) -> f64 {
        match self {
            Pace::Device => 0.02,
            Pace::Waiting | Pace::Host => 0.09,
        }
    }

    /// The least that is believed of any measured one: runs that agree better than this were lucky.
    pub fn least(self) -> f64 {
        match self {
            Pace::Device => 0.002,
            Pace::Waiting | Pace::Host => 0.005,
        }
    }
}

/// The change that counts for `pair`, relative: the policy's, or that of its pace.
pub fn threshold(pair: &Pair, limits: &Limits) -> f64 {
    limits.threshold.unwrap_or_else(|| Pace::of(pair).threshold())
}

/// Variance of the logarithm of a run's median, and the degrees of freedom it is worth.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spread {
    /// The variance; its root is the relative standard deviation.
    pub variance: f64,
    /// Degrees of freedom.
    pub df: f64,
    /// The variance that the cell's own runs show and its degrees of freedom; `None` where each side has one run.
    pub own: Option<(f64, f64)>,
}

impl Spread {
    /// With its variances that many times as large.
    pub fn times(self, factor: f64) -> Spread {
        let own = self.own.map(|(variance, df)| (factor * variance, df));
        Spread { variance: factor * self.variance, own, ..self }
    }
}

/// The spread of each pair that has times on a side; `limits` are the policy's limits of each pair, `stored` the spreads
/// that baselines kept, by cell.
pub fn spreads(pairs: &[Pair], limits: &[Limits], stored: &BTreeMap<String, f64>) -> Vec<Option<Spread>> {
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
        Some(Spread { variance: variance.max(least).max(stored), df, own })
    };
    pairs.iter().zip(limits).zip(&own).map(spread).collect()
}

/// How far the cells moved that have one run per side, are the same thing on both sides, and are not left out.
pub fn unreplicated(pairs: &[Pair], limits: &[Limits]) -> Unreplicated {
    Unreplicated::of(pairs, |place, pair| {
        let is_single = pair.runs().all(|runs| runs.len() == 1);
        is_single
            && !limits[place].ignored
            && pair.both().is_none_or(|(old, new)| super::verdict::different(old, new).is_none())
    })
}

/// Variance of a run's median by what the runs show inside, mean over both sides.
pub fn within(pair: &Pair) -> Option<f64> {
    let variances: Vec<f64> = pair.timed().map(|evidence| evidence.within).collect();
    (!variances.is_empty()).then(|| variances.iter().sum::<f64>() / variances.len() as f64)
}
