//! Estimates the variance of each cell's time between unchanged runs.
//!
//! The run is the unit of evidence: samples of one run share its memory layout, its clocks and the load of other
//! programs, so a narrow interval within a run says little about the next run. If a side has several runs, their variance
//! is measured. Few runs estimate it poorly, so it is moderated by that of the sweep's other cells, which may widen but
//! never narrows it. With one run per side [`Unreplicated`] estimates it from all cells. The variance is never smaller
//! than the estimate from within the runs.

use std::collections::BTreeMap;

use crate::compare::pairs::pace::{ASSUMED_DF, Pace};
use crate::compare::pairs::{CellPair, within};
use crate::compare::statistics::moderation::{Prior, fit, moderate};
use crate::compare::statistics::pooled_variance;
use crate::compare::statistics::shift::quantile;
use crate::compare::{Limits, Runs};

/// Degrees of freedom of the assumed variance in sweeps with too few cells for a prior.
const WEAK_DF: f64 = 4.0;

/// Smallest number of cells of one pace from which their common variation is estimated.
pub(crate) const MIN_CELLS: usize = 8;

/// Degrees of freedom of Student's t for a cell judged by the variation of all cells. Few, because cells differ in their
/// noise and only a second run shows which ones are noisy. With 3.5, noise of Student's t with three degrees of freedom
/// raises a false alarm in less than 1 % of comparisons of 8 to 150 cells.
const POOLED_DF: f64 = 3.5;

/// Lower bound for one run per side, as a multiple: the quieter all cells look, the more a noisy one resembles a change.
const MIN_POOLED_FACTOR: f64 = 2.0;

/// Both sides joined cell by cell, with the limits and variances of each cell: the input of means and notes.
pub(crate) struct JoinedSides<'a> {
    pub pairs: &'a [CellPair],
    pub limits: &'a [Limits],
    pub(crate) variances: &'a [Option<RunVariance>],
    pub old: &'a Runs,
    pub new: &'a Runs,
    pub history: &'a Runs,
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

/// Returns the relative threshold for `pair`: that of the policy, or the default of its pace.
pub(crate) fn threshold(pair: &CellPair, limits: &Limits) -> f64 {
    limits.threshold.unwrap_or_else(|| Pace::of(pair).threshold())
}

/// Estimates the variance of each pair that has times, at least that in `stored` by baselines.
pub(crate) fn run_variances(
    pairs: &[CellPair],
    limits: &[Limits],
    stored: &BTreeMap<String, f64>,
) -> Vec<Option<RunVariance>> {
    let own: Vec<Option<(f64, f64)>> = pairs.iter().map(|pair| pooled_variance(pair.runs())).collect();
    let priors = Pace::ALL.map(|pace| {
        let of_pace = pairs.iter().zip(&own).filter(|(pair, _)| Pace::of(pair) == pace);
        fit(&of_pace.filter_map(|(_, own)| *own).collect::<Vec<_>>())
    });
    let unreplicated = Unreplicated::of(pairs, limits);
    let of_pair = |((pair, limits), own): ((&CellPair, &Limits), &Option<(f64, f64)>)| {
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

/// The variation of the cells of each pace between two runs, if each side has only one run.
///
/// Most cells did not change, so their differences between the two runs show the variation of an unchanged cell. A noisy
/// machine or a run that was slow as a whole shows in these differences too. This is the empirical null distribution of
/// Efron, "Large-scale simultaneous hypothesis testing: the choice of a null hypothesis", Journal of the American
/// Statistical Association 99 (2004), centered at no change.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Unreplicated {
    /// Relative standard deviation of one run, by pace; `None` for fewer than eight cells.
    pooled: [Option<f64>; 3],
}

impl Unreplicated {
    /// Estimates the variation from the changes of comparable cells that have one run per side and are not ignored.
    pub(crate) fn of(pairs: &[CellPair], limits: &[Limits]) -> Unreplicated {
        let counts = |pair: &CellPair, limits: &Limits| {
            !limits.is_ignored() && pair.runs().all(|runs| runs.len() == 1) && pair.incomparable().is_none()
        };
        let pooled = Pace::ALL.map(|pace| {
            let of_pace = pairs.iter().zip(limits).filter(|(pair, _)| Pace::of(pair) == pace);
            let counted = of_pace.filter(|(pair, limits)| counts(pair, limits));
            let both = counted.filter_map(|(pair, _)| pair.both());
            let changes = both.filter_map(|(old, new)| Some((new.runs.first()? - old.runs.first()?).abs()));
            let mut changes: Vec<f64> = changes.collect();
            changes.sort_unstable_by(f64::total_cmp);
            let enough = changes.len() >= MIN_CELLS;
            let median = enough.then(|| gpubench_report::measure::stats::quantile(&changes, 0.5))?;
            // Both runs contribute, each with half of the variance.
            let one_run = median / quantile(POOLED_DF, 0.75) / 2f64.sqrt();
            Some(one_run.max(MIN_POOLED_FACTOR * pace.min_variation()))
        });
        Unreplicated { pooled }
    }

    /// Returns the variance of a run's logarithm in `pair`, with its degrees of freedom.
    fn variance(&self, pair: &CellPair, limits: &Limits) -> Option<(f64, f64)> {
        let (pace, within) = (Pace::of(pair), within(pair)?);
        if let Some(assumed) = limits.variation_between_runs {
            return Some((assumed.powi(2) + within, ASSUMED_DF));
        }
        if pair.both().is_none() {
            return Some((pace.typical_variation().powi(2) + within, ASSUMED_DF));
        }
        let between_rounds = || pair.timed().map(|times| times.between_rounds).fold(0.0, f64::max);
        Some(match self.pooled[pace as usize] {
            Some(pooled) => (pooled.powi(2).max(between_rounds()), POOLED_DF),
            None => (pace.cautious_variation().powi(2) + within, ASSUMED_DF),
        })
    }
}
