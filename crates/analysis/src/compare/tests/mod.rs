//! Tests the guarantees of the gate on many seeded sweeps.

use gpubench_ops::Checked;
use gpubench_report::Accuracy;
use gpubench_report::case::Cell;
use gpubench_report::report::example::trials;
use gpubench_report::report::{BackendState, Outcome, Report, Row};
use rayon::prelude::*;

use self::simulated_runs::{Noise, REALISTIC};
use super::*;
use crate::compare::planning::{Calibrated, calibrate};
use crate::compare::result::Conclusion;

pub(crate) mod simulated_runs;
mod study;

fn side(reports: Vec<Report>) -> Runs {
    let run = |(k, report)| Run { name: format!("run {k}"), report };
    Runs { runs: reports.into_iter().enumerate().map(run).collect(), ..Runs::default() }
}

fn simulated(seeds: std::ops::Range<u64>, noise: &Noise, factor: &dyn Fn(&Cell) -> f64) -> Runs {
    side(seeds.map(|seed| simulated_runs::run(seed, noise, factor)).collect())
}

fn with_threshold(threshold: f64) -> Policy {
    Policy { defaults: Limits { threshold: Some(threshold), ..Limits::default() }, ..Policy::default() }
}

/// Two runs, the second changed by `change` in the cell of `fft` at N = 2000 on the GPU.
fn with_change(change: impl Fn(&mut Row)) -> (Runs, Runs) {
    let old = simulated_runs::run(1, &REALISTIC, &|_| 1.0);
    let mut new = simulated_runs::run(2, &REALISTIC, &|_| 1.0);
    new.rows.iter_mut().filter(|row| is_changed(&row.cell())).for_each(change);
    (side(vec![old]), side(vec![new]))
}

fn is_changed(cell: &Cell) -> bool {
    cell.case.op == "fft" && cell.case.n == 2000 && cell.backend == "cuda"
}

fn changed(comparison: &Comparison) -> &Change {
    comparison.cells.iter().find(|change| is_changed(change.cell())).unwrap()
}

fn set_clock(runs: &mut Runs, mhz: f64) {
    let rows = runs.runs.iter_mut().flat_map(|run| &mut run.report.rows);
    for execute in rows.filter_map(|row| row.execute.as_mut()) {
        execute.sm_mhz = vec![mhz; execute.samples_s.len()];
    }
}

#[test]
fn a_slowdown_that_a_lower_clock_explains_is_not_called_one() {
    let verdict = |factor: f64, mhz: f64| {
        let (mut old, mut new) = with_change(|row| row.execute.as_mut().unwrap().scale(factor));
        set_clock(&mut old, 1980.0);
        set_clock(&mut new, mhz);
        let change = changed(&compare(&old, &new, &Policy::default())).clone();
        (change.verdict, change.inconclusive_reason)
    };
    assert_eq!(verdict(1.2, 1650.0), (Verdict::Inconclusive, Some(InconclusiveReason::LowerClock)));
    assert_eq!(verdict(1.2, 1980.0), (Verdict::Slower, None));
    // The clock explains a fifth of it, and not the rest.
    assert_eq!(verdict(1.6, 1650.0), (Verdict::Slower, None));
    assert_eq!(verdict(1.0 / 1.2, 2376.0), (Verdict::Inconclusive, Some(InconclusiveReason::MaybeFaster)));
    assert_eq!(verdict(1.0 / 1.2, 1980.0), (Verdict::Faster, None));
}

#[test]
fn errors_that_grow_beyond_rounding_make_a_cell_less_accurate() {
    let verdict = |was: f64, is: f64| {
        let (mut old, new) = with_change(|row| row.error = Some(Checked::new(is, 1e-3)));
        let rows = &mut old.runs[0].report.rows;
        rows.iter_mut().for_each(|row| row.error = Some(Checked::new(was, 1e-3)));
        changed(&compare(&old, &new, &Policy::default())).verdict
    };
    assert_eq!(verdict(1e-4, 5e-4), Verdict::LessAccurate);
    assert_ne!(verdict(1e-4, 3e-4), Verdict::LessAccurate);
    // Below a tenth of the bound any growth counts as rounding.
    assert_ne!(verdict(5e-6, 6.7e-5), Verdict::LessAccurate);
    assert_ne!(verdict(0.0, 9e-5), Verdict::LessAccurate);
    assert_eq!(verdict(5e-6, 1.1e-4), Verdict::LessAccurate);
}

/// Runs of one sweep, those of NEW with CPU times 1.5 times as long; each side with its share of other programs.
fn disturbed(old: f64, new: f64) -> [Runs; 2] {
    let slower = |cell: &Cell| if cell.backend == "cpu" { 1.5 } else { 1.0 };
    let mut sides = [simulated(1..4, &REALISTIC, &|_| 1.0), simulated(4..7, &REALISTIC, &slower)];
    for (side, share) in sides.iter_mut().zip([old, new]) {
        side.runs.iter_mut().for_each(|run| run.report.environment.other_programs = Some(share));
    }
    sides
}

#[test]
fn disturbed_runs_are_inconclusive_and_the_next_step_names_the_side() {
    for (shares, side) in [([0.05, 0.95], "NEW"), ([0.95, 0.05], "OLD"), ([0.5, 0.9], "OLD and NEW")] {
        let [old, new] = disturbed(shares[0], shares[1]);
        let comparison = compare(&old, &new, &Policy::default());
        assert_eq!(comparison.gate.exit_code, 3, "{side}: {:?}", comparison.gate);
        let next = comparison.gate.next.as_ref().unwrap().to_string();
        assert!(next.starts_with(&format!("close other programs and measure {side} again, or")), "{next}");
        let of_cpu = comparison.cells.iter().filter(|change| change.cell().backend == "cpu");
        for change in of_cpu.filter(|change| change.p.is_some()) {
            assert_eq!(change.inconclusive_reason, Some(InconclusiveReason::Disturbed), "{change:?}");
        }
        assert!(comparison.mean_changes.iter().all(|mean| !mean.is_regression()), "{side}");
        // Times of the GPU keep their verdicts.
        let of_gpu = comparison.cells.iter().filter(|change| change.cell().backend == "cuda");
        assert!(of_gpu.clone().count() > 0 && of_gpu.clone().any(|change| change.verdict == Verdict::Same));
    }
}

#[test]
fn quiet_runs_and_a_policy_keep_the_verdicts() {
    let verdict = |shares: [f64; 2], policy: &Policy| {
        let [old, new] = disturbed(shares[0], shares[1]);
        compare(&old, &new, policy).gate.exit_code
    };
    assert_eq!(verdict([0.05, 0.08], &Policy::default()), 1);
    let warn = [("other-programs".to_owned(), Severity::Warn)].into();
    assert_eq!(verdict([0.05, 0.9], &Policy { severities: warn, ..Policy::default() }), 1);
    assert_eq!(verdict([0.05, 0.9], &Policy { accept_inconclusive: true, ..Policy::default() }), 0);
}

#[test]
fn sides_measured_one_after_the_other_and_swapped_ones_get_a_note() {
    let noted = |text: &str, starts: [&[u32]; 2]| {
        let sides = starts.map(|hours| {
            let mut side = simulated(1..1 + hours.len() as u64, &REALISTIC, &|_| 1.0);
            for (run, hour) in side.runs.iter_mut().zip(hours) {
                run.report.environment.started = format!("2026-11-21T{hour:02}:00:00Z");
            }
            side
        });
        let notes = compare(&sides[0], &sides[1], &Policy::default()).notes;
        notes.iter().any(|note| note.text.contains(text))
    };
    let [follow, swapped] = ["do not alternate", "so the sides may be swapped"];
    assert!(noted(follow, [&[1, 2, 3], &[4, 5, 6]]) && noted(follow, [&[4, 5], &[1, 2, 3]]));
    assert!(!noted(follow, [&[1, 3, 5], &[2, 4, 6]]));
    // One run per side cannot alternate.
    assert!(!noted(follow, [&[1], &[2]]));
    assert!(noted(swapped, [&[4, 5], &[1, 2, 3]]) && noted(swapped, [&[2], &[1]]));
    assert!(!noted(swapped, [&[1], &[2]]));
}

#[test]
fn times_of_other_operands_clocks_or_accuracies_are_not_compared() {
    type Change = fn(&mut Row);
    let cases: [(Change, &str, &str); 3] = [
        (
            |row| row.inputs = Some("b".into()),
            "the operands differ although the seed is the same",
            "run both sides with the same build",
        ),
        (
            |row| row.execute.as_mut().unwrap().clock = gpubench_report::report::Clock::Host,
            "some runs were timed by the ",
            "run both sides again, on the same kind of device",
        ),
        (
            |row| row.accuracy = Accuracy::Tf32,
            "the variant's accuracy class is ieee in some runs and tf32 in others",
            "compare builds in which this variant has the same accuracy class",
        ),
    ];
    for (change, reason, next) in cases {
        let (mut old, new) = with_change(change);
        old.runs[0].report.rows.iter_mut().for_each(|row| row.inputs = Some("a".into()));
        // Accepting inconclusive cells does not accept these.
        let policy = Policy { accept_inconclusive: true, ..Policy::default() };
        let comparison = compare(&old, &new, &policy);
        let found = changed(&comparison);
        assert_eq!(found.inconclusive_reason, Some(InconclusiveReason::NotComparable));
        assert!(found.reason.starts_with(reason), "{}", found.reason);
        assert_eq!((comparison.gate.exit_code, found.p, found.next.as_deref()), (3, None, Some(next)));
    }
}

#[test]
fn a_doubling_of_all_cells_with_one_run_per_side_asks_for_more_runs() {
    let old = side(vec![simulated_runs::run(1, &REALISTIC, &|_| 1.0)]);
    let new = side(vec![simulated_runs::run(2, &REALISTIC, &|cell| {
        if cell.backend == "cuda" { 2.0 } else { 1.0 }
    })]);
    let comparison = compare(&old, &new, &Policy::default());
    let change = changed(&comparison);
    assert_eq!(
        change.next.as_deref(),
        Some(
            "give 3 runs per side (--old A B C --new D E F) or two or more earlier runs as --history: one run shows no \
            variation"
        )
    );
}

#[test]
fn other_machines_are_refused_or_give_ratios_alone() {
    let (mut old, mut new) = with_change(|row| row.execute.as_mut().unwrap().scale(3.0));
    for (runs, name) in [(&mut old, "NVIDIA H200"), (&mut new, "NVIDIA H100")] {
        runs.runs[0].report.environment.backends = vec![BackendState {
            name: "cuda".into(),
            available: true,
            description: serde_json::json!({ "name": name }),
            ..BackendState::default()
        }];
    }
    let refused = compare(&old, &new, &Policy::default());
    assert_eq!((refused.gate.conclusion, refused.gate.exit_code), (Conclusion::NotComparable, 2));
    assert!(refused.gate.reason.contains("H100"), "{}", refused.gate.reason);
    assert!(refused.cells.iter().all(|change| change.verdict == Verdict::NotJudged));
    let across = compare(&old, &new, &Policy { cross_machine: true, ..Policy::default() });
    assert_eq!((across.gate.conclusion, across.gate.exit_code), (Conclusion::RatiosOnly, 0));
    assert!(across.cells.iter().all(|change| change.verdict == Verdict::NotJudged));
    assert!(changed(&across).ratio.unwrap() > 2.5);
    // On one machine, too, if ratios alone are wanted.
    let (old, new) = with_change(|row| row.execute.as_mut().unwrap().scale(3.0));
    let ratios = compare(&old, &new, &Policy { cross_machine: true, ..Policy::default() });
    assert!(ratios.cells.iter().all(|change| change.verdict == Verdict::NotJudged));
}

/// The verdicts of the means of the GPU, after a change of all its cells.
fn of_means(runs: u64, factor: f64, mhz: f64, limits: Limits) -> Vec<(Verdict, Option<InconclusiveReason>)> {
    let slower = |cell: &Cell| if cell.backend == "cuda" { factor } else { 1.0 };
    let mut old = simulated(1..1 + runs, &REALISTIC, &|_| 1.0);
    let mut new = simulated(11..11 + runs, &REALISTIC, &slower);
    set_clock(&mut old, 1980.0);
    set_clock(&mut new, mhz);
    let comparison = compare(&old, &new, &Policy { defaults: limits, ..Policy::default() });
    let means = comparison.mean_changes.iter().filter(|mean| mean.subject.backend.as_deref() == Some("cuda"));
    means.map(|mean| (mean.verdict, mean.inconclusive_reason)).collect()
}

#[test]
fn means_have_their_threshold_clock_and_variation() {
    let (slower, clock) =
        ((Verdict::Slower, None), (Verdict::Inconclusive, Some(InconclusiveReason::LowerClock)));
    let has = |found: Vec<_>, verdict| !found.is_empty() && found.iter().all(|one| *one == verdict);
    let limits = Limits::default();
    assert!(has(of_means(3, 1.2, 1980.0, limits), slower));
    assert!(has(of_means(3, 1.2, 1650.0, limits), clock));
    // The clock explains a part of it.
    assert!(has(of_means(3, 1.6, 1650.0, limits), slower));
    let wide = Limits { mean_threshold: Some(0.5), ..limits };
    assert!(of_means(3, 1.2, 1980.0, wide).iter().all(|one| *one != slower));
    // One run per side shows no variation: a cautious one is assumed, unless the policy knows it.
    assert!(of_means(1, 1.1, 1980.0, limits).iter().all(|one| *one != slower));
    let known = Limits { variation_between_runs: Some(0.001), ..limits };
    assert!(has(of_means(1, 1.1, 1980.0, known), slower));
}

#[test]
fn only_a_cell_that_fails_more_often_than_before_is_newly_failed() {
    let runs = |first: u64, failing: usize, factor: f64| {
        let run = |k: usize| {
            let mut report = simulated_runs::run(first + k as u64, &REALISTIC, &|_| 1.0);
            let row = report.rows.iter_mut().find(|row| is_changed(&row.cell())).unwrap();
            match k < failing {
                true => {
                    (row.outcome, row.execute, row.reason) = (Outcome::Failed, None, Some("crashed".into()))
                }
                false => row.execute.as_mut().unwrap().scale(factor),
            }
            report
        };
        side((0..3).map(run).collect())
    };
    let verdict = |old: usize, new: usize, factor: f64| {
        let comparison = compare(&runs(1, old, 1.0), &runs(11, new, factor), &Policy::default());
        let verdict = changed(&comparison).verdict;
        let has_reason = comparison.gate.reason.contains(": crashed");
        assert_eq!(has_reason, verdict == Verdict::NewlyFailed, "{}", comparison.gate.reason);
        (verdict, comparison.gate.exit_code)
    };
    assert_eq!(verdict(0, 1, 1.0), (Verdict::NewlyFailed, 1));
    assert_eq!(verdict(1, 0, 1.0), (Verdict::Same, 0));
    assert_eq!(verdict(1, 1, 3.0), (Verdict::Slower, 1));
    assert_eq!(verdict(1, 3, 1.0), (Verdict::NewlyFailed, 1));
    assert_eq!(verdict(1, 2, 1.0), (Verdict::NewlyFailed, 1));
    assert_eq!(verdict(2, 1, 1.0), (Verdict::Same, 0));
    assert_eq!(verdict(3, 3, 1.0), (Verdict::NotMeasured, 0));
    let everywhere = compare(&runs(1, 3, 1.0), &runs(11, 3, 1.0), &Policy::default());
    assert_eq!(changed(&everywhere).reason, "failed on both sides: crashed");
}

#[test]
fn operands_that_differ_in_one_run_of_three_are_not_pooled() {
    let (old, mut new) = (simulated(1..4, &REALISTIC, &|_| 1.0), simulated(4..7, &REALISTIC, &|_| 1.0));
    let rows = |runs: &mut Runs, k: usize, inputs: &str| {
        runs.runs[k].report.rows.iter_mut().for_each(|row| row.inputs = Some(inputs.into()));
    };
    (0..3).for_each(|k| rows(&mut new, k, if k == 2 { "b" } else { "a" }));
    let comparison = compare(&old, &new, &Policy { accept_inconclusive: true, ..Policy::default() });
    assert_eq!(
        (changed(&comparison).inconclusive_reason, comparison.gate.exit_code),
        (Some(InconclusiveReason::NotComparable), 2)
    );
}

#[test]
fn a_cell_that_only_some_runs_have_is_noted() {
    let (old, mut new) = (simulated(1..4, &REALISTIC, &|_| 1.0), simulated(4..7, &REALISTIC, &|_| 1.0));
    new.runs[1].report.rows.retain(|row| !is_changed(&row.cell()));
    let notes = compare(&old, &new, &Policy::default()).notes;
    assert!(
        notes.iter().any(|note| note.text.contains("fft N=2000") && note.text.contains("in 2 of 3")),
        "{notes:?}"
    );
}

#[test]
fn passes_that_differ_by_more_than_a_threshold_disagree() {
    let passes = |factor: f64| {
        let slow = simulated_runs::run(2, &REALISTIC, &|cell| if is_changed(cell) { factor } else { 1.0 });
        side(vec![simulated_runs::run(1, &REALISTIC, &|_| 1.0), slow])
    };
    let noisy = |factor: f64| -> Vec<Cell> {
        let cells = calibrate(&passes(factor), &Policy::default());
        cells.into_iter().filter(Calibrated::disagrees).map(|cell| cell.cell).collect()
    };
    assert!(noisy(1.0).is_empty());
    assert!(matches!(noisy(1.2).as_slice(), [cell] if is_changed(cell)));
}

/// Returns the share of the trials of which the predicate is true: of `full` of them, or of a tenth by default.
fn share_of(full: u64, is_so: impl Fn(&u64) -> bool + Sync) -> f64 {
    let count = trials(full);
    (0..count).into_par_iter().filter(|trial| is_so(trial)).count() as f64 / count as f64
}

/// Share of comparisons of `runs` a side, nothing changed, that find a regression.
fn false_alarms(full: u64, runs: u64, policy: &Policy, report: impl Fn(u64) -> Report + Sync) -> f64 {
    share_of(full, |trial| {
        let first = 10_000_000 + 2 * runs * trial;
        let [old, new] =
            [first, first + runs].map(|first| side((first..first + runs).map(&report).collect()));
        compare(&old, &new, policy).gate.conclusion == Conclusion::Regression
    })
}

#[test]
fn at_most_one_in_a_hundred_unchanged_comparisons_finds_a_regression() {
    for (runs, policy) in [(1, Policy::default()), (3, with_threshold(0.0))] {
        let report = |seed| simulated_runs::run(seed, &REALISTIC, &|_| 1.0);
        let share = false_alarms(1000, runs, &policy, report);
        assert!(share <= 0.01, "{runs} runs per side, threshold {:?}: {share}", policy.defaults.threshold);
    }
}

#[test]
fn three_runs_per_side_find_five_percent_in_one_cell_of_sixty() {
    let policy = with_threshold(0.03);
    let found = |trial: &u64| {
        let first = 1_000_000 + 6 * trial;
        let old = simulated(first..first + 3, &REALISTIC, &|_| 1.0);
        let new =
            simulated(first + 3..first + 6, &REALISTIC, &|cell| if is_changed(cell) { 1.05 } else { 1.0 });
        let cells = compare(&old, &new, &policy).cells;
        let mut slower = cells.iter().filter(|change| change.verdict == Verdict::Slower);
        cells[0].verdict == Verdict::Slower && slower.all(|change| is_changed(change.cell()))
    };
    let share = share_of(400, found);
    assert!(share >= 0.95, "{share}");
}

#[test]
fn the_interval_of_the_ratio_covers_it_as_often_as_it_says() {
    for runs in [2, 3, 5] {
        let (mut covered, mut all) = (0.0, 0.0);
        for trial in 0..40 {
            let first = 2_000_000 + 10 * trial;
            let old = simulated(first..first + runs, &REALISTIC, &|_| 1.0);
            let new = simulated(first + 5..first + 5 + runs, &REALISTIC, &|_| 1.1);
            for change in compare(&old, &new, &Policy::default()).cells {
                let [low, high] = change.interval.unwrap();
                covered += f64::from(u8::from((low..=high).contains(&1.1)));
                all += 1.0;
            }
        }
        assert!((0.93..=0.99).contains(&(covered / all)), "{runs} runs per side: {}", covered / all);
    }
}

#[test]
fn cells_of_very_different_variation_raise_no_more_false_alarms() {
    // From run to run each cell scatters by its own share, log-normal about 0.4 % on the GPU and 4 % on the CPU.
    let one = |seed: u64| {
        let factor = |cell: &Cell| {
            let is_gpu = cell.backend == "cuda";
            let of_cell =
                cell.case.n * 31 + u64::from(cell.case.op.as_bytes()[0]) + u64::from(is_gpu) * 1_000_003;
            let (typical, uneven) = if is_gpu { (0.004, 0.7) } else { (0.04, 0.4) };
            let variation = typical * (uneven * simulated_runs::normal(12_345, of_cell)).exp();
            (variation * simulated_runs::normal(seed, of_cell)).exp()
        };
        simulated_runs::run(seed, &Noise { run: 0.0, ..REALISTIC }, &factor)
    };
    for runs in [1, 2, 3] {
        let share = false_alarms(500, runs, &Policy::default(), one);
        // Two runs per side cannot show which cells are noisy.
        assert!(share <= 0.02, "{runs} runs per side: {share}");
    }
}
