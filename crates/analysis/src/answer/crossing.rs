//! Finds the size at which the speed-up crosses 1, and the sizes at which its interval includes 1.
//!
//! The interval of a crossing holds the sizes at which equal times are not ruled out: the 95 % interval of the speed-up
//! at each size, measured or between two, is asked whether it holds 1 (a confidence set by inverting tests, as E. C.
//! Fieller, "Some problems in interval estimation", Journal of the Royal Statistical Society B 16 (1954), has it for
//! ratios).

use std::ops::Range;

use super::curve::Curve;
use super::{Contender, Estimate, bisected};

/// Sizes per gap at which the speed-up is looked at before a crossing is narrowed down.
const STEPS: usize = 32;

pub(crate) struct SpeedUpCurve {
    pub a: Curve,
    pub b: Curve,
}

/// A change of the faster contender, as sizes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Crossing {
    pub size: f64,
    pub interval: [f64; 2],
}

/// Picks one of the three curves of the speed-up.
type End = fn(Estimate) -> f64;

/// A place: a gap between measured sizes, and the logarithm of a size within it.
type Spot = (usize, f64);

impl SpeedUpCurve {
    /// The crossing within these gaps, at whose first size `below` is faster and at whose last the other contender is.
    pub(crate) fn crossing(&self, gaps: Range<usize>, below: Contender) -> Option<Crossing> {
        // How far the speed-up is in favour of the contender that wins above, from its end that is furthest from that.
        let (sign, min, max): (f64, End, End) = match below {
            Contender::A => (1.0, |ratio| ratio.low, |ratio| ratio.high),
            Contender::B => (-1.0, |ratio| ratio.high, |ratio| ratio.low),
        };
        let spots = self.spots(gaps);
        let toward = |end: End| move |spot: Spot| sign * self.log(spot, end);
        let low = first(&spots, toward(max))?;
        let high = last(&spots, toward(min))?;
        let value = toward(|ratio| ratio.value);
        let size = f64::midpoint(first(&spots, value)?, last(&spots, value)?);
        Some(Crossing { size: size.exp(), interval: [low.min(size).exp(), high.max(size).exp()] })
    }

    pub(crate) fn b_may_win_from(&self, gaps: Range<usize>) -> Option<f64> {
        first(&self.spots(gaps), |spot| self.log(spot, |ratio| ratio.high)).map(f64::exp)
    }

    pub(crate) fn a_may_win_to(&self, gaps: Range<usize>) -> Option<f64> {
        last(&self.spots(gaps), |spot| self.log(spot, |ratio| ratio.low)).map(f64::exp)
    }

    fn spots(&self, gaps: Range<usize>) -> Vec<Spot> {
        let within = |gap: usize| {
            let [from, to] = [self.a.sizes[gap], self.a.sizes[gap + 1]];
            (0..=STEPS).map(move |step| (gap, from + (to - from) * step as f64 / STEPS as f64))
        };
        gaps.flat_map(within).collect()
    }

    /// The logarithm of one end of the speed-up.
    fn log(&self, (gap, x): Spot, end: End) -> f64 {
        self.a.at(gap, x).over(self.b.at(gap, x)).map_or(f64::NAN, |ratio| end(ratio).ln())
    }
}

/// The first place at which `curve` is no longer below 0.
fn first(spots: &[Spot], curve: impl Fn(Spot) -> f64) -> Option<f64> {
    let at = spots.iter().position(|spot| curve(*spot) >= 0.0)?;
    Some(zero(spots[at.saturating_sub(1)], spots[at], curve))
}

/// The last place at which `curve` is still above 0.
fn last(spots: &[Spot], curve: impl Fn(Spot) -> f64) -> Option<f64> {
    let at = spots.iter().rposition(|spot| curve(*spot) <= 0.0)?;
    Some(zero(spots[at], spots[(at + 1).min(spots.len() - 1)], curve))
}

/// The place at which `curve` crosses 0 between two neighbouring spots, of which one is at or below 0 and the other at or above.
fn zero((_, low): Spot, (gap, high): Spot, curve: impl Fn(Spot) -> f64) -> f64 {
    // Of spots of two gaps, which lie at the same size, the first counts: there is nothing between them.
    bisected([low, high], |middle| curve((gap, middle)) < 0.0)
}
