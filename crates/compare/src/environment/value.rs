//! Values of facts, as text or number, and their comparison within a tolerance.

use gpubench_text::control::collapsed;
use gpubench_text::cut::shortened;

/// Maximum number of characters shown of a text.
const SHOWN: usize = 200;

/// The value of a fact, or of one of its items, in a run.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Reading {
    /// The item, such as a library or an op; empty for a fact of one value.
    pub(crate) item: String,
    pub text: String,
    /// The value as a number, if it is one.
    pub figure: Option<f64>,
}

impl Reading {
    /// Creates a text value, collapsed to one line.
    pub(crate) fn text(item: &str, text: &str) -> Reading {
        Reading { item: collapsed(item), text: collapsed(text), figure: None }
    }

    /// Creates a numeric value with its text.
    pub(crate) fn figure(item: &str, figure: f64, text: &str) -> Reading {
        Reading { figure: Some(figure), ..Reading::text(item, text) }
    }
}

/// Largest difference between numbers that count as equal.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Tolerance {
    None,
    /// Absolute difference, in the unit of the number.
    Absolute(f64),
    /// Difference relative to the larger number.
    Relative(f64),
    /// Numbers up to this one are equal. A larger one is a disturbance and equals none, on whichever side it is.
    UpTo(f64),
}

impl Tolerance {
    fn covers(self, a: f64, b: f64) -> bool {
        match self {
            Tolerance::None => a == b,
            Tolerance::Absolute(most) => (a - b).abs() <= most,
            Tolerance::Relative(most) => (a - b).abs() <= most * a.abs().max(b.abs()),
            Tolerance::UpTo(most) => a.max(b) <= most,
        }
    }

    /// Returns whether the reading shows a disturbance of its run.
    pub(super) fn is_exceeded(self, reading: &Reading) -> bool {
        matches!((self, reading.figure), (Tolerance::UpTo(most), Some(figure)) if figure > most)
    }
}

/// Returns true if all readings have the same value.
pub(crate) fn same(readings: &[&Reading], tolerance: Tolerance) -> bool {
    readings.iter().enumerate().all(|(i, a)| readings[..i].iter().all(|b| is_same(a, b, tolerance)))
}

/// Returns the distinct values in words, in the order of the runs.
pub(crate) fn joined(readings: &[Reading], tolerance: Tolerance) -> String {
    let mut distinct: Vec<&Reading> = vec![];
    for reading in readings {
        if !distinct.iter().any(|known| known.text == reading.text || is_same(known, reading, tolerance)) {
            distinct.push(reading);
        }
    }
    distinct.iter().map(|reading| shortened(&reading.text, SHOWN)).collect::<Vec<_>>().join(", ")
}

fn is_same(a: &Reading, b: &Reading, tolerance: Tolerance) -> bool {
    match (a.figure, b.figure) {
        (Some(a), Some(b)) => tolerance.covers(a, b),
        _ => a.text == b.text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn texts_differ_by_more_than_white_space() {
        let text = |text| Reading::text("", text);
        assert!(same(&[&text(" 580.1 "), &text("580.1\n"), &text("580.1")], Tolerance::None));
        assert!(!same(&[&text("580.1"), &text("580.1"), &text("580.2")], Tolerance::None));
        assert!(same(&[], Tolerance::None));
    }

    #[test]
    fn figures_are_the_same_within_the_tolerance_only() {
        let mhz = |figure| Reading::figure("", figure, &format!("{figure} MHz"));
        assert!(same(&[&mhz(1980.0), &mhz(1981.0)], Tolerance::Absolute(1.0)));
        assert!(!same(&[&mhz(1980.0), &mhz(1981.0), &mhz(1982.0)], Tolerance::Absolute(1.0)));
        assert!(!same(&[&mhz(1980.0), &mhz(1981.0)], Tolerance::None));
        assert!(same(&[&mhz(100.0), &mhz(99.0)], Tolerance::Relative(0.01)));
        assert!(!same(&[&mhz(100.0), &mhz(98.9)], Tolerance::Relative(0.01)));
        assert!(!same(&[&mhz(100.0), &Reading::text("", "no limit")], Tolerance::Relative(1.0)));
        assert_eq!(
            joined(&[mhz(1980.0), mhz(1755.0), mhz(1980.5)], Tolerance::Absolute(1.0)),
            "1980 MHz, 1755 MHz"
        );
    }

    proptest! {
        #[test]
        fn what_is_shown_is_one_short_line(text in "\\PC{0,30}[\\s\\PC\u{1b}\n]{0,300}") {
            let reading = Reading::text("", &text);
            let shown = joined(std::slice::from_ref(&reading), Tolerance::None);
            prop_assert!(!shown.chars().any(char::is_control) && shown.chars().count() <= 203);
            prop_assert_eq!(Reading::text("", &reading.text), reading);
        }
    }
}
