//! Logarithmic axes: ranges, ticks and their labels. Knows values, no pixels.

use crate::report::quantity::{TIME_UNITS, three_digits};

/// A labelled place on an axis.
#[derive(Clone, Debug, PartialEq)]
pub struct Tick {
    /// The value.
    pub value: f64,
    /// What stands beside it.
    pub label: String,
}

/// A logarithmic axis.
#[derive(Clone, Debug, PartialEq)]
pub struct Axis {
    /// What it measures, with its unit.
    pub title: String,
    /// The value at its low end, above 0.
    pub low: f64,
    /// The value at its high end.
    pub high: f64,
    /// Labelled ticks, ascending.
    pub ticks: Vec<Tick>,
    /// Values of the lighter grid lines, ascending.
    pub minor: Vec<f64>,
}

impl Axis {
    /// An axis of matrix sizes, with a tick at every size.
    pub fn sizes(title: &str, sizes: &[u64]) -> Axis {
        let values: Vec<f64> = sizes.iter().map(|&n| n as f64).collect();
        let (low, high) = padded(&values, 0.05, 4.0);
        let ticks = sizes.iter().map(|&n| Tick { value: n as f64, label: n.to_string() }).collect();
        Axis { title: title.into(), low, high, ticks, minor: vec![] }
    }

    /// An axis of times in seconds that holds `values`.
    pub fn times(title: &str, values: &[f64]) -> Axis {
        let (low, high) = padded(values, 0.06, 8.0);
        Axis::of_range(title, low, high, time_label)
    }

    /// An axis of ratios that holds `values` and, well inside, 1.
    pub fn ratios(title: &str, values: &[f64]) -> Axis {
        let mut values = values.to_vec();
        values.extend([0.5, 2.0]);
        let (low, high) = padded(&values, 0.08, 4.0);
        Axis::of_range(title, low, high, ratio_label)
    }

    fn of_range(title: &str, low: f64, high: f64, label: fn(f64) -> String) -> Axis {
        let decades = (high / low).log10();
        // One label a decade when they are many, 1-2-5 when they are few.
        let wanted: &[i32] = match decades {
            d if d > 2.2 => &[1],
            d if d > 0.9 => &[1, 2, 5],
            _ => &[1, 2, 3, 4, 5, 6, 7, 8, 9],
        };
        let step = if decades > 9.0 { 2 } else { 1 };
        let (mut ticks, mut minor) = (vec![], vec![]);
        for exponent in (low.log10().floor() as i32)..=(high.log10().ceil() as i32) {
            for digit in 1..=9 {
                let value = scientific(digit, exponent);
                if value < low || value > high {
                    continue;
                }
                if wanted.contains(&digit) && exponent.rem_euclid(step) == 0 {
                    ticks.push(Tick { value, label: label(value) });
                } else if step == 1 || digit == 1 {
                    minor.push(value);
                }
            }
        }
        Axis { title: title.into(), low, high, ticks, minor }
    }

    /// Where a value stands between the low end (0) and the high end (1).
    pub fn fraction(&self, value: f64) -> f64 {
        (value / self.low).ln() / (self.high / self.low).ln()
    }
}

/// `digit` times ten to the `exponent`, as close as its decimal text.
fn scientific(digit: i32, exponent: i32) -> f64 {
    format!("{digit}e{exponent}").parse().unwrap_or(f64::NAN)
}

/// The range of `values`, widened on both sides by a share of its logarithm, to a ratio of `least` at least.
fn padded(values: &[f64], share: f64, least: f64) -> (f64, f64) {
    let low = values.iter().copied().fold(f64::INFINITY, f64::min);
    let high = values.iter().copied().fold(0.0, f64::max);
    let width = (high / low).ln();
    let margin = (width * share).max((least.ln() - width) / 2.0);
    (low * (-margin).exp(), high * margin.exp())
}

/// `20 µs` for a round number of seconds.
fn time_label(seconds: f64) -> String {
    let fits = |unit: f64| seconds / unit > 0.9995;
    let (unit, symbol) = TIME_UNITS.into_iter().find(|(unit, _)| fits(*unit)).unwrap_or(TIME_UNITS[3]);
    let symbol = if symbol == "us" { "µs" } else { symbol };
    format!("{} {symbol}", round(seconds / unit))
}

/// `GPU 10x`, `1x` or `CPU 10x`.
fn ratio_label(ratio: f64) -> String {
    match ratio {
        1.0 => "1x".into(),
        ratio if ratio > 1.0 => format!("GPU {}x", round(ratio)),
        ratio => format!("CPU {}x", round(1.0 / ratio)),
    }
}

/// A number near a round one without a needless fraction: `20`, `1.43`.
fn round(figure: f64) -> String {
    let whole = figure.round();
    if (figure - whole).abs() < 1e-6 * figure { whole.to_string() } else { three_digits(figure) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn labels(axis: &Axis) -> Vec<&str> {
        axis.ticks.iter().map(|tick| tick.label.as_str()).collect()
    }

    #[test]
    fn many_decades_have_one_label_each() {
        let axis = Axis::times("", &[7.68e-6, 0.7438]);
        assert_eq!(labels(&axis), ["10 µs", "100 µs", "1 ms", "10 ms", "100 ms", "1 s"]);
        assert!(axis.minor.contains(&2e-5));
    }

    #[test]
    fn few_decades_have_labels_at_one_two_five() {
        let axis = Axis::times("", &[2e-4, 2e-3]);
        assert_eq!(labels(&axis), ["200 µs", "500 µs", "1 ms", "2 ms"]);
    }

    #[test]
    fn ratios_name_the_winner_and_hold_one() {
        let axis = Axis::ratios("", &[0.2, 3.0]);
        assert_eq!(labels(&axis), ["CPU 5x", "CPU 2x", "1x", "GPU 2x"]);
    }

    #[test]
    fn a_single_size_stands_in_the_middle() {
        let axis = Axis::sizes("", &[1000]);
        assert!((axis.fraction(1000.0) - 0.5).abs() < 1e-12);
    }

    proptest! {
        #[test]
        fn every_value_lies_inside_and_there_are_two_to_twelve_labels(
            low in -9.0..3.0f64, width in 0.0..9.0f64,
        ) {
            let values = [10f64.powf(low), 10f64.powf(low + width)];
            for axis in [Axis::times("", &values), Axis::ratios("", &values)] {
                prop_assert!(values.iter().all(|&v| axis.fraction(v) > 0.0 && axis.fraction(v) < 1.0));
                prop_assert!((2..=12).contains(&axis.ticks.len()), "{:?}", labels(&axis));
                prop_assert!(axis.ticks.is_sorted_by(|a, b| a.value < b.value));
            }
        }
    }
}
