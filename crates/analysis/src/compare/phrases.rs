//! Formats changes and percentages.

use gpubench_report::measure::stats::significant_digits;
use gpubench_report::report::quantity::{factor_within, rounded_factor};
pub use gpubench_text::percent;

use crate::compare::result::{JudgedSubject, Judgement};

/// Shown for a missing value.
pub const NONE: &str = "-";

/// A change in text: a factor with its direction and the interval of both.
pub struct ChangeText {
    /// A factor of at least 1 and the direction: `1.31x slower`, `1.20x faster`, `1.00x`.
    pub factor: String,
    /// The ends of its interval as factors in the same direction, if known: `1.28` and `1.34`.
    ends: Option<[String; 2]>,
}

impl ChangeText {
    /// Returns the interval alone: `1.28–1.34`.
    pub fn interval(&self) -> String {
        self.ends.as_ref().map_or(NONE.into(), |[low, high]| format!("{low}–{high}"))
    }

    /// Returns the factor with its interval: `1.31x slower (1.28 to 1.34)`.
    pub fn with_interval(self) -> String {
        match self.ends {
            Some([low, high]) => format!("{} ({low} to {high})", self.factor),
            None => self.factor,
        }
    }
}

impl<T: JudgedSubject> Judgement<T> {
    /// Formats its change; `None` without a ratio.
    pub fn change(&self) -> Option<ChangeText> {
        Some(change(self.ratio?, self.interval, T::MIN_DIGITS))
    }
}

/// Formats a ratio with at least `min_digits` as a change, with its interval if known.
pub fn change(ratio: f64, interval: Option<[f64; 2]>, min_digits: usize) -> ChangeText {
    if ratio <= 0.0 {
        return ChangeText { factor: NONE.into(), ends: None };
    }
    let is_slower = ratio >= 1.0;
    let turn = |ratio: f64| if is_slower { ratio } else { (1.0 / ratio).min(f64::MAX) };
    let ends = interval.map(|[low, high]| if is_slower { [low, high] } else { [turn(high), turn(low)] });
    let half_width = ends.map(|[low, high]| (high - low) / 2.0);
    let digits = half_width.map_or(0, |half_width| significant_digits(turn(ratio), half_width));
    let digits = digits.max(min_digits);
    let (rounded, decimals) = rounded_factor(turn(ratio), digits);
    let end = |end: f64| if end >= 1e6 { format!("{end:.1e}") } else { format!("{end:.decimals$}") };
    let direction = match is_slower {
        _ if rounded == 1.0 => "",
        true => " slower",
        false => " faster",
    };
    let factor = format!("{}{direction}", factor_within(turn(ratio), digits));
    ChangeText { factor, ends: ends.map(|ends| ends.map(end)) }
}

/// Formats a share in per cent, to a tenth: `5%`, `2.5%`; `>1000%` above 10.
pub fn percent(share: f64) -> String {
    if share > 10.0 {
        return ">1000%".into();
    }
    format!("{}%", percent::rounded(share, 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_are_factors_of_at_least_one_with_their_direction() {
        let text = |ratio, interval| {
            let text = change(ratio, interval, 3);
            (text.interval(), text.with_interval())
        };
        let cases = [
            (1.31, [1.28, 1.34], "1.28–1.34", "1.31x slower (1.28 to 1.34)"),
            (0.832, [0.82, 0.844], "1.18–1.22", "1.20x faster (1.18 to 1.22)"),
            (0.965, [0.93, 1.001], "1.00–1.08", "1.04x faster (1.00 to 1.08)"),
            (1.0042, [1.0039, 1.0045], "1.004–1.004", "1.004x slower (1.004 to 1.004)"),
            (1.001, [0.98, 1.02], "0.98–1.02", "1.00x (0.98 to 1.02)"),
            (28.4, [20.0, 40.0], "20.0–40.0", "28.4x slower (20.0 to 40.0)"),
        ];
        for (ratio, ends, interval, whole) in cases {
            assert_eq!(text(ratio, Some(ends)), (interval.to_owned(), whole.to_owned()));
        }
        assert_eq!(text(5e-324, None), (NONE.to_owned(), "1.8e308x faster".to_owned()));
        assert_eq!(text(0.0, None), (NONE.to_owned(), NONE.to_owned()));
    }

    #[test]
    fn shares_are_short() {
        let shares = [(0.05, "5%"), (0.025, "2.5%"), (0.0333, "3.3%"), (10.0, "1000%"), (10.1, ">1000%")];
        for (share, text) in shares {
            assert_eq!(percent(share), text);
        }
    }
}
