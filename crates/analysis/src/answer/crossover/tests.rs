use gpubench_report::Side;
use gpubench_report::report::{Report, example};
use rayon::prelude::*;

use super::*;
use crate::answer::refinement::next_size;
use crate::answer::sections;
use crate::answer::tests::{Chance, Law, Noise, TrialVariant, add_sizes, report};

/// A report of CPU times N³ and GPU times N² times `overhead`: they cross at N = `overhead`.
fn crossing_at(overhead: f64, sizes: &[u64]) -> Report {
    example::of(sizes.iter().flat_map(|&n| {
        let size = n as f64;
        example::both_sides("matmul", n, 1e-9 * size.powi(3), 1e-9 * overhead * size.powi(2))
    }))
}

fn kernel(report: &Report) -> Crossover<'static> {
    let report: &'static Report = Box::leak(Box::new(report.clone()));
    crossovers(&sections(report)[0]).swap_remove(0)
}

#[test]
fn powers_of_the_size_cross_exactly_between_two_sizes() {
    let found = kernel(&crossing_at(310.0, &[100, 1000, 2000]));
    let Some(Place::At(size)) = found.from else { panic!("{found:?}") };
    assert!((size - 310.0).abs() < 1e-6, "{size}");
    let [Place::At(low), Place::At(high)] = found.interval else { panic!("{found:?}") };
    assert!(low < 310.0 && 310.0 < high && high / low < 1.01, "{low} {high}");
    assert_eq!(found.changes.len(), 1);
    assert!(!found.is_mixed());
}

#[test]
fn a_side_that_is_faster_everywhere_has_no_crossing() {
    let found = kernel(&crossing_at(50.0, &[100, 1000]));
    assert_eq!((found.from, found.interval), (Some(Place::Below), [Place::Below; 2]));
    let found = kernel(&crossing_at(5000.0, &[100, 1000]));
    assert_eq!((found.from, found.interval), (Some(Place::Beyond), [Place::Beyond; 2]));
    assert!(found.changes.is_empty());
}

#[test]
fn a_time_that_falls_between_two_sizes_may_cross_anywhere_between_them() {
    let times = [(16, 5e-6, 50e-6), (59, 70e-6, 900e-6), (70, 98e-6, 55e-6), (128, 328e-6, 66e-6)];
    let pairs = times.map(|(n, cpu_s, gpu_s)| example::both_sides("matmul", n, cpu_s, gpu_s));
    let found = kernel(&example::of(pairs.into_iter().flatten()));
    let [Place::At(low), Place::At(high)] = found.interval else { panic!("{found:?}") };
    assert!(low < 61.0 && high > 69.0, "{low} {high}");
}

/// The same samples at every size, 10 % apart.
fn blurred(overhead: f64) -> Report {
    let mut report = crossing_at(overhead, &[100, 1000]);
    for row in &mut report.rows {
        let execute = row.execute.as_mut().unwrap();
        let middle = execute.median_s;
        for (index, sample) in execute.samples_s.iter_mut().enumerate() {
            *sample = middle * (0.95 + 0.1 * (index % 12) as f64 / 11.0);
        }
        execute.ci95_s = [0.97 * middle, 1.03 * middle];
    }
    report
}

#[test]
fn where_one_end_is_not_measurable_the_other_is_still_known() {
    let found = kernel(&blurred(100.2));
    assert_eq!((found.from, found.interval[0], found.changes.len()), (None, Place::Below, 0));
    assert!(matches!(found.interval[1], Place::At(size) if (101.0..300.0).contains(&size)), "{found:?}");
    let found = kernel(&blurred(999.0));
    assert_eq!((found.from, found.interval[1]), (None, Place::Beyond));
    assert!(matches!(found.interval[0], Place::At(size) if (150.0..999.0).contains(&size)), "{found:?}");
    let winners: Vec<Option<Contender>> = found.stretches.iter().map(|stretch| stretch.winner).collect();
    assert_eq!(winners, [Some(Contender::A), None]);
}

#[test]
fn every_change_beyond_doubt_is_found_and_the_last_one_counts() {
    let times = [(100, 0.5e-3), (200, 2e-3), (400, 2e-3), (800, 0.5e-3)];
    let pairs = times.map(|(n, gpu_s)| example::both_sides("fft", n, 1e-3, gpu_s));
    let mut report = example::of(pairs.into_iter().flatten());
    let found = kernel(&report);
    let sides: Vec<Contender> = found.changes.iter().map(|(_, above)| *above).collect();
    assert_eq!(sides, [Contender::A, Contender::B]);
    assert!(
        found.is_mixed() && matches!(found.from, Some(Place::At(size)) if (400.0..800.0).contains(&size))
    );
    report.rows.truncate(6);
    assert_eq!(kernel(&report).from, Some(Place::Beyond));
}

/// The law of a variant's times, in logarithms of size and time.
type LogLaw = Box<dyn Fn(f64) -> f64 + Send + Sync>;

/// Shapes of laws: each side has one variant of a shape, or two where variants switch.
const SHAPES: [&str; 4] = ["power", "overhead", "kink", "switch"];

fn side(shape: &str, [from, to]: [f64; 2], chance: &mut Chance) -> Vec<LogLaw> {
    let overhead = |chance: &mut Chance| -> LogLaw {
        let (power, even) = (chance.between(1.5, 3.0), chance.between(from - 1.5, to));
        Box::new(move |x| (1.0 + (power * (x - even)).exp()).ln())
    };
    match shape {
        "power" => {
            let power = chance.between(0.5, 3.0);
            vec![Box::new(move |x| power * x)]
        }
        "kink" => {
            let slopes = [chance.between(0.0, 3.0), chance.between(0.0, 3.0)];
            let at = chance.between(from, to);
            vec![Box::new(move |x| slopes[usize::from(x > at)] * (x - at))]
        }
        "overhead" => vec![overhead(chance)],
        _ => {
            let (first, second, at) = (overhead(chance), overhead(chance), chance.between(from, to));
            let apart = first(at) - second(at);
            vec![first, Box::new(move |x| second(x) + apart)]
        }
    }
}

/// Variants of both sides that cross at one size only, at which the GPU becomes the faster, and that size.
fn laws(shape: &str, sizes: &[u64], chance: &mut Chance) -> (Vec<TrialVariant>, f64) {
    let range = [sizes[0] as f64, sizes[sizes.len() - 1] as f64].map(f64::ln);
    let fastest = |laws: &[LogLaw], x: f64| laws.iter().map(|law| law(x)).fold(f64::INFINITY, f64::min);
    loop {
        let (cpu, gpu) = (side(shape, range, chance), side(shape, range, chance));
        let truth = chance.between(range[0], range[1]);
        let apart = fastest(&cpu, truth) - fastest(&gpu, truth);
        let ratio = |x: f64| fastest(&cpu, x) - fastest(&gpu, x) - apart;
        let steps: Vec<f64> =
            (0..=400).map(|step| ratio(range[0] + (range[1] - range[0]) * f64::from(step) / 400.0)).collect();
        let changes = steps.windows(2).filter(|pair| (pair[0] < 0.0) != (pair[1] < 0.0)).count();
        if changes != 1 || steps[0] > -0.1 || steps[400] < 0.1 {
            continue;
        }
        let variant = |side, law: LogLaw, apart: f64| TrialVariant {
            side,
            law: Box::new(move |n: f64| 1e-4 * (law(n.ln()) + apart).exp()) as Law,
        };
        let cpu = cpu.into_iter().map(|law| variant(Side::Cpu, law, 0.0));
        let gpu = gpu.into_iter().map(|law| variant(Side::Gpu, law, apart));
        return (cpu.chain(gpu).collect(), truth.exp());
    }
}

/// The results of trials.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Found {
    named: u32,
    covered: u32,
    /// Intervals within 5 % of their middle.
    narrow: u32,
}

impl Found {
    fn of(found: &Crossover<'_>, truth: f64) -> Found {
        let (Some(Place::At(_)), [Place::At(low), Place::At(high)]) = (found.from, found.interval) else {
            return Found::default();
        };
        let narrow = (high / low).sqrt() <= 1.05;
        Found { named: 1, covered: u32::from(low <= truth && truth <= high), narrow: u32::from(narrow) }
    }

    fn plus(self, other: Found) -> Found {
        Found {
            named: self.named + other.named,
            covered: self.covered + other.covered,
            narrow: self.narrow + other.narrow,
        }
    }

    fn coverage(self) -> f64 {
        f64::from(self.covered) / f64::from(self.named)
    }
}

/// Seeded sweeps over laws of one shape, with `added` sizes at most near each crossing.
fn sweeps(shape: &str, sizes: &[u64], noise: f64, added: u32, trials: u64) -> Found {
    let one = |trial: u64| {
        let mut chance = Chance::new(trial);
        let (variants, truth) = laws(shape, sizes, &mut chance);
        let noise = Noise { cpu: noise, gpu: noise };
        let mut report = report(&variants, sizes, noise, &mut chance);
        for _ in 0..added {
            let Some(next) = next_size(&sections(&report)[0].comparisons, Kind::Kernel) else { break };
            add_sizes(&mut report, &variants, &[next.n], noise, &mut chance);
        }
        Found::of(&kernel(&report), truth)
    };
    (0..trials).into_par_iter().map(one).reduce(Found::default, Found::plus)
}

/// The interval includes the true size between distant sizes, for each shape of the law.
#[test]
fn intervals_cover_the_true_size_between_distant_sizes() {
    for (shape, min_coverage) in SHAPES.into_iter().zip([0.92, 0.96, 0.92, 0.96]) {
        let sizes = [&[32, 128, 512][..], &[100, 500, 1000, 5000, 10_000]];
        let found = sizes.map(|sizes| sweeps(shape, sizes, 0.02, 0, 80));
        let all = found[0].plus(found[1]);
        assert!(all.named >= 150 && all.coverage() >= min_coverage, "{shape}: {found:?}");
    }
}

/// One or two more sizes near the crossing make the interval narrow, and it still covers.
#[test]
fn two_added_sizes_narrow_the_interval_to_five_percent() {
    for shape in SHAPES {
        let before = sweeps(shape, &[32, 128, 512], 0.005, 0, 60);
        let after = sweeps(shape, &[32, 128, 512], 0.005, 2, 60);
        assert!(after.narrow >= 51 && after.coverage() >= 0.9, "{shape}: {before:?} {after:?}");
        assert!(shape == "power" || before.narrow <= 35, "{shape}: {before:?}");
    }
}

/// Two sides that are equal at every size: none is ever said to be faster from a size on.
#[test]
fn equal_sides_have_no_crossing() {
    let law = || -> Law { Box::new(|n: f64| 1e-9 * n.powi(2)) };
    let equal = || [Side::Cpu, Side::Gpu].map(|side| TrialVariant { side, law: law() });
    let noise = Noise { cpu: 0.02, gpu: 0.02 };
    let named = (0..400u64).into_par_iter().filter(|trial| {
        let report = report(&equal(), &[50, 100, 150, 200, 300], noise, &mut Chance::new(*trial));
        !kernel(&report).changes.is_empty()
    });
    assert_eq!(named.count(), 0);
}

/// The whole study, for the figures in `docs/answer.md`.
#[test]
#[ignore = "minutes; run it with --ignored --nocapture for the table of docs/answer.md"]
fn study_of_coverage() {
    let sizes: [&[u64]; 4] = [
        &[20, 300],
        &[32, 128, 512],
        &[100, 500, 1000, 5000, 10_000],
        &[64, 128, 256, 512, 1024, 2048, 4096, 8192, 16_384],
    ];
    let mut lines = vec![];
    for sizes in sizes {
        for shape in SHAPES {
            for (noise, added) in [(0.005, 0), (0.005, 2), (0.02, 0), (0.02, 2)] {
                let found = sweeps(shape, sizes, noise, added, 300);
                lines.push(format!(
                    "{sizes:?} {shape} noise {noise} added {added}: {found:?} {:.3}",
                    found.coverage()
                ));
            }
        }
    }
    assert!(lines.is_empty(), "{}", lines.join("\n"));
}
