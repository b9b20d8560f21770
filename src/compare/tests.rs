//! What the gate promises, over many seeded sweeps.

use super::self_test::rehearsal::{self, Noise, REALISTIC};
use super::*;
use crate::case::Cell;
use crate::report::Report;

fn side(reports: Vec<Report>) -> Runs {
    let run = |(k, report)| Run { name: format!("run {k}"), report };
    Runs { runs: reports.into_iter().enumerate().map(run).collect(), ..Runs::default() }
}

fn rehearsed(seeds: std::ops::Range<u64>, noise: &Noise, factor: &dyn Fn(&Cell) -> f64) -> Runs {
    side(seeds.map(|seed| rehearsal::run(seed, noise, factor)).collect())
}

fn with_threshold(threshold: f64) -> Policy {
    Policy { defaults: Limits { threshold: Some(threshold), ..Limits::default() }, ..Policy::default() }
}

/// Share of 1 000 comparisons of `runs` a side, nothing changed, that find a regression.
fn false_alarms(runs: u64, policy: &Policy) -> f64 {
    use rayon::prelude::*;
    let trips = |trial: &u64| {
        let first = 2 * runs * trial;
        let [old, new] =
            [first, first + runs].map(|first| rehearsed(first..first + runs, &REALISTIC, &|_| 1.0));
        compare(&old, &new, policy).gate.conclusion == Conclusion::Regression
    };
    (0..1000u64).into_par_iter().filter(trips).count() as f64 / 1000.0
}

#[test]
fn of_a_thousand_comparisons_without_a_change_at_most_one_in_a_hundred_finds_one() {
    for (runs, policy) in [(1, Policy::default()), (3, with_threshold(0.03)), (3, with_threshold(0.0))] {
        let share = false_alarms(runs, &policy);
        println!("{runs} runs a side, threshold {:?}: {share}", policy.defaults.threshold);
        assert!(share <= 0.01, "{runs} runs a side, threshold {:?}: {share}", policy.defaults.threshold);
    }
}

#[test]
fn a_slowdown_of_five_percent_in_one_cell_of_sixty_is_found_by_three_runs_a_side() {
    let policy = with_threshold(0.03);
    let is_planted = |cell: &Cell| cell.case.op == "fft" && cell.case.n == 2000 && cell.backend == "cuda";
    let found = |trial: &u64| {
        let first = 1_000_000 + 6 * trial;
        let old = rehearsed(first..first + 3, &REALISTIC, &|_| 1.0);
        let new =
            rehearsed(first + 3..first + 6, &REALISTIC, &|cell| if is_planted(cell) { 1.05 } else { 1.0 });
        let slower = compare(&old, &new, &policy).cells;
        slower
            .iter()
            .filter(|change| change.verdict == Verdict::Slower)
            .all(|change| is_planted(&change.cell()))
            && slower[0].verdict == Verdict::Slower
    };
    use rayon::prelude::*;
    let share = (0..400u64).into_par_iter().filter(found).count() as f64 / 400.0;
    println!("power {share}");
    assert!(share >= 0.95, "{share}");
}

#[test]
fn the_interval_of_the_ratio_covers_it_as_often_as_it_says() {
    for runs in [2, 3, 5] {
        let (mut covered, mut all) = (0.0, 0.0);
        for trial in 0..40 {
            let first = 2_000_000 + 10 * trial;
            let old = rehearsed(first..first + runs, &REALISTIC, &|_| 1.0);
            let new = rehearsed(first + 5..first + 5 + runs, &REALISTIC, &|_| 1.1);
            for change in compare(&old, &new, &Policy::default()).cells {
                let [low, high] = change.interval.unwrap();
                covered += f64::from(u8::from((low..=high).contains(&1.1)));
                all += 1.0;
            }
        }
        println!("{runs}: {}", covered / all);
        assert!((0.93..=0.99).contains(&(covered / all)), "{runs} runs a side: {}", covered / all);
    }
}

#[test]
fn cells_of_very_different_spread_raise_no_more_false_alarms() {
    use rayon::prelude::*;
    // From run to run each cell scatters by its own share: log-normal, 4 % on the median cell and 16 % on some.
    let one = |seed: u64| {
        let factor = |cell: &Cell| {
            let of_cell =
                cell.case.n * 31 + u64::from(cell.case.op.as_bytes()[0]) + 1000 * cell.backend.len() as u64;
            let spread = 0.04 * (0.7 * rehearsal::normal(12_345, of_cell)).exp();
            (spread * rehearsal::normal(seed, of_cell)).exp()
        };
        rehearsal::run(seed, &Noise { run: 0.0, ..REALISTIC }, &factor)
    };
    for runs in [2, 3] {
        let trips = |trial: &u64| {
            let first = 10_000_000 + 2 * runs * trial;
            let [old, new] =
                [first, first + runs].map(|first| side((first..first + runs).map(one).collect()));
            compare(&old, &new, &with_threshold(0.05)).gate.conclusion == Conclusion::Regression
        };
        let share = (0..300u64).into_par_iter().filter(trips).count() as f64 / 300.0;
        assert!(share <= 0.01, "{runs} runs a side: {share}");
    }
}
