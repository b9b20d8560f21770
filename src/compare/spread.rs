//! How much a cell's time differs from one run to the next when nothing has changed.
//!
//! The run is the unit: samples of one run share its memory layout, its clocks and its neighbours, so a narrow interval
//! within a run says little about the next one. Where a side has several runs, their spread is measured, and because
//! few runs tell a spread poorly it is moderated by that of the sweep's other cells. With one run a side nothing can be
//! measured, and a stated spread is assumed. Neither is ever taken to be less than the runs themselves show inside.

use super::evidence::variance;
use super::moderation::{Prior, fit, moderate};
use super::pairing::Pair;
use super::{Limits, Runs};
use crate::backend::Side;

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

    /// The standard deviation from run to run that is assumed where none was measured, relative.
    pub fn assumed(self) -> f64 {
        match self {
            Pace::Device => 0.01,
            Pace::Waiting | Pace::Host => 0.04,
        }
    }

    /// The least that is believed of any measured one: runs that agree better than this were lucky.
    fn least(self) -> f64 {
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
}

/// The spread of each pair that has times on a side; `limits` are the policy's words on each pair, `old` and `new` the
/// sides that may know spreads beforehand.
pub fn spreads(pairs: &[Pair], limits: &[Limits], old: &Runs, new: &Runs) -> Vec<Option<Spread>> {
    let own: Vec<Option<(f64, f64)>> = pairs.iter().map(measured).collect();
    let priors = Pace::ALL.map(|pace| {
        let of_pace = pairs.iter().zip(&own).filter(|(pair, _)| Pace::of(pair) == pace);
        fit(&of_pace.filter_map(|(_, own)| *own).collect::<Vec<_>>())
    });
    let spread = |((pair, limits), own): ((&Pair, &Limits), &Option<(f64, f64)>)| {
        let pace = Pace::of(pair);
        let assumed = limits.run_spread.unwrap_or(pace.assumed()).powi(2);
        let within = within(pair)?;
        let name = pair.cell.to_string();
        let stored = [old, new].into_iter().filter_map(|runs| runs.null_spread.get(&name));
        let stored = stored.fold(0.0f64, |most, sd| most.max(sd * sd));
        let least = stored.max(within).max(pace.least().powi(2));
        let (variance, df) = match own {
            Some(own) => {
                let weak = Prior { variance: assumed, df: WEAK_DF };
                moderate(priors[pace as usize].unwrap_or(weak), *own)
            }
            None if stored > 0.0 => (stored, ASSUMED_DF),
            None => (assumed + within, ASSUMED_DF),
        };
        Some(Spread { variance: variance.max(least), df })
    };
    pairs.iter().zip(limits).zip(&own).map(spread).collect()
}

/// Variance between the runs of a side, both sides together, and its degrees of freedom; `None` without a second run.
fn measured(pair: &Pair) -> Option<(f64, f64)> {
    let (mut squares, mut df) = (0.0, 0.0);
    for evidence in pair.timed().filter(|evidence| evidence.runs.len() > 1) {
        let own_df = (evidence.runs.len() - 1) as f64;
        squares += own_df * variance(&evidence.runs);
        df += own_df;
    }
    (df > 0.0).then(|| (squares / df, df))
}

/// Variance of a run's median by what the runs show inside, mean over both sides.
fn within(pair: &Pair) -> Option<f64> {
    let variances: Vec<f64> = pair.timed().map(|evidence| evidence.within).collect();
    (!variances.is_empty()).then(|| variances.iter().sum::<f64>() / variances.len() as f64)
}

/// Where the spreads came from, in words.
pub fn origin(old: &Runs, new: &Runs) -> String {
    let (olds, news) = (old.runs.len(), new.runs.len());
    let known = [old, new].iter().any(|runs| !runs.null_spread.is_empty());
    match (olds.max(news) > 1, known) {
        _ if old.is_same_run(new) => "none: one run compared with itself".into(),
        (true, false) => format!("measured between {olds} runs of OLD and {news} of NEW"),
        (true, true) => {
            format!("measured between {olds} runs of OLD and {news} of NEW, at least that of the baseline")
        }
        (false, true) => "measured between the passes of the baseline".into(),
        (false, false) => {
            let [device, host] = [Pace::Device, Pace::Host].map(|pace| 100.0 * pace.assumed());
            format!(
                "assumed from one run a side: {device} % where the device paces the work, {host} % elsewhere, and what \
                 each run shows inside"
            )
        }
    }
}
