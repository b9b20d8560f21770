//! Tests of estimates, and seeded trials of the answer's intervals: rows whose true times are known, sampled by the rule
//! that stops real cells.

use gpubench_ops::Work;
use gpubench_report::Side;
use gpubench_report::data::generator::{Stream, normal};
use gpubench_report::measure::sampling::Sampling;
use gpubench_report::measure::stats::Summary;
use gpubench_report::measure::stopping::{Step, next};
use gpubench_report::report::{Report, Row, example};
use proptest::prelude::*;

use super::*;

/// A true time in seconds for a size.
pub(crate) type Law = Box<dyn Fn(f64) -> f64 + Send + Sync>;

pub(crate) struct TrialVariant {
    pub(crate) side: Side,
    pub(crate) law: Law,
}

/// Relative standard deviation of single executions on either side.
#[derive(Clone, Copy)]
pub(crate) struct Noise {
    pub(crate) cpu: f64,
    pub(crate) gpu: f64,
}

pub(crate) struct Chance {
    stream: Stream,
    next: u64,
}

impl Chance {
    pub(crate) fn new(trial: u64) -> Chance {
        Chance { stream: Stream::new(0x7472_6961_6C73, trial), next: 0 }
    }

    pub(crate) fn between(&mut self, low: f64, high: f64) -> f64 {
        self.next += 1;
        low + (high - low) * self.stream.uniform::<f64>(self.next)
    }

    fn normal(&mut self) -> f64 {
        normal(self.between(0.0, 1.0), self.between(0.0, 1.0))
    }
}

pub(crate) fn report(variants: &[TrialVariant], sizes: &[u64], noise: Noise, chance: &mut Chance) -> Report {
    let mut report = example::empty();
    add_sizes(&mut report, variants, sizes, noise, chance);
    report
}

pub(crate) fn add_sizes(
    report: &mut Report,
    variants: &[TrialVariant],
    sizes: &[u64],
    noise: Noise,
    chance: &mut Chance,
) {
    for &n in sizes {
        for (place, variant) in variants.iter().enumerate() {
            report.rows.push(row(n, place, variant, noise, chance));
        }
    }
}

fn row(n: u64, place: usize, variant: &TrialVariant, noise: Noise, chance: &mut Chance) -> Row {
    let (backend, noise) = match variant.side {
        Side::Cpu => ("cpu", noise.cpu),
        Side::Gpu => ("cuda", noise.gpu),
    };
    let truth = (variant.law)(n as f64);
    let mut row = example::measured("matmul", n, backend, &format!("v{place}"), truth);
    let size = n as f64;
    row.work = Work { flop: 2.0 * size.powi(3), bytes: 12.0 * size.powi(2) };
    let (samples, rounds) = sampled(truth, noise, variant.side, chance);
    let summary = Summary::of(&samples).unwrap();
    let execute = row.execute.as_mut().unwrap();
    (execute.median_s, execute.ci95_s) = (summary.median, [summary.low, summary.high]);
    (execute.host_median_s, execute.host_ci95_s) = (summary.median, Some([summary.low, summary.high]));
    (execute.host_samples_s, execute.samples_s, execute.rounds) = (vec![], samples, rounds);
    row
}

/// The samples of a cell and the round of each.
fn sampled(truth: f64, noise: f64, side: Side, chance: &mut Chance) -> (Vec<f64>, Vec<u32>) {
    let rule = Sampling::default().rule(side);
    let (mut samples, mut rounds, mut round, mut in_round) = (vec![], vec![], 0, 0);
    loop {
        match next(&rule, &samples, in_round, 0.0, round) {
            Step::Take(count) => {
                samples.extend((0..count).map(|_| truth * (noise * chance.normal()).exp()));
                rounds.resize(samples.len(), round);
                in_round += count as usize;
            }
            Step::EndRound => (round, in_round) = (round + 1, 0),
            Step::Stop(_) => return (samples, rounds),
        }
    }
}

#[test]
fn exact_figures_stay_exact() {
    assert_eq!(exact(2.0).plus(exact(3.0)), exact(5.0));
    assert_eq!(exact(3.0).over(exact(2.0)), Some(exact(1.5)));
    assert_eq!(exact(3.0).over(exact(0.0)), None);
    assert_eq!(Estimate { value: 3.0, low: 0.0, high: 4.0 }.over(exact(1.0)), None);
}

#[test]
fn an_interval_beside_an_exact_figure_carries_over_whole() {
    let wide = Estimate { value: 4.0, low: 3.0, high: 6.0 };
    let ratio = wide.over(exact(2.0)).unwrap();
    assert!((ratio.low - 1.5).abs() < 1e-12 && (ratio.high - 3.0).abs() < 1e-12, "{ratio:?}");
    let ratio = exact(12.0).over(wide).unwrap();
    assert!((ratio.low - 2.0).abs() < 1e-12 && (ratio.high - 4.0).abs() < 1e-12, "{ratio:?}");
}

proptest! {
    /// The intervals of two figures at their extremes never give a narrower interval than theirs together.
    #[test]
    fn ratios_lie_within_the_extremes_of_their_intervals(
        a in 1e-6..1e3, b in 1e-6..1e3, share in proptest::array::uniform4(0.0..0.5),
    ) {
        let of = |value: f64, below: f64, above: f64| Estimate {
            value, low: value * (1.0 - below), high: value * (1.0 + above),
        };
        let (a, b) = (of(a, share[0], share[1]), of(b, share[2], share[3]));
        let ratio = a.over(b).unwrap();
        let slack = 1e-9 * ratio.value;
        prop_assert!(ratio.low <= ratio.value && ratio.value <= ratio.high);
        prop_assert!(ratio.low >= a.low / b.high - slack && ratio.high <= a.high / b.low + slack);
        prop_assert!(ratio.low <= (a.low / b.value).min(a.value / b.high) + slack);
        let sum = a.plus(b);
        prop_assert!(sum.low >= a.low + b.low - slack && sum.high <= a.high + b.high + slack * 1e3);
    }
}
