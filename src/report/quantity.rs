//! Figures for people: times with the fitting unit, spreads, errors. Knows no report.

use crate::op::Checked;

/// Units of time, largest first: seconds a unit has, and its symbol.
pub const TIME_UNITS: [(f64, &str); 4] = [(1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns")];

/// A time with three significant digits and the unit that keeps it between 1 and 1000: `7.68 µs`, `41.0 ms`.
///
/// What no unit fits has an exponent: `5.00e-12 s`.
pub fn time_text(seconds: f64) -> String {
    if seconds == 0.0 {
        return "0 s".into();
    }
    if seconds < 1e-11 {
        return format!("{seconds:.2e} s");
    }
    // A figure that rounds to 1000 of a unit is 1.00 of the next.
    let fits = |unit: f64| seconds / unit >= 0.9995;
    let (unit, symbol) = TIME_UNITS.into_iter().find(|(unit, _)| fits(*unit)).unwrap_or(TIME_UNITS[3]);
    format!("{} {symbol}", three_digits(seconds / unit))
}

/// Three significant digits, below 10⁹ without an exponent: `1.23`, `12.3`, `123`, `1234`, `1.23e9`.
pub fn three_digits(figure: f64) -> String {
    match figure.abs() {
        size if size < 9.995 => format!("{figure:.2}"),
        size if size < 99.95 => format!("{figure:.1}"),
        size if size < 1e9 => format!("{figure:.0}"),
        _ => format!("{figure:.2e}"),
    }
}

/// Half the width of an interval relative to its median: `1.2%`.
pub fn spread_text(relative: f64) -> String {
    let percent = 100.0 * relative;
    if percent < 9.95 { format!("{percent:.1}%") } else { format!("{percent:.0}%") }
}

/// The error found: `3.1e-7`; `not finite` for an answer with a NaN or an infinity.
pub fn error_text(error: Checked) -> String {
    if error.value >= f64::MAX { "not finite".into() } else { format!("{:.1e}", error.value) }
}

/// The error as a share of its bound: `2.6%`, or as a multiple where it is far beyond.
pub fn share_text(error: Checked) -> String {
    let share = if error.value == 0.0 { 0.0 } else { error.value / error.bound };
    match share {
        share if !share.is_finite() || share >= 1e6 => ">1e6x".into(),
        share if share >= 10.0 => format!("{share:.0}x"),
        share if share >= 0.0995 => format!("{:.0}%", 100.0 * share),
        share if share >= 0.001 || share == 0.0 => format!("{:.1}%", 100.0 * share),
        _ => "<0.1%".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_take_the_unit_that_fits_and_three_digits() {
        let cases = [
            (0.0, "0 s"),
            (5e-324, "4.94e-324 s"),
            (4e-10, "0.40 ns"),
            (7.678e-6, "7.68 µs"),
            (999.4e-6, "999 µs"),
            (999.6e-6, "1.00 ms"),
            (40.96e-3, "41.0 ms"),
            (0.7438, "744 ms"),
            (12.34, "12.3 s"),
            (1234.5, "1234 s"),
            (1e308, "1.00e308 s"),
        ];
        for (seconds, text) in cases {
            assert_eq!(time_text(seconds), text);
        }
    }

    #[test]
    fn errors_stand_beside_their_share_of_the_bound() {
        let found = |value, bound| {
            let error = Checked { value, bound };
            (error_text(error), share_text(error))
        };
        assert_eq!(found(3.1e-7, 1.2e-5), ("3.1e-7".into(), "2.6%".into()));
        assert_eq!(found(0.5, 1e-5), ("5.0e-1".into(), "50000x".into()));
        assert_eq!(found(f64::MAX, 1e-5), ("not finite".into(), ">1e6x".into()));
        assert_eq!(found(1e-12, 1e-5).1, "<0.1%");
        assert_eq!(found(0.0, 0.0).1, "0.0%");
    }
}
