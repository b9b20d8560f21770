//! A speed-up with its interval, and its text: the winner and the factor.

use gpubench_report::measure::stats::significant_digits;
use gpubench_report::report::quantity::{factor_digits, factor_within};

use super::{Contender, Estimate, Versus};

/// The time of A over the time of B, with its 95 % interval: above 1 B is faster, below 1 A.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SpeedUp(pub Estimate);

impl SpeedUp {
    /// The faster contender; `None` where the interval includes 1, so that neither is measurably faster.
    pub fn winner(&self) -> Option<Contender> {
        match self.0 {
            Estimate { low, .. } if low > 1.0 => Some(Contender::B),
            Estimate { high, .. } if high < 1.0 => Some(Contender::A),
            _ => None,
        }
    }

    /// The contender whose median is smaller, whether measurably or not; B where both are equal.
    pub fn leader(&self) -> Contender {
        if self.0.value >= 1.0 { Contender::B } else { Contender::A }
    }

    /// The factor by which one contender is faster, at least 1.
    pub fn factor(&self) -> f64 {
        match self.leader() {
            Contender::B => self.0.value,
            Contender::A => 1.0 / self.0.value,
        }
    }

    /// The factor with its digits, without the contender: `12x`.
    pub fn factor_text(&self) -> String {
        factor_within(self.factor(), self.digits())
    }

    /// `GPU 12.3x` or `CPU 2.9x`, never below 1; `CPU 1.02x?` where the interval includes 1.
    pub fn text(&self, versus: Versus<'_>) -> String {
        self.led_by(versus.label(self.leader()))
    }

    /// The faster contender by its whole name, and the factor, for sentences: `cupy,cuda 12.3x`.
    pub fn text_in_words(&self, versus: Versus<'_>) -> String {
        self.led_by(versus.name(self.leader()))
    }

    fn led_by(&self, name: &str) -> String {
        let mark = if self.winner().is_none() { "?" } else { "" };
        format!("{name} {}{mark}", self.factor_text())
    }

    /// The interval of the factor, with enough digits to distinguish its ends: `17.9 to 18.5`.
    pub fn interval_text(&self) -> String {
        let [low, high] = self.ends();
        let text = |digits| [low, high].map(|end| factor_digits(end, digits));
        let [low, high] = (2..5).map(text).find(|[low, high]| low != high).unwrap_or_else(|| text(5));
        if low == high { format!("within {low}") } else { format!("{low} to {high}") }
    }

    fn ends(&self) -> [f64; 2] {
        let Estimate { low, high, .. } = self.0;
        if self.leader() == Contender::A { [1.0 / high, 1.0 / low] } else { [low, high] }
    }

    /// Significant digits that the interval of the factor allows, and enough that a winner's factor is not shown as 1.0.
    fn digits(&self) -> usize {
        let [low, high] = self.ends();
        let min_digits = match self.factor() {
            factor if self.winner().is_none() || factor >= 1.05 => 2,
            factor if factor >= 1.005 => 3,
            _ => 4,
        };
        match (high - low) / 2.0 {
            half_width if half_width > 0.0 => significant_digits(self.factor(), half_width).max(min_digits),
            _ => min_digits.max(3),
        }
    }
}

/// A factor with few digits: `1.4x`, `12.3x`, `271x`, `1.4e7x`.
pub fn factor_text(factor: f64) -> String {
    match factor {
        factor if factor < 99.95 => format!("{factor:.1}x"),
        factor if factor < 1e6 => format!("{factor:.0}x"),
        _ => format!("{factor:.1e}x"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::answer::exact;

    #[test]
    fn speed_ups_name_the_winner_and_are_never_below_one() {
        let ratios = [12.34, 1.0 / 2.9, 1.0, 0.999, 270.85, 99.97, 1e-300];
        assert_eq!(
            ratios.map(|ratio| SpeedUp(exact(ratio)).text(Versus::SIDES)),
            ["GPU 12.3x", "CPU 2.90x", "GPU 1.00x?", "CPU 1.001x", "GPU 271x", "GPU 100x", "CPU 1.0e300x"]
        );
    }

    #[test]
    fn speed_ups_have_the_digits_that_their_own_interval_allows() {
        let within = |ratio: f64, relative: f64| {
            let (low, high) = (ratio * (1.0 - relative), ratio * (1.0 + relative));
            SpeedUp(Estimate { value: ratio, low, high }).text(Versus::SIDES)
        };
        assert_eq!(within(12.34, 1e-4), "GPU 12.34x");
        assert_eq!(within(12.34, 0.01), "GPU 12x");
        assert_eq!(within(1.0 / 2.9, 0.003), "CPU 2.90x");
        assert_eq!(within(1.42, 0.2), "GPU 1.4x");
        assert_eq!(within(270.85, 0.05), "GPU 270x");
        assert_eq!(within(1.02, 0.015), "GPU 1.02x", "not 1.0x");
    }

    #[test]
    fn the_interval_is_that_of_the_winners_factor() {
        let text = |value, low, high| SpeedUp(Estimate { value, low, high }).interval_text();
        assert_eq!(text(18.2, 17.9, 18.5), "17.9 to 18.5");
        assert_eq!(text(18.2, 18.19, 18.22), "18.19 to 18.22");
        assert_eq!(text(0.5, 0.4, 0.625), "1.6 to 2.5");
        assert_eq!(text(2.0, 2.0, 2.0), "within 2.0000");
    }

    #[test]
    fn an_interval_that_includes_one_has_no_winner_and_a_question_mark() {
        let open = SpeedUp(Estimate { value: 0.93, low: 0.85, high: 1.02 });
        assert_eq!((open.winner(), open.text(Versus::SIDES)), (None, "CPU 1.1x?".into()));
        assert_eq!(open.interval_text(), "0.98 to 1.2", "of the factor shown");
        assert_eq!(SpeedUp(Estimate { value: 1.1, low: 1.05, high: 1.3 }).winner(), Some(Contender::B));
        assert_eq!(SpeedUp(Estimate { value: 0.9, low: 0.8, high: 0.99 }).winner(), Some(Contender::A));
    }
}
