//! Axes: ranges, ticks and their labels. Linear axes of times show small changes: round ticks, one unit, and outliers left out.

use gpubench_analysis::answer::{Contender, Versus};
use gpubench_report::measure::stats::quantile;
use gpubench_report::report::quantity::{TIME_UNITS, three_digits};

/// The range of an axis; values beyond are drawn at its ends. They leave room for margins: the whole range of float64 less
/// a few decades at either end.
const HELD: (f64, f64) = (1e-250, 1e250);

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Tick {
    pub value: f64,
    pub label: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scale {
    Log,
    Linear,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Axis {
    pub scale: Scale,
    /// The quantity with its unit.
    pub title: String,
    /// The value at its low end, above 0 on a logarithmic axis.
    pub low: f64,
    pub high: f64,
    /// Labelled ticks, ascending.
    pub ticks: Vec<Tick>,
    /// Values of the lighter grid lines, ascending.
    pub minor: Vec<f64>,
}

impl Axis {
    /// An axis of matrix sizes: round sizes have ticks, others lighter lines. Where few are round,
    /// ticks are at round numbers instead.
    pub(crate) fn sizes(title: &str, sizes: &[u64]) -> Axis {
        let values: Vec<f64> = sizes.iter().map(|&n| n as f64).collect();
        let (low, high) = padded(&values, 0.05, 4.0);
        let (round, other): (Vec<u64>, Vec<u64>) = sizes.iter().partition(|n| is_round(**n));
        if round.len() < FEW_ROUND && !other.is_empty() {
            return Axis::decades(title, &values, plain);
        }
        let ticks = round.iter().map(|&n| Tick { value: n as f64, label: n.to_string() }).collect();
        let minor = other.iter().map(|&n| n as f64).collect();
        Axis { scale: Scale::Log, title: title.into(), low, high, ticks, minor }
    }

    /// An axis of ratios that holds `values` and, well inside, 1. Ticks below 1 mirror those above.
    pub(crate) fn ratios(title: &str, values: &[f64], versus: Versus<'_>) -> Axis {
        let mut values = values.to_vec();
        values.extend([0.5, 2.0]);
        let (low, high) = padded(&values, 0.08, 4.0);
        let (ticks, minor) = Spacing::ticks(low, high, |spacing| {
            let above = spacing.values(1.0, high.max(1.0 / low));
            let both = above.into_iter().flat_map(|(factor, labelled)| {
                let mirrored = (factor != 1.0).then_some(1.0 / factor);
                let label = move |ratio| labelled.then(|| ratio_label(ratio, factor, versus));
                mirrored.into_iter().chain([factor]).map(move |ratio| (ratio, label(ratio)))
            });
            both.filter(|(ratio, _)| (low..=high).contains(ratio)).collect()
        });
        Axis { scale: Scale::Log, title: title.into(), low, high, ticks, minor }
    }

    /// A logarithmic axis that holds `values`, with round ones labelled by `label`.
    pub(crate) fn decades(title: &str, values: &[f64], label: impl Fn(f64) -> String) -> Axis {
        let (low, high) = padded(values, 0.06, 4.0);
        let (ticks, minor) = Spacing::ticks(low, high, |spacing| {
            let values = spacing.values(low, high).into_iter();
            values.map(|(value, labelled)| (value, labelled.then(|| label(value)))).collect()
        });
        Axis { scale: Scale::Log, title: title.into(), low, high, ticks, minor }
    }

    /// A linear axis with these ticks.
    pub(crate) fn linear(title: &str, (low, high): (f64, f64), ticks: Vec<Tick>) -> Axis {
        let scale = Scale::Linear;
        Axis { scale, title: title.into(), low, high, ticks, minor: vec![] }
    }

    /// The position of a value between the low end (0) and the high end (1).
    pub(crate) fn fraction(&self, value: f64) -> f64 {
        match self.scale {
            // Differences of logarithms: the ratio of two values may overflow.
            Scale::Log => (held(value).ln() - self.low.ln()) / (self.high.ln() - self.low.ln()),
            Scale::Linear => (value - self.low) / (self.high - self.low),
        }
    }
}

/// Round sizes that an axis needs at least to have its ticks there.
const FEW_ROUND: usize = 3;

/// Returns whether a size is one that people choose: a digit, perhaps a 5, and zeros; a power of two, or three times one,
/// perhaps with zeros. Refinement adds others.
fn is_round(n: u64) -> bool {
    let tenths = std::iter::successors(Some(n), |n| (*n > 0 && n % 10 == 0).then_some(n / 10));
    tenths.last().is_some_and(|n| {
        n < 10 || (n < 100 && n % 5 == 0) || n.is_power_of_two() || (n % 3 == 0 && (n / 3).is_power_of_two())
    })
}

/// Labels that an axis has at least, so that a reader can estimate values between them.
const LEAST_LABELS: usize = 4;

/// The labelled values of a decade, in tenths, from few to many.
const LABELLED: [&[i32]; 5] = [
    &[10],
    &[10, 20, 50],
    &[10, 20, 30, 50],
    &[10, 20, 30, 40, 50, 60, 70, 80, 90],
    &[10, 12, 15, 20, 25, 30, 40, 50, 60, 70, 80, 90],
];

/// The labelled round values: more of them on fewer decades.
struct Spacing {
    /// Tenths that are labelled.
    tenths: &'static [i32],
    /// Decades from one label to the next.
    decades: i32,
}

impl Spacing {
    /// The ticks and the lighter lines of `marks`, each with the label that it may have: the sparsest with enough labels.
    fn ticks(
        low: f64,
        high: f64,
        marks: impl Fn(&Spacing) -> Vec<(f64, Option<String>)>,
    ) -> (Vec<Tick>, Vec<f64>) {
        let decades = ((high.log10() - low.log10()) / 9.0).ceil().max(1.0) as i32;
        let of = |tenths| marks(&Spacing { tenths, decades });
        let suffices = |marks: &Vec<(f64, Option<String>)>| {
            marks.iter().filter(|(_, label)| label.is_some()).count() >= LEAST_LABELS
        };
        let most = || of(LABELLED[LABELLED.len() - 1]);
        let mut marks = LABELLED.into_iter().map(of).find(suffices).unwrap_or_else(most);
        marks.sort_by(|a, b| a.0.total_cmp(&b.0));
        let minor = marks.iter().filter(|(_, label)| label.is_none()).map(|(value, _)| *value).collect();
        let tick = |(value, label): (f64, Option<String>)| Some(Tick { value, label: label? });
        (marks.into_iter().filter_map(tick).collect(), minor)
    }

    /// The round values from `low` to `high`, ascending, and whether each is labelled.
    fn values(&self, low: f64, high: f64) -> Vec<(f64, bool)> {
        let mut values = vec![];
        for exponent in (low.log10().floor() as i32)..=(high.log10().ceil() as i32) {
            for tenths in 10..100 {
                // As close as its decimal text.
                let value = format!("{tenths}e{}", exponent - 1).parse().unwrap_or(f64::NAN);
                let labelled = self.tenths.contains(&tenths) && exponent.rem_euclid(self.decades) == 0;
                // Between labels decades apart, more lines would only be clutter.
                let line =
                    self.decades == 1 && [20, 50].contains(&tenths) || (self.decades == 2 && tenths == 10);
                if (labelled || line) && value >= low && value <= high {
                    values.push((value, labelled));
                }
            }
        }
        values
    }
}

/// The range of `values`, widened on both sides by a share of its logarithm, to a ratio of `least` at least.
fn padded(values: &[f64], share: f64, min_factor: f64) -> (f64, f64) {
    let low = held(values.iter().copied().fold(f64::INFINITY, f64::min));
    let high = held(values.iter().copied().fold(0.0, f64::max));
    let width = high.ln() - low.ln();
    let margin = (width * share).max((min_factor.ln() - width) / 2.0);
    (low * (-margin).exp(), high * margin.exp())
}

/// The value, or the nearest that an axis can hold.
fn held(value: f64) -> f64 {
    value.clamp(HELD.0, HELD.1)
}

/// `20 µs` for a round number of seconds.
pub(crate) fn time_label(seconds: f64) -> String {
    if !(1e-11..1e6).contains(&seconds) {
        return format!("{seconds:e} s");
    }
    let fits = |unit: f64| seconds / unit > 0.9995;
    let (unit, symbol) = TIME_UNITS.into_iter().find(|(unit, _)| fits(*unit)).unwrap_or(TIME_UNITS[3]);
    format!("{} {symbol}", plain(seconds / unit))
}

/// `GPU 10x`, `1x` or `CPU 10x`, for a ratio and its factor, which is at least 1.
fn ratio_label(ratio: f64, factor: f64, versus: Versus<'_>) -> String {
    match ratio {
        1.0 => "1x".into(),
        ratio if ratio > 1.0 => format!("{} {}x", versus.label(Contender::B), plain(factor)),
        _ => format!("{} {}x", versus.label(Contender::A), plain(factor)),
    }
}

/// A round figure without a needless fraction: `20`, `0.05`, `1e-9`.
pub(crate) fn plain(figure: f64) -> String {
    match figure {
        figure if !(1e-4..1e6).contains(&figure) => format!("{figure:e}"),
        figure if figure < 0.9995 => figure.to_string(),
        figure if (figure - figure.round()).abs() < 1e-6 * figure => format!("{figure:.0}"),
        figure => three_digits(figure),
    }
}

/// Values over more than this factor are on a logarithmic axis.
const MOST_LINEAR: f64 = 3.0;
/// The least range of an axis as a share of its middle: less would make noise of a thousandth look like change.
const LEAST_RANGE: f64 = 0.08;

/// An axis of times in seconds that shows `times` and holds `levels`; linear, or logarithmic where the values need it.
///
/// Values far outside of what 90 % of them span are left out, so that one outlier does not flatten the rest.
pub(crate) fn times_axis(title: &str, times: &[f64], levels: &[f64]) -> Axis {
    let (low, high) = span(times, levels);
    if high > MOST_LINEAR * low {
        let all: Vec<f64> = times.iter().chain(levels).copied().collect();
        return Axis::decades(&format!("{title} (log scale)"), &all, time_label);
    }
    let middle = f64::midpoint(low, high);
    let half = ((high - low) * 0.64).max(middle * LEAST_RANGE / 2.0);
    let (low, high) = (middle - half, middle + half);
    let (step, first, last) = step(low, high);
    let (unit, symbol) = TIME_UNITS.into_iter().find(|(unit, _)| high >= *unit).unwrap_or(TIME_UNITS[3]);
    let decimals = (-(step / unit).log10() - 1e-9).ceil().clamp(0.0, 9.0) as usize;
    // A step of 2.5 needs one digit more than its magnitude.
    let last_digits = step / unit * 10f64.powi(decimals as i32);
    let decimals = decimals + usize::from((last_digits - last_digits.round()).abs() >= 1e-6);
    let tick = |index: i64| {
        let value = index as f64 * step;
        let label = match (1e-11..1e6).contains(&value.abs()) {
            true => format!("{:.decimals$} {symbol}", value / unit),
            false => format!("{value:.2e} s"),
        };
        Tick { value, label }
    };
    Axis::linear(title, (low, high), (first..=last).map(tick).collect())
}

/// The range of the levels and of all times but those far outside.
fn span(times: &[f64], levels: &[f64]) -> (f64, f64) {
    let mut sorted = times.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let core = [quantile(&sorted, 0.05), quantile(&sorted, 0.95)];
    let ends = |values: &mut dyn Iterator<Item = f64>| {
        values.fold((f64::INFINITY, 0.0f64), |(low, high), value| (low.min(value), high.max(value)))
    };
    let (low, high) = ends(&mut core.into_iter().chain(levels.iter().copied()));
    let margin = (high - low).max(LEAST_RANGE / 2.0 * low);
    let near = sorted.into_iter().filter(|time| (low - margin..=high + margin).contains(time));
    ends(&mut near.chain([low, high]))
}

/// The least of 1, 2, 2.5 and 5 times a power of ten with no more than six multiples in a range of that width, or
/// the greatest with enough labels in this one; and the first and the last multiple.
fn step(low: f64, high: f64) -> (f64, i64, i64) {
    let min_step = (high - low) / 6.0;
    let power = min_step.log10().floor() as i32;
    let steps = (power - 2..=power + 1)
        .flat_map(|power| [1.0, 2.0, 2.5, 5.0].map(|factor| factor * 10f64.powi(power)));
    let multiples = |step: f64| (step, (low / step).ceil() as i64, (high / step).floor() as i64);
    let enough = steps.map(multiples).filter(|(_, first, last)| last - first + 1 >= LEAST_LABELS as i64);
    let enough: Vec<(f64, i64, i64)> = enough.collect();
    let few = enough.iter().find(|(step, ..)| *step >= min_step);
    few.or(enough.last()).copied().unwrap_or_else(|| multiples(min_step))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chart::tests::text_dump::labels;
    use proptest::prelude::*;

    #[test]
    fn many_decades_have_one_label_each() {
        let axis = Axis::decades("", &[7.68e-6, 0.7438], time_label);
        assert_eq!(labels(&axis), ["10 µs", "100 µs", "1 ms", "10 ms", "100 ms", "1 s"]);
        assert!(axis.minor.contains(&2e-5));
    }

    fn ratios(values: &[f64]) -> Axis {
        Axis::ratios("", values, Versus::SIDES)
    }

    #[test]
    fn ratios_name_the_contenders() {
        let axis = |versus| Axis::ratios("", &[0.2, 6.0], Versus::parse(versus).unwrap());
        assert_eq!(labels(&axis("numpy:cupy")), ["numpy 5x", "numpy 2x", "1x", "cupy 2x", "cupy 5x"]);
        assert_eq!(
            labels(&axis("numpy,torch-cpu:cupy")),
            ["others 5x", "others 2x", "1x", "cupy 2x", "cupy 5x"]
        );
    }

    #[test]
    fn ratios_name_the_winner_and_hold_one() {
        let axis = ratios(&[0.2, 6.0]);
        assert_eq!(labels(&axis), ["CPU 5x", "CPU 2x", "1x", "GPU 2x", "GPU 5x"]);
        let narrow = ratios(&[2.9]);
        assert_eq!(labels(&narrow), ["CPU 2x", "1x", "GPU 2x", "GPU 3x"]);
        let one_sided = ratios(&[70.0]);
        assert_eq!(
            labels(&one_sided),
            ["CPU 2x", "1x", "GPU 2x", "GPU 5x", "GPU 10x", "GPU 20x", "GPU 50x", "GPU 100x"]
        );
    }

    #[test]
    fn ticks_are_at_round_sizes() {
        let axis = Axis::sizes("", &[100, 163, 167, 500, 512, 581, 1536, 1600, 10_000]);
        assert_eq!(labels(&axis), ["100", "500", "512", "1536", "1600", "10000"]);
        assert_eq!(axis.minor, [163.0, 167.0, 581.0]);
        let random = Axis::sizes("", &[113, 417, 1999]);
        assert_eq!(labels(&random), ["100", "200", "500", "1000", "2000"]);
    }

    #[test]
    fn the_ends_of_float64_have_finite_axes_with_short_labels() {
        for values in [[1e308, f64::MAX], [5e-324, 1e-323], [5e-324, f64::MAX], [1e-250, 1e250]] {
            for axis in [Axis::decades("", &values, time_label), ratios(&values)] {
                assert!(0.0 < axis.low && axis.low < axis.high && axis.high.is_finite(), "{axis:?}");
                assert!(values.iter().all(|&v| axis.fraction(v) > 0.0 && axis.fraction(v) < 1.0), "{axis:?}");
                assert!((1..=15).contains(&axis.ticks.len()) && axis.minor.len() < 40, "{axis:?}");
                assert!(labels(&axis).iter().all(|label| label.len() < 12), "{axis:?}");
            }
        }
    }

    #[test]
    fn ticks_are_round_in_one_unit_with_the_digits_they_need() {
        let of = |times: [f64; 2]| labels(&times_axis("", &times, &[])).join(" ");
        assert_eq!(of([12.3e-6, 13.1e-6]), "12.2 µs 12.4 µs 12.6 µs 12.8 µs 13.0 µs 13.2 µs");
        assert_eq!(of([100.0, 140.0]), "100 s 110 s 120 s 130 s 140 s");
    }

    #[test]
    fn one_outlier_is_left_out_and_a_level_never() {
        let mut times = vec![1.0; 40];
        times[7] = 2.9;
        assert!(times_axis("", &times, &[1.0]).high < 1.1);
        assert!(times_axis("", &times, &[1.0, 2.9]).high > 2.9);
    }

    #[test]
    fn values_over_a_large_factor_stand_on_a_logarithmic_axis() {
        let axis = times_axis("", &[1e-3, 2e-3, 9e-3], &[1e-3, 9e-3]);
        assert_eq!(axis.scale, Scale::Log);
        assert!(axis.fraction(1e-3) > 0.0 && axis.fraction(9e-3) < 1.0);
    }

    proptest! {
        #[test]
        fn every_value_lies_inside_and_there_are_four_to_fifteen_labels(
            low in -9.0..3.0f64, width in 0.0..9.0f64,
        ) {
            let values = [10f64.powf(low), 10f64.powf(low + width)];
            for axis in [Axis::decades("", &values, time_label), ratios(&values)] {
                prop_assert!(values.iter().all(|&v| axis.fraction(v) > 0.0 && axis.fraction(v) < 1.0));
                prop_assert!((4..=15).contains(&axis.ticks.len()), "{:?}", labels(&axis));
                prop_assert!(axis.ticks.is_sorted_by(|a, b| a.value < b.value));
            }
        }

        #[test]
        fn axes_are_finite_hold_their_levels_and_have_few_labels(
            times in proptest::collection::vec(-40.0..40.0f64, 1..30), spread in 0.0..2.0f64,
        ) {
            let scale = 10f64.powf(times[0]);
            let times: Vec<f64> = times.iter().map(|t| scale * (1.0 + spread * (t.sin() + 1.0))).collect();
            let axis = times_axis("", &times, &times[..1]);
            prop_assert!(axis.low.is_finite() && axis.high.is_finite() && axis.low < axis.high);
            prop_assert!((0.0..=1.0).contains(&axis.fraction(times[0])));
            prop_assert!((4..=15).contains(&axis.ticks.len()), "{:?}", labels(&axis));
        }
    }
}
