//! Linear axes of times that show small changes: round ticks, one unit, and outliers left out.

use gpubench_report::measure::stats::quantile;
use gpubench_report::report::quantity::TIME_UNITS;

use super::axis::{Axis, Tick};

/// Values over more than this factor are on a logarithmic axis.
const MOST_LINEAR: f64 = 3.0;
/// Labels that an axis has at least.
const LEAST_LABELS: i64 = 4;
/// The least range of an axis as a share of its middle: less would make noise of a thousandth look like change.
const LEAST_RANGE: f64 = 0.08;

/// An axis of times in seconds that shows `times` and holds `levels`, with at most `ticks` labels; linear, or
/// logarithmic where the values need it.
///
/// Values far outside of what 90 % of them span are left out, so that one outlier does not flatten the rest.
pub fn axis(times: &[f64], levels: &[f64], ticks: usize) -> Axis {
    let (low, high) = span(times, levels);
    if high > MOST_LINEAR * low {
        let all: Vec<f64> = times.iter().chain(levels).copied().collect();
        return Axis::times("", &all);
    }
    let middle = f64::midpoint(low, high);
    let half = ((high - low) * 0.64).max(middle * LEAST_RANGE / 2.0);
    let (low, high) = (middle - half, middle + half);
    let (step, first, last) = step(low, high, ticks);
    let (unit, symbol) = TIME_UNITS.into_iter().find(|(unit, _)| high >= *unit).unwrap_or(TIME_UNITS[3]);
    let decimals = (-(step / unit).log10() - 1e-9).ceil().clamp(0.0, 9.0) as usize;
    // A step of 2.5 needs one digit more than its magnitude.
    let decimals = decimals + usize::from(!is_whole(step / unit * 10f64.powi(decimals as i32)));
    let tick = |index: i64| {
        let value = index as f64 * step;
        Tick { value, label: label(value, unit, symbol, decimals) }
    };
    Axis::linear("", (low, high), (first..=last).map(tick).collect())
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

/// The least of 1, 2, 2.5 and 5 times a power of ten with no more than `max_steps` multiples in a range of that width, or
/// the greatest with enough labels in this one; and the first and the last multiple.
fn step(low: f64, high: f64, max_steps: usize) -> (f64, i64, i64) {
    let min_step = (high - low) / max_steps.max(2) as f64;
    let power = min_step.log10().floor() as i32;
    let steps = (power - 2..=power + 1)
        .flat_map(|power| [1.0, 2.0, 2.5, 5.0].map(|factor| factor * 10f64.powi(power)));
    let multiples = |step: f64| (step, (low / step).ceil() as i64, (high / step).floor() as i64);
    let enough = steps.map(multiples).filter(|(_, first, last)| last - first + 1 >= LEAST_LABELS);
    let enough: Vec<(f64, i64, i64)> = enough.collect();
    let few = enough.iter().find(|(step, ..)| *step >= min_step);
    few.or(enough.last()).copied().unwrap_or_else(|| multiples(min_step))
}

fn is_whole(value: f64) -> bool {
    (value - value.round()).abs() < 1e-6
}

fn label(value: f64, unit: f64, symbol: &str, decimals: usize) -> String {
    if !(1e-11..1e6).contains(&value.abs()) {
        return format!("{value:.2e} s");
    }
    format!("{:.decimals$} {symbol}", value / unit)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chart::axis::Scale;
    use crate::chart::text_dump::labels;
    use proptest::prelude::*;

    #[test]
    fn ticks_are_round_in_one_unit_with_the_digits_they_need() {
        assert_eq!(
            labels(&axis(&[12.3e-6, 13.1e-6], &[], 5)),
            ["12.25 µs", "12.50 µs", "12.75 µs", "13.00 µs"]
        );
        assert_eq!(
            labels(&axis(&[0.9e-3, 1.4e-3], &[], 3)),
            ["0.9 ms", "1.0 ms", "1.1 ms", "1.2 ms", "1.3 ms", "1.4 ms"]
        );
        assert_eq!(labels(&axis(&[100.0, 140.0], &[], 5)), ["100 s", "110 s", "120 s", "130 s", "140 s"]);
    }

    #[test]
    fn one_outlier_is_left_out_and_a_level_never() {
        let mut times = vec![1.0; 40];
        times[7] = 2.9;
        assert!(axis(&times, &[1.0], 5).high < 1.1);
        assert!(axis(&times, &[1.0, 2.9], 5).high > 2.9);
    }

    #[test]
    fn steady_times_do_not_fill_the_axis() {
        let axis = axis(&[1.0, 1.001, 0.999], &[1.0], 5);
        assert!(axis.high - axis.low > 0.079, "{axis:?}");
    }

    #[test]
    fn values_over_a_large_factor_stand_on_a_logarithmic_axis() {
        let axis = axis(&[1e-3, 2e-3, 9e-3], &[1e-3, 9e-3], 5);
        assert_eq!(axis.scale, Scale::Log);
        assert!(axis.fraction(1e-3) > 0.0 && axis.fraction(9e-3) < 1.0);
    }

    proptest! {
        #[test]
        fn axes_are_finite_hold_their_levels_and_have_few_labels(
            times in proptest::collection::vec(-40.0..40.0f64, 1..30), spread in 0.0..2.0f64, ticks in 2usize..9,
        ) {
            let scale = 10f64.powf(times[0]);
            let times: Vec<f64> = times.iter().map(|t| scale * (1.0 + spread * (t.sin() + 1.0))).collect();
            let axis = axis(&times, &times[..1], ticks);
            prop_assert!(axis.low.is_finite() && axis.high.is_finite() && axis.low < axis.high);
            prop_assert!((0.0..=1.0).contains(&axis.fraction(times[0])));
            prop_assert!((4..=15).contains(&axis.ticks.len()), "{:?}", labels(&axis));
            prop_assert!(axis.scale == Scale::Log || axis.ticks.len() <= ticks.max(8) + 1);
        }
    }
}
