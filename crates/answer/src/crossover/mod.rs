//! From which size the GPU is faster: where the speed-up crosses 1, between the sizes that were measured.
//!
//! A crossing is named only where one side is faster beyond doubt at a smaller size and the other at a larger one.
//! "Beyond doubt" is stricter than the 95 % interval of a single size, because among several sizes chance alone would
//! make some interval miss 1: the level is divided by the number of sizes (Bonferroni).

use gpubench_model::Side;
use statrs::distribution::{ContinuousCDF, Normal};

use super::cost::Kind;
use super::crossing::SpeedUpCurve;
use super::curve::Curve;
use super::estimate::NORMAL_95;
use super::{Comparison, Estimate, Pair, Section};

/// A place on the axis of sizes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Place {
    /// At or below the smallest size.
    Below,
    /// Between two sizes.
    At(f64),
    /// Not at the largest size either.
    Beyond,
}

/// Neighbouring sizes at which the same side is measurably faster, or neither is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Stretch {
    /// The smallest of these sizes.
    #[serde(rename = "from")]
    pub first: u64,
    /// The largest.
    #[serde(rename = "to")]
    pub last: u64,
    /// The side that is measurably faster at each of them.
    #[serde(rename = "side")]
    pub winner: Option<Side>,
}

/// From which size the GPU is faster, for one density and kind of speed-up.
#[derive(Clone, Debug, PartialEq)]
pub struct Crossover {
    /// Share of stored entries of a sparse op.
    pub density: Option<f64>,
    /// The phases that the times include.
    pub kind: Kind,
    /// The smallest size that was compared.
    pub smallest: u64,
    /// The largest.
    pub largest: u64,
    /// The size from which the GPU is faster up to the largest: `Below` where it is measurably faster at every size,
    /// `Beyond` where the CPU is at the largest; `None` where the measurements do not say.
    pub from: Option<Place>,
    /// The 95 % interval of that size.
    pub interval: [Place; 2],
    /// Every size at which the faster side changes beyond doubt, ascending, with the side that is faster above.
    pub changes: Vec<(f64, Side)>,
    /// The measurably faster side per range of sizes, ascending.
    pub(crate) stretches: Vec<Stretch>,
}

impl Crossover {
    /// Returns whether the GPU also wins below the size from which it always wins, or only at small sizes.
    pub fn is_mixed(&self) -> bool {
        self.changes.iter().any(|(_, above)| *above == Side::Cpu)
    }

    /// Returns whether only one size was compared.
    pub fn is_one_size(&self) -> bool {
        self.smallest == self.largest
    }
}

/// The crossovers of a section: one per density and kind that has a size with both sides.
pub fn crossovers(section: &Section<'_>) -> Vec<Crossover> {
    let of = |part: Section<'_>| Kind::ALL.map(|kind| crossover(&part.comparisons, kind));
    section.by_density().flat_map(of).flatten().collect()
}

/// The crossover of comparisons of one density, in ascending order of size; `None` when no size has both sides.
pub fn crossover(comparisons: &[Comparison<'_>], kind: Kind) -> Option<Crossover> {
    let compared: Vec<(&Comparison<'_>, Pair<'_>)> =
        comparisons.iter().filter_map(|one| Some((one, one.pair(kind)?))).collect();
    let (first, last) = (compared.first()?.0, compared.last()?.0);
    let stretches = stretches(&compared);
    let sure = beyond_doubt(&compared);
    let curve = speed_up_curve(&compared, kind);
    let mut changes = vec![];
    for pair in sure.windows(2).filter(|pair| pair[0].1 != pair[1].1) {
        let crossing = curve.crossing(pair[0].0..pair[1].0, pair[0].1);
        changes.extend(crossing.map(|crossing| (crossing, pair[1].1)));
    }
    let all_gpu = stretches.len() == 1 && stretches[0].winner == Some(Side::Gpu);
    let cpu_at_last = stretches.last()?.winner == Some(Side::Cpu);
    let (from, interval) = match changes.last() {
        Some((crossing, Side::Gpu)) => (Some(Place::At(crossing.size)), crossing.interval.map(Place::At)),
        _ if all_gpu => (Some(Place::Below), [Place::Below; 2]),
        _ if cpu_at_last => (Some(Place::Beyond), [Place::Beyond; 2]),
        _ => (None, bounds(&curve, &sure, stretches.last()?.winner)),
    };
    Some(Crossover {
        density: first.density,
        kind,
        smallest: first.n,
        largest: last.n,
        from,
        interval,
        changes: changes.into_iter().map(|(crossing, above)| (crossing.size, above)).collect(),
        stretches,
    })
}

/// The bounds of an unknown crossover: it is above the last size at which the CPU is faster beyond doubt, or below the
/// sizes at which the GPU is.
fn bounds(curve: &SpeedUpCurve, sure: &[(usize, Side)], winner_at_last: Option<Side>) -> [Place; 2] {
    let gaps = curve.cpu.sizes.len() - 1;
    match sure.last() {
        Some((at, Side::Cpu)) => {
            let from = curve.gpu_may_win_from(*at..gaps);
            [from.map_or(Place::Below, Place::At), Place::Beyond]
        }
        Some((_, Side::Gpu)) if winner_at_last == Some(Side::Gpu) => {
            let to = curve.cpu_may_win_to(0..gaps);
            [Place::Below, to.map_or(Place::Beyond, Place::At)]
        }
        _ => [Place::Below, Place::Beyond],
    }
}

/// Runs of sizes with the same winner.
fn stretches(compared: &[(&Comparison<'_>, Pair<'_>)]) -> Vec<Stretch> {
    let winner = |one: &(&Comparison<'_>, Pair<'_>)| one.1.speed_up.winner();
    let runs = compared.chunk_by(|a, b| winner(a) == winner(b));
    let stretch = |run: &[(&Comparison<'_>, Pair<'_>)]| {
        Some(Stretch { first: run.first()?.0.n, last: run.last()?.0.n, winner: winner(run.first()?) })
    };
    runs.filter_map(stretch).collect()
}

/// The sizes at which one side is faster at a level that holds for all sizes together, by index.
fn beyond_doubt(compared: &[(&Comparison<'_>, Pair<'_>)]) -> Vec<(usize, Side)> {
    let tail = 0.025 / compared.len() as f64;
    let reach = Normal::new(0.0, 1.0).map_or(f64::INFINITY, |normal| normal.inverse_cdf(1.0 - tail));
    let times = reach / NORMAL_95;
    let winner = |pair: &Pair<'_>| {
        let Estimate { value, low, high } = pair.speed_up.0;
        match value.ln() {
            log if log > times * (value / low).ln() => Some(Side::Gpu),
            log if log < -times * (high / value).ln() => Some(Side::Cpu),
            _ => None,
        }
    };
    let found = compared.iter().enumerate();
    found.filter_map(|(at, (_, pair))| Some((at, winner(pair)?))).collect()
}

fn speed_up_curve(compared: &[(&Comparison<'_>, Pair<'_>)], kind: Kind) -> SpeedUpCurve {
    let curve = |side, time: fn(&Pair<'_>) -> Estimate| {
        let times: Vec<_> = compared.iter().map(|(one, pair)| (*one, time(pair))).collect();
        Curve::of(&times, side, kind)
    };
    SpeedUpCurve { cpu: curve(Side::Cpu, |pair| pair.cpu_s), gpu: curve(Side::Gpu, |pair| pair.gpu_s) }
}

#[cfg(test)]
mod tests;
