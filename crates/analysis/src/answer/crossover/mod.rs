//! From which size B, by default the GPU, is faster: where the speed-up crosses 1, between the sizes that were measured.
//!
//! A crossing is named only where one contender is faster beyond doubt at a smaller size and the other at a larger one.
//! "Beyond doubt" is stricter than the 95 % interval of a single size, because among several sizes chance alone would
//! make some interval miss 1: the level is divided by the number of sizes (Bonferroni).

use gpubench_report::case::Family;
use statrs::distribution::{ContinuousCDF, Normal};

use super::NORMAL_95;
use super::cost::Kind;
use super::crossing::SpeedUpCurve;
use super::curve::Curve;
use super::{Comparison, Contender, Estimate, Pair, Section};

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

/// Neighbouring sizes at which the same contender is measurably faster, or neither is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stretch {
    /// The smallest of these sizes.
    pub first: u64,
    /// The largest.
    pub last: u64,
    /// The contender that is measurably faster at each of them.
    pub winner: Option<Contender>,
}

/// From which size B is faster, for one family and kind of speed-up.
#[derive(Clone, Debug, PartialEq)]
pub struct Crossover<'a> {
    /// The family of the cases.
    pub family: Family<'a>,
    /// The phases that the times include.
    pub kind: Kind,
    /// The smallest size that was compared.
    pub smallest: u64,
    /// The largest.
    pub largest: u64,
    /// The size from which B is faster up to the largest; `None` where the measurements do not say.
    pub from: Option<Place>,
    /// The 95 % interval of that size.
    pub interval: [Place; 2],
    /// Every size at which the faster contender changes beyond doubt, ascending, with the one that is faster above.
    pub changes: Vec<(f64, Contender)>,
    /// The measurably faster contender per range of sizes, ascending.
    pub stretches: Vec<Stretch>,
    /// Whether a time that `from` comes from is unreliable: next to the size, or at any size where `from` is about all of them.
    pub is_unreliable: bool,
}

impl Crossover<'_> {
    /// Returns whether B also wins below the size from which it always wins, or only at small sizes.
    pub fn is_mixed(&self) -> bool {
        self.changes.iter().any(|(_, above)| *above == Contender::A)
    }
}

/// The crossovers of a section: one per family and kind that has a size with both contenders.
pub fn crossovers<'a>(section: &Section<'a>) -> Vec<Crossover<'a>> {
    let of = |part: Section<'a>| Kind::ALL.map(|kind| crossover(&part.comparisons, kind));
    section.by_family().flat_map(of).flatten().collect()
}

/// The crossover of comparisons of one family, in ascending order of size; `None` when no size has both contenders.
pub fn crossover<'a>(comparisons: &[Comparison<'a>], kind: Kind) -> Option<Crossover<'a>> {
    let compared: Vec<(&Comparison<'a>, Pair<'a>)> =
        comparisons.iter().filter_map(|one| Some((one, one.pair(kind)?))).collect();
    let (first, last) = (compared.first()?.0, compared.last()?.0);
    let stretches = stretches(&compared);
    let sure = beyond_doubt(&compared);
    let curve_of = |contender, time: fn(&Pair<'_>) -> Estimate| {
        let times: Vec<_> = compared.iter().map(|(one, pair)| (*one, time(pair))).collect();
        Curve::of(&times, contender, kind)
    };
    let (a, b) = (curve_of(Contender::A, |pair| pair.a_s), curve_of(Contender::B, |pair| pair.b_s));
    let curve = SpeedUpCurve { a, b };
    let mut changes = vec![];
    // The cases on which the answer rests: those next to the last change, if B is faster above it, or all.
    let mut grounds = 0..compared.len();
    for pair in sure.windows(2).filter(|pair| pair[0].1 != pair[1].1) {
        if let Some(crossing) = curve.crossing(pair[0].0..pair[1].0, pair[0].1) {
            changes.push((crossing, pair[1].1));
            grounds = match pair[1].1 {
                Contender::A => 0..compared.len(),
                Contender::B => pair[0].0..pair[1].0 + 1,
            };
        }
    }
    let is_unreliable = compared[grounds].iter().any(|(_, pair)| pair.is_unreliable());
    let b_at_all = stretches.len() == 1 && stretches[0].winner == Some(Contender::B);
    let a_at_last = stretches.last()?.winner == Some(Contender::A);
    let (from, interval) = match changes.last() {
        Some((crossing, Contender::B)) => (Some(Place::At(crossing.size)), crossing.interval.map(Place::At)),
        _ if b_at_all => (Some(Place::Below), [Place::Below; 2]),
        _ if a_at_last => (Some(Place::Beyond), [Place::Beyond; 2]),
        _ => (None, bounds(&curve, &sure, stretches.last()?.winner)),
    };
    Some(Crossover {
        family: first.family,
        kind,
        smallest: first.n,
        largest: last.n,
        from,
        interval,
        changes: changes.into_iter().map(|(crossing, above)| (crossing.size, above)).collect(),
        stretches,
        is_unreliable,
    })
}

/// The bounds of an unknown crossover: above the last size at which A is surely faster, or below those at which B is.
fn bounds(
    curve: &SpeedUpCurve,
    sure: &[(usize, Contender)],
    winner_at_last: Option<Contender>,
) -> [Place; 2] {
    let gaps = curve.a.sizes.len() - 1;
    match sure.last() {
        Some((at, Contender::A)) => {
            let from = curve.b_may_win_from(*at..gaps);
            [from.map_or(Place::Below, Place::At), Place::Beyond]
        }
        Some((_, Contender::B)) if winner_at_last == Some(Contender::B) => {
            let to = curve.a_may_win_to(0..gaps);
            [Place::Below, to.map_or(Place::Beyond, Place::At)]
        }
        _ => [Place::Below, Place::Beyond],
    }
}

fn stretches(compared: &[(&Comparison<'_>, Pair<'_>)]) -> Vec<Stretch> {
    let winner = |one: &(&Comparison<'_>, Pair<'_>)| one.1.speed_up.winner();
    let runs = compared.chunk_by(|a, b| winner(a) == winner(b));
    let stretch = |run: &[(&Comparison<'_>, Pair<'_>)]| {
        Some(Stretch { first: run.first()?.0.n, last: run.last()?.0.n, winner: winner(run.first()?) })
    };
    runs.filter_map(stretch).collect()
}

/// The sizes at which one contender is faster at a level that holds for all sizes together, by index.
fn beyond_doubt(compared: &[(&Comparison<'_>, Pair<'_>)]) -> Vec<(usize, Contender)> {
    let tail = 0.025 / compared.len() as f64;
    let reach = Normal::new(0.0, 1.0).map_or(f64::INFINITY, |normal| normal.inverse_cdf(1.0 - tail));
    let times = reach / NORMAL_95;
    let winner = |pair: &Pair<'_>| {
        let Estimate { value, low, high } = pair.speed_up.0;
        match value.ln() {
            log if log > times * (value / low).ln() => Some(Contender::B),
            log if log < -times * (high / value).ln() => Some(Contender::A),
            _ => None,
        }
    };
    let found = compared.iter().enumerate();
    found.filter_map(|(at, (_, pair))| Some((at, winner(pair)?))).collect()
}

#[cfg(test)]
mod tests;
