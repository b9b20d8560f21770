//! Estimates the variation between runs if each side has only one run.
//!
//! Most cells did not change, so their differences between the two runs show the variation of an unchanged cell. A noisy
//! machine or a run that was slow as a whole shows in these differences too. This is the empirical null distribution of
//! Efron, "Large-scale simultaneous hypothesis testing: the choice of a null hypothesis", Journal of the American
//! Statistical Association 99 (2004), centered at no change.

use crate::Limits;
use crate::pairs::pace::{ASSUMED_DF, Pace};
use crate::pairs::pairing::{Pair, within};
use crate::statistics::shift::quantile;

/// Smallest number of cells of one pace from which their common variation is estimated.
pub(crate) const MIN_CELLS: usize = 8;

/// Degrees of freedom of Student's t for a cell judged by the variation of all cells. Few, because cells differ in their
/// noise and only a second run shows which ones are noisy. With 3.5, noise of Student's t with three degrees of freedom
/// raises a false alarm in less than 1 % of comparisons of 8 to 150 cells.
const POOLED_DF: f64 = 3.5;

/// Lower bound for one run per side, as a multiple of that for measured runs: the quieter all cells look, the more a
/// single noisy one resembles a change.
const MIN_POOLED_FACTOR: f64 = 2.0;

/// The variation of the cells of each pace between two runs.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Unreplicated {
    /// Relative standard deviation of one run, by pace; `None` for fewer than eight cells.
    pooled: [Option<f64>; 3],
}

impl Unreplicated {
    /// Estimates the variation from the pairs for which `counts` is true.
    pub(crate) fn of(pairs: &[Pair], counts: impl Fn(usize, &Pair) -> bool) -> Unreplicated {
        let pooled = Pace::ALL.map(|pace| {
            let of_pace = pairs.iter().enumerate().filter(|(_, pair)| Pace::of(pair) == pace);
            let counted = of_pace.filter(|(place, pair)| counts(*place, pair));
            let mut changes: Vec<f64> = counted.filter_map(|(_, pair)| absolute_change(pair)).collect();
            changes.sort_unstable_by(f64::total_cmp);
            let enough = changes.len() >= MIN_CELLS;
            let median = enough.then(|| gpubench_model::measure::stats::quantile(&changes, 0.5));
            // Both runs contribute, each with half of the variance.
            median.map(|median| {
                (median / quantile(POOLED_DF, 0.75) / 2f64.sqrt())
                    .max(MIN_POOLED_FACTOR * pace.min_variation())
            })
        });
        Unreplicated { pooled }
    }

    /// Returns the relative standard deviation of one run for the cells of `pace`; `None` for too few cells.
    pub(crate) fn pooled(&self, pace: Pace) -> Option<f64> {
        self.pooled[pace as usize]
    }

    /// Returns the variance of a run's logarithm in `pair`, with its degrees of freedom.
    pub(crate) fn variance(&self, pair: &Pair, limits: &Limits) -> Option<(f64, f64)> {
        let (pace, within) = (Pace::of(pair), within(pair)?);
        if let Some(assumed) = limits.variation_between_runs {
            return Some((assumed.powi(2) + within, ASSUMED_DF));
        }
        if pair.both().is_none() {
            return Some((pace.typical_variation().powi(2) + within, ASSUMED_DF));
        }
        Some(match self.pooled(pace) {
            Some(pooled) => (pooled.powi(2).max(between_rounds(pair)), POOLED_DF),
            None => (pace.cautious_variation().powi(2) + within, ASSUMED_DF),
        })
    }
}

/// Returns the absolute change of `pair` as a logarithm; `None` without a time on both sides.
fn absolute_change(pair: &Pair) -> Option<f64> {
    let (old, new) = pair.both()?;
    Some((new.runs.first()? - old.runs.first()?).abs())
}

/// Returns the variance between the rounds of a run, the larger of both sides.
fn between_rounds(pair: &Pair) -> f64 {
    pair.timed().map(|evidence| evidence.between_rounds).fold(0.0, f64::max)
}
