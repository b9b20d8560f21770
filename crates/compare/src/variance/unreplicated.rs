//! The spread from run to run where each side has one run, so that no side shows a spread of its own.
//!
//! The cells then serve as each other's measure: most of them did not change, so how far they moved from the one run to
//! the other says how far a cell moves for no reason. A machine that is restless as a whole shows it there, and so does
//! a run that was slow as a whole. That is the empirical null distribution of Efron, "Large-scale simultaneous hypothesis
//! testing: the choice of a null hypothesis", Journal of the American Statistical Association 99 (2004), with its center
//! held at no change.

use crate::Limits;
use crate::pairs::pace::{ASSUMED_DF, Pace};
use crate::pairs::pairing::{Pair, within};
use crate::statistics::shift::quantile;

/// Cells of one pace from which their common spread is learned.
pub(crate) const MIN_CELLS: usize = 8;

/// Degrees of freedom of Student's t by which a cell is judged against the spread of all. Few, since cells differ in how
/// restless they are, and nothing but a second run shows which ones are. With 3.5, noise of Student's t with three
/// degrees of freedom raises a false alarm in less than 1 % of comparisons of 8 to 150 cells.
const POOLED_DF: f64 = 3.5;

/// How many times the least that is believed of measured runs is believed of one run per side: the quieter all cells look,
/// the more a single restless one stands out.
const MIN_POOLED_FACTOR: f64 = 2.0;

/// How far the cells of each pace moved from one run to the other.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Unreplicated {
    /// Standard deviation of one run, relative, by pace; `None` where fewer than eight cells show it.
    pooled: [Option<f64>; 3],
}

impl Unreplicated {
    /// Learns from `pairs`, of which those that `counts` does not hold of are left out.
    pub(crate) fn of(pairs: &[Pair], counts: impl Fn(usize, &Pair) -> bool) -> Unreplicated {
        let pooled = Pace::ALL.map(|pace| {
            let of_pace = pairs.iter().enumerate().filter(|(_, pair)| Pace::of(pair) == pace);
            let moved = of_pace.filter(|(place, pair)| counts(*place, pair));
            let mut moved: Vec<f64> = moved.filter_map(|(_, pair)| moved_by(pair)).collect();
            moved.sort_unstable_by(f64::total_cmp);
            let enough = moved.len() >= MIN_CELLS;
            let median = enough.then(|| gpubench_model::measure::stats::quantile(&moved, 0.5));
            // Both runs contribute, each with half of the variance.
            median.map(|median| {
                (median / quantile(POOLED_DF, 0.75) / 2f64.sqrt()).max(MIN_POOLED_FACTOR * pace.least())
            })
        });
        Unreplicated { pooled }
    }

    /// The standard deviation of one run that the cells of `pace` show, relative; `None` for too few of them.
    pub(crate) fn pooled(&self, pace: Pace) -> Option<f64> {
        self.pooled[pace as usize]
    }

    /// Variance of a run's logarithm in `pair`, and the degrees of freedom it is worth; `within` is what the runs show
    /// inside.
    pub(crate) fn spread(&self, pair: &Pair, limits: &Limits) -> Option<(f64, f64)> {
        let (pace, within) = (Pace::of(pair), within(pair)?);
        if let Some(stated) = limits.run_spread {
            return Some((stated.powi(2) + within, ASSUMED_DF));
        }
        if pair.both().is_none() {
            return Some((pace.usual().powi(2) + within, ASSUMED_DF));
        }
        Some(match self.pooled(pace) {
            Some(pooled) => (pooled.powi(2).max(between_rounds(pair)), POOLED_DF),
            None => (pace.cautious().powi(2) + within, ASSUMED_DF),
        })
    }
}

/// How far the time of `pair` moved, as a logarithm without its sign; `None` without a time on both sides.
fn moved_by(pair: &Pair) -> Option<f64> {
    let (old, new) = pair.both()?;
    Some((new.runs.first()? - old.runs.first()?).abs())
}

/// Variance between the rounds of a run, the larger of both sides: a cell that was restless while it was measured.
fn between_rounds(pair: &Pair) -> f64 {
    pair.timed().map(|evidence| evidence.between_rounds).fold(0.0, f64::max)
}
