//! Writes figures for display: times with the fitting unit, intervals, errors.

use gpubench_text::percent;

use crate::Checked;
use crate::measure::stats::significant_digits;

/// Units of time, largest first: seconds a unit has, and its symbol.
pub const TIME_UNITS: [(f64, &str); 4] = [(1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns")];

/// Formats a time with three significant digits and the unit that keeps it between 1 and 1000: `7.68 µs`, `41.0 ms`.
///
/// Times that no unit fits have an exponent: `5.00e-12 s`.
pub fn time_text(seconds: f64) -> String {
    joined(time_parts(seconds))
}

/// Returns the figure and the unit of [`time_text`].
fn time_parts(seconds: f64) -> (String, &'static str) {
    if seconds == 0.0 {
        return ("0".into(), "s");
    }
    if seconds < 1e-11 {
        return (format!("{seconds:.2e}"), "s");
    }
    // A figure that rounds to 1000 of a unit is 1.00 of the next.
    let fits = |unit: f64| seconds / unit >= 0.9995;
    let (unit, symbol) = TIME_UNITS.into_iter().find(|(unit, _)| fits(*unit)).unwrap_or(TIME_UNITS[3]);
    (three_digits(seconds / unit), symbol)
}

/// Formats a time with 2 to 4 significant digits, as half the width of its interval allows: `12.42 µs` within 0.05 %,
/// `12 µs` within 8 %; two digits without an interval.
///
/// One digit alone could move a figure out of its own interval, as 744 ± 37 to 700.
pub fn time_within(seconds: f64, half_width: Option<f64>) -> String {
    joined(parts_within(seconds, half_width))
}

/// Formats a time with the digits of [`time_range`].
pub fn time_precise(seconds: f64) -> String {
    joined(parts_within(seconds, Some(0.0)))
}

/// Formats an interval of times with four significant digits, so that the ends of a narrow one differ: `26.74 to
/// 27.37 µs`, or with both units where they differ.
pub fn time_range(ends: [f64; 2]) -> String {
    let [low, high] = ends.map(|seconds| parts_within(seconds, Some(0.0)));
    let low = if low.1 == high.1 { low.0 } else { joined(low) };
    format!("{low} to {}", joined(high))
}

/// Returns the figure and the unit of [`time_within`].
fn parts_within(seconds: f64, half_width: Option<f64>) -> (String, &'static str) {
    if !(seconds > 1e-11 && seconds < 1e6) {
        return time_parts(seconds);
    }
    let digits = half_width.map_or(2, |half_width| significant_digits(seconds, half_width).max(2));
    let (seconds, place) = rounded(seconds, digits);
    // The unit is chosen by the rounded figure, so that what rounds to 1000 of a unit is 1 of the next.
    let (unit_place, (unit, symbol)) = [0, -3, -6]
        .into_iter()
        .zip(TIME_UNITS)
        .find(|(unit_place, _)| place >= *unit_place)
        .unwrap_or((-9, TIME_UNITS[3]));
    (format!("{:.*}", decimals(digits, place - unit_place), seconds / unit), symbol)
}

fn joined((figure, unit): (String, &str)) -> String {
    format!("{figure} {unit}")
}

/// Formats a factor of at least 1 with `digits` significant digits: `1.47x`, `28x`, `120x`, `1.4e7x`.
pub fn factor_within(factor: f64, digits: usize) -> String {
    factor_digits(factor, digits) + "x"
}

/// Formats a factor as [`factor_within`] does, without the `x`: `1.47`.
pub fn factor_digits(factor: f64, digits: usize) -> String {
    if factor >= 1e6 {
        return format!("{factor:.1e}");
    }
    let (factor, decimals) = rounded_factor(factor, digits);
    format!("{factor:.decimals$}")
}

/// Rounds a factor of at least 1 to `digits` significant digits, and returns the decimals of these: 1.466 is 1.47 with 2.
pub fn rounded_factor(factor: f64, digits: usize) -> (f64, usize) {
    let (factor, place) = rounded(factor, digits);
    (factor, decimals(digits, place))
}

/// Rounds `figure` to `digits` significant digits, and returns the decimal place of the first digit too.
fn rounded(figure: f64, digits: usize) -> (f64, i32) {
    let text = format!("{figure:.*e}", digits.saturating_sub(1));
    let place = text.split_once('e').and_then(|(_, place)| place.parse().ok()).unwrap_or(0);
    (text.parse().unwrap_or(figure), place)
}

/// Returns the decimals that show `digits` significant digits of a figure whose first digit is at `place`.
fn decimals(digits: usize, place: i32) -> usize {
    usize::try_from(digits as i32 - 1 - place).unwrap_or(0)
}

/// Formats a size in memory with its binary unit: `512 B`, `60.0 MiB`.
pub fn bytes_text(bytes: u64) -> String {
    const UNITS: [(f64, &str); 4] =
        [((1u64 << 40) as f64, "TiB"), ((1 << 30) as f64, "GiB"), ((1 << 20) as f64, "MiB"), (1024.0, "KiB")];
    let figure = bytes as f64;
    match UNITS.iter().find(|(unit, _)| figure >= *unit) {
        Some((unit, symbol)) => format!("{} {symbol}", three_digits(figure / unit)),
        None => format!("{bytes} B"),
    }
}

/// Converts bytes to GiB.
pub fn gib(bytes: u64) -> f64 {
    bytes as f64 / f64::from(1u32 << 30)
}

/// Formats a figure with three significant digits, below 10⁹ without an exponent: `1.23`, `12.3`, `123`, `1234`, `1.23e9`.
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
    // Beyond that, a figure says no more.
    if relative > 10.0 { ">1000%".into() } else { percent::short(relative) }
}

/// Returns the error found: `3.1e-7`; `not finite` for an answer with a NaN or an infinity.
pub fn error_text(error: Checked) -> String {
    if error.value >= f64::MAX { "not finite".into() } else { format!("{:.1e}", error.value) }
}

/// Returns the error and its share of the bound: `3.1e-7 (2.6%)`; `0` for an exact answer.
pub fn judged_text(error: Checked) -> String {
    match error.value {
        0.0 => "0".into(),
        _ if error.coarse => format!("{} ({}), coarse", error_text(error), share_text(error)),
        _ => format!("{} ({})", error_text(error), share_text(error)),
    }
}

/// Returns the error as a share of its bound: `2.6%`, or as a multiple where it is far beyond.
pub fn share_text(error: Checked) -> String {
    let share = if error.value == 0.0 { 0.0 } else { error.value / error.bound };
    match share {
        share if !share.is_finite() || share >= 1e6 => ">1e6x".into(),
        share if share >= 10.0 => format!("{share:.0}x"),
        0.0 => percent::short(0.0),
        share => percent::above_tenth(share),
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
    fn the_ends_of_an_interval_share_a_unit_where_they_can() {
        assert_eq!(time_range([26.74e-6, 27.37e-6]), "26.74 to 27.37 µs");
        assert_eq!(time_range([0.9e-3, 1.1e-3]), "900.0 µs to 1.100 ms");
        assert_eq!(time_range([0.0, 1.5]), "0 to 1.500 s");
    }

    #[test]
    fn times_have_no_digit_that_their_interval_does_not_allow() {
        let cases = [
            (12.42e-6, 0.0005, "12.42 µs"),
            (12.42e-6, 0.001, "12.4 µs"),
            (12.42e-6, 0.08, "12 µs"),
            (12.42e-6, 0.5, "12 µs"),
            (0.7438, 0.05, "740 ms"),
            (123.4e-6, 0.012, "120 µs"),
            (999.6e-6, 0.002, "1.0 ms"),
            (999.6e-6, 0.0001, "999.6 µs"),
            (0.996, 0.5, "1.0 s"),
            (0.7438, 0.001, "744 ms"),
            (1234.5, 0.01, "1200 s"),
            (4e-10, 0.0, "0.4000 ns"),
            (9.87e-3, 0.0, "9.870 ms"),
        ];
        for (seconds, relative, text) in cases {
            assert_eq!(time_within(seconds, Some(seconds * relative)), text, "{seconds} ± {relative}");
        }
        assert_eq!(time_within(12.42e-6, None), "12 µs");
        assert_eq!(time_within(744e-9, None), "740 ns");
        assert_eq!(time_within(0.0, Some(0.0)), "0 s");
        assert_eq!(time_within(1e308, Some(0.0)), "1.00e308 s");
        assert_eq!(time_within(5e-324, Some(1.0)), "4.94e-324 s");
    }

    proptest::proptest! {
        #[test]
        fn a_time_reads_back_within_its_interval(seconds in 1e-9f64..1e4, relative in 1e-4f64..0.3) {
            let text = time_within(seconds, Some(seconds * relative));
            let (figure, symbol) = text.split_once(' ').unwrap();
            let unit = TIME_UNITS.iter().find(|(_, known)| *known == symbol).unwrap().0;
            let shown = figure.parse::<f64>().unwrap() * unit;
            // The last digit stands for at most ten half widths, and rounding is off by half of it.
            proptest::prop_assert!((shown - seconds).abs() <= 5.0 * seconds * relative.max(1e-4), "{text}");
            proptest::prop_assert!(figure.parse::<f64>().unwrap() < 1000.0 || symbol == "s");
        }
    }

    #[test]
    fn factors_and_sizes_in_memory_are_short() {
        assert_eq!(factor_within(1.466, 3), "1.47x");
        assert_eq!((rounded_factor(1.466, 3), rounded_factor(123.4, 2)), ((1.47, 2), (120.0, 0)));
        assert_eq!(factor_within(28.4, 2), "28x");
        assert_eq!(factor_within(123.4, 2), "120x");
        assert_eq!(factor_within(99.97, 3), "100x");
        assert_eq!(factor_within(1e300, 4), "1.0e300x");
        assert_eq!(bytes_text(1000), "1000 B");
        assert_eq!(bytes_text(62914560), "60.0 MiB");
    }

    #[test]
    fn errors_are_followed_by_their_share_of_the_bound() {
        assert_eq!(judged_text(Checked::new(3.1e-7, 1.2e-5)), "3.1e-7 (2.6%)");
        let coarse = Checked { coarse: true, ..Checked::new(7.0, 35.0) };
        assert_eq!(judged_text(coarse), "7.0e0 (20%), coarse");
        assert_eq!(judged_text(Checked::new(0.0, 1.2e-5)), "0");
        let found = |value, bound| {
            let error = Checked::new(value, bound);
            (error_text(error), share_text(error))
        };
        assert_eq!(found(3.1e-7, 1.2e-5), ("3.1e-7".into(), "2.6%".into()));
        assert_eq!(found(0.5, 1e-5), ("5.0e-1".into(), "50000x".into()));
        assert_eq!(found(f64::MAX, 1e-5), ("not finite".into(), ">1e6x".into()));
        assert_eq!(found(1e-12, 1e-5).1, "<0.1%");
        assert_eq!(found(0.0, 0.0).1, "0.0%");
    }
}
