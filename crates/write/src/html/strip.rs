//! Draws the samples of a row as a strip of dots: time from left to right, rounds one below the other.

use std::collections::BTreeSet;
use std::fmt::Write;

use gpubench_report::measure::stats::{Summary, quantile};
use gpubench_report::report::Execute;
use gpubench_report::report::quantity::time_text;
use gpubench_text::count::counted;

use super::markup::{Html, classed, element};

/// Steps from left to right that dots are rounded to.
const WIDTH: u32 = 240;
/// Steps of a round from top to bottom, in the order in which its samples were taken.
const LANE: u32 = 9;
/// Rounds that have a lane of their own; of more, all samples share one.
const LANES: usize = 8;

/// The strip with its scale; nothing for a single sample.
pub(crate) fn strip(execute: &Execute) -> Html {
    let samples = &execute.samples_s;
    let Some((low, high)) = range(samples) else { return Html::new() };
    let lanes = lanes(execute);
    let height = lanes.len() as u32 * (LANE + 3) - 3;
    let x = |time: f64| (f64::from(WIDTH) * ((time - low) / (high - low)).clamp(0.0, 1.0)).round() as u32;
    let [from, to] = execute.ci95_s.map(x);
    let band = format!("M{from} -2h{}v{}H{from}z", to.saturating_sub(from).max(1), height + 4);
    let median = format!("M{} -2v{}", x(execute.median_s), height + 4);
    let view = format!("-4 -3 {} {}", WIDTH + 8, height + 6);
    let path = |class: &str, d: &str| classed("path", class).with("d", d);
    let drawing = classed("svg", "strip")
        .with("viewBox", &view)
        .with("role", "img")
        .with("aria-label", "samples: time from left to right, rounds from top to bottom")
        .holding(path("interval", &band))
        .holding(path("median", &median))
        .holding(path("dots", &dots(&lanes, high, x)));
    let ends = [time_text(low), time_text(high)].map(|text| element("span").holding(text));
    let figure = classed("figure", "strip-plot").holding(drawing);
    let figure = figure.holding(classed("div", "ends").holding_all(ends));
    let beyond = samples.iter().filter(|sample| **sample > high).count();
    let mut caption = counted(samples.len(), "sample");
    if lanes.len() > 1 {
        let _ = write!(caption, " in {} rounds, from top to bottom", lanes.len());
    }
    caption.push_str("; line and band: median and its 95 % interval");
    if beyond > 0 {
        let _ = write!(caption, "; {beyond} slower, up to {}, not shown", time_text(execute.max_s));
    }
    figure.holding(element("figcaption").holding(caption + ".")).into()
}

/// The ends of the scale: those of all samples, or of all but a far tail of the slowest twentieth.
fn range(samples: &[f64]) -> Option<(f64, f64)> {
    let found = Summary::of(samples).filter(|found| found.max > found.min)?;
    let mut sorted = samples.to_vec();
    sorted.sort_by(f64::total_cmp);
    let p95 = quantile(&sorted, 0.95);
    let far = p95 + (p95 - found.min);
    let high = if found.max > far && p95 > found.min { far } else { found.max };
    Some((found.min, high))
}

/// The samples of each round, in the order they were taken.
fn lanes(execute: &Execute) -> Vec<Vec<f64>> {
    let rounds: BTreeSet<u32> = execute.rounds.iter().copied().collect();
    if rounds.is_empty() || rounds.len() > LANES {
        return vec![execute.samples_s.clone()];
    }
    gpubench_report::measure::drift::by_round(&execute.samples_s, &execute.rounds)
}

/// One dot per sample; those on the same place are drawn once.
fn dots(lanes: &[Vec<f64>], high: f64, x: impl Fn(f64) -> u32) -> String {
    let mut places = BTreeSet::new();
    for (lane, samples) in lanes.iter().enumerate() {
        let top = lane as u32 * (LANE + 3);
        for (index, sample) in samples.iter().enumerate().filter(|(_, sample)| **sample <= high) {
            let share = (index as f64 + 0.5) / samples.len() as f64;
            places.insert((top + (share * f64::from(LANE)) as u32, x(*sample)));
        }
    }
    let mut path = String::new();
    let mut last = None;
    for (y, x) in places {
        // A step from the dot before, where that is on the same line, is shorter than the place itself.
        let _ = match last.replace((y, x)) {
            Some((line, before)) if line == y => write!(path, "m{} 0h0", x - before),
            _ => write!(path, "M{x} {y}h0"),
        };
    }
    path
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpubench_report::report::example;

    fn drawn(execute: &Execute) -> String {
        strip(execute).into_string()
    }

    #[test]
    fn every_round_has_a_lane_and_every_sample_a_dot() {
        let row = example::measured("fft", 10, "cuda", "r2c", 1e-3);
        let text = drawn(row.execute.as_ref().unwrap());
        assert!(text.contains("12 samples in 3 rounds"), "{text}");
        assert_eq!(text.matches("h0").count(), 12, "{text}");
        assert!(text.contains("viewBox=\"-4 -3 248 39\""), "{text}");
    }

    #[test]
    fn a_far_tail_is_counted_and_does_not_squeeze_the_rest() {
        let mut row = example::measured("fft", 10, "cpu", "realfft", 1e-3);
        let execute = row.execute.as_mut().unwrap();
        execute.samples_s = (0..40).map(|index| 1e-3 + 1e-6 * f64::from(index)).chain([1.0]).collect();
        (execute.rounds, execute.max_s) = (vec![], 1.0);
        let text = drawn(execute);
        assert!(text.contains("1 slower, up to 1.00 s, not shown"), "{text}");
        assert_eq!(text.matches("h0").count(), 40);
    }

    #[test]
    fn equal_samples_and_too_many_rounds_are_drawn() {
        let mut row = example::measured("fft", 10, "cpu", "realfft", 1e-3);
        let execute = row.execute.as_mut().unwrap();
        execute.rounds = (0..12).map(|index| index * 80_000).collect();
        assert!(drawn(execute).contains("12 samples; line"));
        execute.samples_s = vec![1e-3; 12];
        assert_eq!(drawn(execute), "");
        execute.samples_s = vec![];
        assert_eq!(drawn(execute), "");
    }

    #[test]
    fn many_samples_take_few_bytes() {
        let mut row = example::measured("fft", 10, "cpu", "realfft", 1e-3);
        let execute = row.execute.as_mut().unwrap();
        execute.samples_s =
            (0..100_000u32).map(|index| 1e-3 + 1e-9 * f64::from(index.wrapping_mul(7919) % 1000)).collect();
        execute.rounds = vec![];
        assert!(drawn(execute).len() < 40_000);
    }
}
