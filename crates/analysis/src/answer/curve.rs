//! The time of one contender at sizes between those that were measured, with its uncertainty.
//!
//! All is in logarithms of time and size, where a power of the size is a straight line. Between two measured sizes the
//! time of a variant lies between the line through both (the chord) and the lines through each and its next neighbour
//! (the extrapolations): a law `t0 + c N^p` is convex there and lies below the chord and above the extrapolations; a
//! bend between two powers lies on either side of the chord and within the same triangle. Where neighbours are missing
//! the law is taken to be convex, never falling, and to grow no faster than the op's work.
//!
//! The middle of what is possible is the estimate. Half of the range is an uncertainty like that of the noise, with the
//! U-shaped distribution of values that often lie at an end (half width over the root of 2), and both are combined in
//! squares: JCGM 100:2008, *Guide to the expression of uncertainty in measurement*, 4.3 and 5.1; JCGM 101:2008, 6.4.6.

use gpubench_report::report::Row;

use super::NORMAL_95;
use super::cost::Kind;
use super::{Comparison, Contender, Estimate};

/// The growth of time with size, as an exponent, where nothing is known of the work.
const STEEPEST: f64 = 4.0;

/// Share of a gap by which a neighbour must be away: noise of closer sizes would turn the line through it anywhere.
const NEIGHBOUR_SHARE: f64 = 0.5;

pub(crate) struct Curve {
    /// The natural logarithms of the sizes, ascending.
    pub(crate) sizes: Vec<f64>,
    best: Vec<Estimate>,
    /// The logarithms of the times of each variant at each size, if measured; first those of the best of each size.
    variants: Vec<Vec<Option<f64>>>,
    /// For each gap between sizes, the exponent with which the work grows.
    growth: Vec<f64>,
}

impl Curve {
    /// The curve of a contender through comparisons in ascending order of size, with the time of its best variant in each.
    pub(crate) fn of(compared: &[(&Comparison<'_>, Estimate)], contender: Contender, kind: Kind) -> Curve {
        let sizes: Vec<f64> = compared.iter().map(|(one, _)| (one.n as f64).ln()).collect();
        let mut names: Vec<(&str, &str)> = vec![];
        let mut variants: Vec<Vec<Option<f64>>> = vec![vec![None; sizes.len()]];
        for (at, (comparison, _)) in compared.iter().enumerate() {
            for (row, found) in comparison.candidates(contender, kind) {
                let name = (row.backend.as_str(), row.variant.as_str());
                let place = names.iter().position(|known| *known == name).unwrap_or_else(|| {
                    names.push(name);
                    variants.push(vec![None; sizes.len()]);
                    names.len() - 1
                });
                let seconds = found.value.ln();
                variants[place + 1][at] = Some(seconds);
                let fastest = variants[0][at].map_or(seconds, |fastest| fastest.min(seconds));
                variants[0][at] = Some(fastest);
            }
        }
        let growth = compared.windows(2).map(|pair| growth(pair[0].0, pair[1].0)).collect();
        Curve { sizes, best: compared.iter().map(|(_, best)| *best).collect(), variants, growth }
    }

    /// The seconds at the size whose logarithm is `x`, in the gap after the size with index `gap`.
    pub(crate) fn at(&self, gap: usize, x: f64) -> Estimate {
        let [from, to] = [self.sizes[gap], self.sizes[gap + 1]];
        let share = (x - from) / (to - from);
        if share <= 0.0 {
            return self.best[gap];
        }
        if share >= 1.0 {
            return self.best[gap + 1];
        }
        let mix = |left: f64, right: f64| (1.0 - share) * left + share * right;
        let noise = |left: f64, right: f64| ((1.0 - share) * left).hypot(share * right);
        let [left, right] = [self.best[gap], self.best[gap + 1]];
        let ([left_below, left_above], [right_below, right_above]) =
            (left.log_distances(), right.log_distances());
        let [low, high] = self.off_chord(gap, x);
        let unknown = NORMAL_95 / 2f64.sqrt() * (high - low) / 2.0;
        let value = (mix(left.value.ln(), right.value.ln()) + f64::midpoint(low, high)).exp();
        Estimate {
            value,
            low: value * (-noise(left_below, right_below).hypot(unknown)).exp(),
            high: value * noise(left_above, right_above).hypot(unknown).exp(),
        }
    }

    /// The largest distances of the fastest variant from the chord of the best times, as logarithms of ratios.
    fn off_chord(&self, gap: usize, x: f64) -> [f64; 2] {
        let fastest = &self.variants[0];
        let (Some(y0), Some(y1)) = (fastest[gap], fastest[gap + 1]) else { return [0.0; 2] };
        let has_both = |variant: &&Vec<Option<f64>>| variant[gap].is_some() && variant[gap + 1].is_some();
        let leads = |at: usize| {
            self.variants[1..].iter().filter(has_both).any(|variant| variant[at] == self.variants[0][at])
        };
        // A size whose best variant has no time at the other leaves only the line of the best to go by.
        let first = usize::from(leads(gap) && leads(gap + 1));
        let ranges =
            self.variants[first..].iter().filter(has_both).map(|variant| self.range(variant, gap, x));
        let fastest = ranges.reduce(|a, b| [a[0].min(b[0]), a[1].min(b[1])]).unwrap_or([f64::NAN; 2]);
        let chord = y0 + (y1 - y0) * (x - self.sizes[gap]) / (self.sizes[gap + 1] - self.sizes[gap]);
        fastest.map(|end| end - chord)
    }

    /// The least and the largest logarithm of a variant's time.
    fn range(&self, variant: &[Option<f64>], gap: usize, x: f64) -> [f64; 2] {
        let (Some(y0), Some(y1)) = (variant[gap], variant[gap + 1]) else { return [f64::NAN; 2] };
        let [before, after] = [x - self.sizes[gap], self.sizes[gap + 1] - x];
        let width = before + after;
        let slope = (y1 - y0) / width;
        let chord = y0 + slope * before;
        let (min_slope, max_slope) = (slope.min(0.0), slope.max(self.growth[gap]));
        let near = NEIGHBOUR_SHARE * width;
        let to = |place: usize| Some((self.sizes[place], variant[place]?));
        let left = neighbour((0..gap).rev().filter_map(to), self.sizes[gap], near);
        let right = neighbour((gap + 2..self.sizes.len()).filter_map(to), self.sizes[gap + 1], near);
        let left = left.map(|(at, y)| ((y0 - y) / (self.sizes[gap] - at)).clamp(min_slope, max_slope));
        let right = right.map(|(at, y)| ((y - y1) / (at - self.sizes[gap + 1])).clamp(min_slope, max_slope));
        let (left, right) = match (left, right) {
            (None, None) => (Some(min_slope), Some(max_slope)),
            known => known,
        };
        let lines = [left.map(|slope| y0 + slope * before), right.map(|slope| y1 - slope * after)];
        let below = lines.iter().flatten().copied().filter(|line| *line < chord).reduce(f64::max);
        let above = lines.iter().flatten().copied().filter(|line| *line > chord).reduce(f64::min);
        let floor = (y0 + min_slope * before).max(y1 - max_slope * after);
        let peak = (y0 + max_slope * before).min(y1 - min_slope * after);
        let (low, high) =
            (below.unwrap_or(chord).max(floor).min(chord), above.unwrap_or(chord).min(peak).max(chord));
        // A time that falls with the size follows no such law: where in the gap it falls is not known.
        if y1 < y0 { [low.min(y1), high.max(y0)] } else { [low, high] }
    }
}

/// The nearest of these points that is at least `near` away from `size`, else the farthest.
fn neighbour(points: impl Iterator<Item = (f64, f64)>, size: f64, near: f64) -> Option<(f64, f64)> {
    let mut last = None;
    for point in points {
        last = Some(point);
        if (point.0 - size).abs() >= near {
            break;
        }
    }
    last
}

/// The exponent with which the larger of FLOP and bytes grows from one case to another.
fn growth(smaller: &Comparison<'_>, larger: &Comparison<'_>) -> f64 {
    let (Some(a), Some(b)) = (smaller.rows.first(), larger.rows.first()) else { return STEEPEST };
    let width = (larger.n as f64 / smaller.n as f64).ln();
    let exponent = |of: fn(&Row) -> f64| (of(b) / of(a)).ln() / width;
    let exponents = [exponent(|row| row.work.flop), exponent(|row| row.work.bytes)];
    exponents.into_iter().filter(|exponent| exponent.is_finite()).reduce(f64::max).unwrap_or(STEEPEST)
}
