//! Derives the answer from the rows of a report: speed-ups, crossovers, the cost of the first use and shares of the
//! peaks. Every format of a report shows it.

pub mod cost;
mod crossing;
pub mod crossover;
mod curve;
pub mod first_use;
mod host_memory;
pub mod libraries;
mod names;
pub mod refinement;
mod sections;
mod speed_up;
mod versus;
mod winner;

pub use cost::Kind;
pub use crossover::{Crossover, Place, Stretch};
pub use host_memory::Kinds;
pub use names::Names;
pub use sections::{Comparison, Pair, Section, has_both_caches, sections, sections_of};
pub use speed_up::{SpeedUp, factor_text};
pub use versus::{Contender, Versus};

/// Standard errors to either side that hold 95 % of a normal distribution.
pub(crate) const NORMAL_95: f64 = 1.959_963_984_540_054;

/// Bisects an interval 40 times, to where `is_below` turns false.
pub(crate) fn bisected([mut low, mut high]: [f64; 2], is_below: impl Fn(f64) -> bool) -> f64 {
    for _ in 0..40 {
        let middle = f64::midpoint(low, high);
        if is_below(middle) { low = middle } else { high = middle }
    }
    f64::midpoint(low, high)
}

/// A figure and its 95 % interval, in one unit.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct Estimate {
    /// The figure.
    pub value: f64,
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

impl Estimate {
    /// The sum of two independent figures. The distances from each figure to the end of its interval add up in
    /// squares: G. Y. Zou, A. Donner, "Construction of confidence limits about effect measures: a general approach",
    /// Statistics in Medicine 27 (2008).
    pub(crate) fn plus(self, other: Estimate) -> Estimate {
        let value = self.value + other.value;
        Estimate {
            value,
            low: value - (self.value - self.low).hypot(other.value - other.low),
            high: value + (self.high - self.value).hypot(other.high - other.value),
        }
    }

    /// The difference of two independent figures, by the same method.
    pub(crate) fn minus(self, other: Estimate) -> Estimate {
        self.plus(Estimate { value: -other.value, low: -other.high, high: -other.low })
    }

    /// The figure `count` times.
    pub(crate) fn times(self, count: u64) -> Estimate {
        let [value, low, high] = [self.value, self.low, self.high].map(|figure| figure * count as f64);
        Estimate { value, low, high }
    }

    /// The distances of the ends below and above the value, as natural logarithms of ratios.
    pub(crate) fn log_distances(self) -> [f64; 2] {
        [(self.value / self.low).ln(), (self.high / self.value).ln()]
    }

    /// The ratio of two independent figures, by the same method on logarithms; `None` where it is no positive number.
    pub fn over(self, other: Estimate) -> Option<Estimate> {
        let value = self.value / other.value;
        let ([below, above], [other_below, other_above]) = (self.log_distances(), other.log_distances());
        let (below, above) = (below.hypot(other_above), above.hypot(other_below));
        let ratio = Estimate { value, low: value * (-below).exp(), high: value * above.exp() };
        let usable = [ratio.value, ratio.low, ratio.high].iter().all(|end| end.is_finite() && *end > 0.0);
        usable.then_some(ratio)
    }
}

/// A figure without doubt.
pub(crate) fn exact(value: f64) -> Estimate {
    Estimate { value, low: value, high: value }
}

#[cfg(test)]
mod tests;
