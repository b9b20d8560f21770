use gpubench_report::Side;
use rayon::prelude::*;

use super::*;
use crate::answer::exact;
use crate::answer::tests::{Chance, Law, Noise, TrialVariant, report};
use crate::answer::{Kind, sections};

fn around(value: f64) -> Estimate {
    Estimate { value, low: value * 0.98, high: value / 0.98 }
}

#[test]
fn a_clear_winner_keeps_its_estimate() {
    assert_eq!(of_winner(around(1.0), 2.0, 8), around(1.0));
    assert_eq!(of_winner(around(1.0), 1.0, 1), around(1.0));
    assert_eq!(of_winner(exact(1.0), 1.0, 3), exact(1.0));
}

#[test]
fn the_nearer_the_runner_up_the_higher_the_interval_reaches() {
    let seconds = [1.06, 1.03, 1.01, 1.002, 1.0];
    let found = seconds.map(|second| of_winner(around(1.0), second, 4));
    assert!(found.iter().all(|one| one.value == 1.0 && one.low < 0.995), "{found:?}");
    let ends = found.map(|one| one.high);
    assert!(ends.is_sorted() && ends[0] < 1.021 && ends[4] > 1.03 && ends[4] < 1.04, "{ends:?}");
}

/// Places computed with SciPy from the same equations.
#[test]
fn places_are_those_of_the_paper_s_equations() {
    for (lead, candidates, expected) in
        [(0.25, 2, [-1.62, 3.01]), (0.5, 4, [-1.86, 3.20]), (1.0, 8, [-1.98, 3.25]), (3.0, 2, [-1.98, 2.06])]
    {
        let found = places(lead, candidates).unwrap();
        assert!(found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 0.006), "{lead}: {found:?}");
    }
}

/// The frequency of a true speed-up of 1 below, in and above the interval, and the mean width of the interval, as
/// a logarithm of the ratio of its ends. The times of the variants are as many times the fastest as `times` says.
fn coverage(cpu: &[f64], gpu: &[f64], noise: Noise, trials: u64) -> ([u32; 3], f64) {
    let variant = |side: Side, times: f64| TrialVariant { side, law: Box::new(move |_| 1e-4 * times) as Law };
    let one = |trial: u64| {
        let cpu = cpu.iter().map(|times| variant(Side::Cpu, *times));
        let variants: Vec<TrialVariant> =
            cpu.chain(gpu.iter().map(|times| variant(Side::Gpu, *times))).collect();
        let report = report(&variants, &[100], noise, &mut Chance::new(trial));
        let Estimate { low, high, .. } =
            sections(&report)[0].comparisons[0].pair(Kind::Kernel).unwrap().speed_up.0;
        let place = [low > 1.0, low <= 1.0 && high >= 1.0].iter().position(|is| *is).unwrap_or(2);
        let mut count = [0; 3];
        count[place] = 1;
        (count, (high / low).ln())
    };
    let add = |a: ([u32; 3], f64), b: ([u32; 3], f64)| {
        ([a.0[0] + b.0[0], a.0[1] + b.0[1], a.0[2] + b.0[2]], a.1 + b.1)
    };
    let (counts, width) = (0..trials).into_par_iter().map(one).reduce(|| ([0; 3], 0.0), add);
    (counts, width / trials as f64)
}

const EQUAL: [f64; 8] = [1.0; 8];

/// The GPU's noise decides, so that nothing of the CPU's hides what choosing does.
const NOISE: Noise = Noise { cpu: 0.002, gpu: 0.02 };

#[test]
fn the_speed_up_of_the_best_of_equal_variants_covers_1() {
    for variants in [1, 2, 4, 8] {
        let ([above, within, below], _) = coverage(&[1.0], &EQUAL[..variants], NOISE, 400);
        assert!(
            (376..=392).contains(&within) && above <= 20 && below <= 20,
            "{variants}: {above} {within} {below}"
        );
    }
}

#[test]
fn no_side_gains_from_having_more_variants() {
    let noise = Noise { cpu: 0.02, gpu: 0.02 };
    for (cpu, gpu) in [(1, 8), (8, 1)] {
        let ([above, within, below], _) = coverage(&EQUAL[..cpu], &EQUAL[..gpu], noise, 400);
        assert!(within >= 376 && above.abs_diff(below) <= 14, "{cpu} {gpu}: {above} {within} {below}");
    }
}

#[test]
fn clearly_slower_variants_widen_nothing() {
    let alone = coverage(&[1.0], &[1.0], NOISE, 200).1;
    let ([_, within, _], width) = coverage(&[1.0], &[1.0, 1.2, 1.5, 2.0, 3.0], NOISE, 200);
    assert!(within >= 184 && (width / alone - 1.0).abs() < 0.05, "{within} {width} {alone}");
}

/// The whole study, for the figures in `docs/answer.md`.
#[test]
#[ignore = "minutes; run it with --ignored for the table of docs/answer.md"]
fn study_of_coverage() {
    let mut lines = vec![];
    for noise in [NOISE, Noise { cpu: 0.02, gpu: 0.02 }] {
        for variants in [1, 2, 4, 8] {
            for (name, gap) in [("equal", 0.0), ("0.5 % apart", 0.005), ("20 % apart", 0.2)] {
                let gpu: Vec<f64> = (0..variants).map(|place| 1.0 + gap * f64::from(place)).collect();
                let found = coverage(&[1.0], &gpu, noise, 1000);
                lines.push(format!("cpu {} gpu {}: {variants} {name}: {found:?}", noise.cpu, noise.gpu));
            }
        }
    }
    assert!(lines.is_empty(), "{}", lines.join("\n"));
}
