//! Sampling: rounds, stopping, throttling, timer overhead, budgets.

use gpubench::case::Cache;
use gpubench::executor;
use gpubench::measure::grade::{Grade, WarningKind};
use gpubench::measure::stopping::Reason;
use gpubench::observe::{Observer, Silent};
use gpubench::report::{Execute, Outcome, Report};

use crate::sim::stage::{Stage, execute, outcomes};

/// A run of one op at these sizes that stops by precision.
fn adaptive(script: &str, sizes: &[u64]) -> Stage {
    Stage::adaptive(script, "sin", sizes)
}

/// Returns the warnings of that kind.
fn warned(execute: &Execute, kind: WarningKind) -> usize {
    execute.warnings.iter().filter(|warning| warning.kind == kind).count()
}

fn first(report: &Report) -> &Execute {
    execute(&report.rows[0])
}

/// Returns the timed phase of the only cell of a script.
fn measured(script: &str) -> Execute {
    first(&adaptive(script, &[2]).finish()).clone()
}

#[test]
fn a_constant_time_takes_the_fewest_samples_over_three_rounds_and_gets_the_best_grade() {
    let execute = &measured("[[variant]]\nname = 'a'\n");
    assert_eq!((execute.samples_s.len(), execute.stopped), (12, Some(Reason::Precise)));
    assert_eq!(execute.rounds, [0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2]);
    assert_eq!((execute.grade, execute.warnings.len()), (Some(Grade::A), 0), "{:?}", execute.warnings);
}

#[test]
fn noise_takes_more_samples_until_the_interval_is_as_narrow_as_asked_for() {
    let script = "[[variant]]\nname = 'a'\n[[rule]]\nnoise = 0.02\n";
    let mut counts = vec![];
    for precision in [0.02, 0.01, 0.005] {
        let mut stage = adaptive(script, &[2]);
        stage.run.cells[0].sampling.precision = Some(precision);
        let report = stage.finish();
        let execute = first(&report);
        assert_eq!(execute.stopped, Some(Reason::Precise));
        assert!(execute.summary().relative_spread() <= precision);
        counts.push(execute.samples_s.len());
    }
    assert!(counts[0] < counts[1] && counts[1] < counts[2], "{counts:?}");
}

#[test]
fn a_cell_too_noisy_for_its_time_says_so_with_the_next_step() {
    let script = "[[variant]]\nname = 'a'\n[[rule]]\ntime = '10ms'\nnoise = 0.5\n";
    let execute = &measured(script);
    assert_eq!(execute.stopped, Some(Reason::OutOfTime));
    assert!((0.47..0.55).contains(&execute.spent_s), "{}", execute.spent_s);
    let spread: Vec<_> = execute.warnings.iter().filter(|w| w.kind == WarningKind::Spread).collect();
    assert!(spread[0].next.contains("--max-time") && execute.grade > Some(Grade::A), "{spread:?}");
}

#[test]
fn long_executions_end_with_few_samples_and_a_low_grade() {
    let script = "[[variant]]\nname = 'a'\n[[rule]]\ntime = '5s'\n";
    let execute = &measured(script);
    assert!((3..12).contains(&execute.samples_s.len()), "{}", execute.samples_s.len());
    assert_eq!(warned(execute, WarningKind::FewSamples), 1);
    assert!(execute.spent_s <= 30.0 && execute.grade >= Some(Grade::B));
}

#[test]
fn a_fixed_count_is_taken_exactly() {
    for count in [1, 2, 3, 10, 31] {
        let mut stage = adaptive("[[variant]]\nname = 'a'\n[[rule]]\nnoise = 0.2\n", &[2]);
        stage.run.cells[0].sampling.samples = Some(count);
        let report = stage.finish();
        assert_eq!(first(&report).samples_s.len(), count as usize);
        assert_eq!(first(&report).stopped, Some(Reason::Fixed));
    }
}

#[test]
fn warm_up_goes_on_until_the_clock_has_risen() {
    let script = "[[variant]]\nname = 'a'\n[[rule]]\nramp = 1.0\nramp_time = '60ms'\n";
    let execute = &measured(script);
    assert!(execute.steady && execute.warmups > 800, "{}", execute.warmups);
    assert!(execute.max_s < 1.3e-4, "{}: the slow start is not in the samples", execute.max_s);
    let slow = "[[variant]]\nname = 'a'\n[[rule]]\nramp = 3.0\nramp_time = '800ms'\n";
    let report = adaptive(slow, &[2]).finish();
    assert_eq!(warned(first(&report), WarningKind::NotWarm), 1);
}

#[test]
fn throttled_samples_are_set_aside_and_counted() {
    let script = "[[variant]]\nname = 'a'\n[[rule]]\nthrottled = 0.05\n";
    let report = adaptive(script, &[2]).finish();
    let plain = first(&report);
    let share = |execute: &Execute| f64::from(execute.discarded) / execute.samples_s.len() as f64;
    assert!(plain.throttled == 0 && plain.max_s == plain.min_s, "no throttled sample counts");
    assert!(plain.sm_mhz.iter().all(|mhz| *mhz == 1980.0));
    let mut stage = adaptive(script, &[2]);
    stage.run.cells[0].sampling.samples = Some(200);
    let report = stage.finish();
    assert!((0.01..0.12).contains(&share(first(&report))), "{}", share(first(&report)));
}

#[test]
fn a_device_that_stays_throttled_is_measured_as_it_is_and_says_so() {
    let script = "[[variant]]\nname = 'a'\n[[rule]]\nthrottled = 1.0\n";
    let execute = &measured(script);
    assert_eq!(execute.throttled as usize, execute.samples_s.len());
    assert!(execute.discarded > 0 && execute.grade == Some(Grade::D));
    assert!(warned(execute, WarningKind::Throttled) > 0);
}

#[test]
fn rounds_that_differ_lower_the_grade() {
    let script = "[[variant]]\nname = 'a'\n[[rule]]\nnoise = 0.002\ndrift = 0.0001\n";
    let execute = &measured(script);
    let drift = execute.drift.unwrap();
    assert!(drift.p < 0.01 && drift.relative > 0.02, "{drift:?}");
    assert!(warned(execute, WarningKind::Drift) == 1 && execute.grade > Some(Grade::A));
}

#[test]
fn two_clumps_are_noticed() {
    let script = "[[variant]]\nname = 'a'\n[[rule]]\nnoise = 0.003\noutliers = 0.3\noutlier_factor = 1.2\n";
    let mut stage = adaptive(script, &[2]);
    stage.run.cells[0].sampling.samples = Some(60);
    let report = stage.finish();
    let modes = first(&report).modes.unwrap();
    assert!((modes.high / modes.low - 1.2).abs() < 0.02, "{modes:?}");
    assert_eq!(warned(first(&report), WarningKind::Bimodal), 1);
}

#[test]
fn times_near_the_timer_overhead_are_marked_and_raw_times_kept_with_corrected_ones() {
    let script = "[floors]\nclock = '2us'\nempty_kernel = '2.5us'\nevent_constant = '2.8us'\n\
                  [[variant]]\nname = 'a'\n[[rule]]\nn = 2\ntime = '3us'\n[[rule]]\nn = 3\ntime = '30us'\n";
    let report = adaptive(script, &[2, 3]).finish();
    let (near, far) = (execute(&report.rows[0]), execute(&report.rows[1]));
    assert_eq!((warned(near, WarningKind::LaunchBound), warned(far, WarningKind::LaunchBound)), (1, 0));
    assert!((near.event_constant_s.unwrap() - 2.8e-6).abs() < 1e-12);
    let timer_overhead = report.environment.backends[0].timer_overhead.as_ref().unwrap();
    assert!((timer_overhead.empty_kernel_s.unwrap() - 2.5e-6).abs() < 1e-12, "{timer_overhead:?}");
}

#[test]
fn other_users_of_the_device_and_lost_processors_are_named() {
    let script = "others = ['python3 (4711)']\n[[variant]]\nname = 'a'\n\
                  [[variant]]\nname = 'b'\nside = 'cpu'\n[[rule]]\nvariant = 'b'\nswitched = 0.5\n";
    let report = adaptive(script, &[2]).finish();
    let (gpu, cpu) = (execute(&report.rows[0]), execute(&report.rows[1]));
    let named = gpu.warnings.iter().any(|warning| warning.text.contains("python3 (4711)"));
    assert!(named, "{:?}", gpu.warnings);
    assert_eq!(warned(cpu, WarningKind::Disturbed), 1);
    assert_eq!(cpu.context_switches.len(), cpu.samples_s.len());
}

#[test]
fn throttled_clocks_are_reported_unless_the_user_set_them() {
    let grade = |reason: &str| {
        let script = format!("throttled = ['{reason}']\n[[variant]]\nname = 'a'\n");
        let report = adaptive(&script, &[2]).finish();
        (first(&report).grade, warned(first(&report), WarningKind::Throttled))
    };
    assert_eq!(grade("power limit"), (Some(Grade::B), 1));
    assert_eq!(grade("clocks set by the user"), (Some(Grade::A), 0));
}

#[test]
fn cold_and_hot_are_rows_of_their_own() {
    let script = "[[variant]]\nname = 'a'\n[[rule]]\ncache = 'hot'\ntime = '40us'\n";
    let mut stage = adaptive(script, &[2]);
    let mut hot = stage.run.cells[0].clone();
    hot.cell.cache = Cache::Hot;
    stage.run.cells.push(hot);
    let report = stage.finish();
    let found: Vec<_> = report.rows.iter().map(|row| (row.cache, row.median_s().unwrap())).collect();
    assert_eq!(found.iter().map(|found| found.0).collect::<Vec<_>>(), [Cache::Cold, Cache::Hot]);
    assert!((found[0].1 - 100e-6).abs() < 1e-12 && (found[1].1 - 40e-6).abs() < 1e-12, "{found:?}");
}

/// Records the order of turns.
#[derive(Default)]
struct Turns(Vec<(u64, Option<u32>)>);

impl Observer for Turns {
    fn cell_started(&mut self, cell: &gpubench::case::Cell, round: Option<u32>) {
        self.0.push((cell.case.n, round));
    }
}

#[test]
fn cells_alternate_in_an_order_that_seed_and_round_fix() {
    let turns = |seed| {
        let mut stage = adaptive("[[variant]]\nname = 'a'\n", &[2, 3, 4, 5, 6, 7, 8, 9]);
        stage.run.seed = seed;
        let mut turns = Turns::default();
        let rows = executor::run(&stage.run, &mut turns).unwrap().report.rows;
        assert!(rows.iter().map(|row| row.case.n).eq(2..=9), "rows keep the order of the plan");
        turns.0
    };
    let order = turns(1);
    assert_eq!((turns(1), order.len()), (order.clone(), 24));
    assert_ne!(turns(2), order);
    let round = |round: u32| order.iter().filter(move |(_, r)| *r == Some(round)).map(|(n, _)| *n);
    assert!(!round(0).eq(round(1)) && !round(1).eq(round(2)) && !round(0).is_sorted());
}

#[test]
fn a_worker_lost_in_a_later_round_costs_one_cell_and_the_others_go_on() {
    let script = "[[variant]]\nname = 'a'\n[[rule]]\nn = 3\noutcome = 'crash'\nafter = 8\n";
    let mut stage = Stage::new(script, "sin", &[2, 3, 4]);
    stage.sample(|sampling| (sampling.warmup, sampling.samples) = (0, Some(30)));
    let report = stage.finish();
    assert_eq!(outcomes(&report), [Outcome::Measured, Outcome::Failed, Outcome::Measured]);
    assert!(report.rows[1].execute.is_none() && execute(&report.rows[2]).samples_s.len() == 30);
}

#[test]
fn a_budget_goes_to_the_widest_cells_and_names_those_that_stay_wide() {
    let script = "[[variant]]\nname = 'a'\n[[rule]]\ntime = '10ms'\n[[rule]]\nn = 3\nnoise = 0.3\n\
                  [[rule]]\nn = 4\nnoise = 0.02\n";
    let spent = |budget| {
        let mut stage = adaptive(script, &[2, 3, 4]);
        stage.run.budget_s = budget;
        stage.sample(|sampling| sampling.max_time_s = 2.0);
        let report = executor::run(&stage.run, &mut Silent).unwrap().report;
        let spent: Vec<f64> = report.rows.iter().map(|row| execute(row).spent_s).collect();
        (spent, report.environment.warnings)
    };
    let (plain, _) = spent(None);
    let (rich, warnings) = spent(Some(30.0));
    assert_eq!(plain[0], rich[0], "a precise cell needs no more");
    assert!(rich[1] > 10.0 && rich.iter().sum::<f64>() < 33.0, "{rich:?}");
    assert!(warnings.iter().any(|warning| warning.text.contains("N=3")), "{warnings:?}");
    let (poor, _) = spent(Some(1.5));
    assert!(poor.iter().sum::<f64>() < 2.5 && poor[1] < plain[1], "{poor:?}");
}

#[test]
fn fewer_threads_have_a_worker_and_rows_of_their_own() {
    let mut stage = Stage::new("[[variant]]\nname = 'a'\n", "sin", &[2]);
    stage.add_variant(0, "a@1");
    let report = stage.finish();
    let rows: Vec<[&str; 2]> =
        report.rows.iter().map(|row| [&row.backend, &row.variant].map(|s| s.as_str())).collect();
    assert_eq!(rows, [["sim", "a"], ["sim", "a@1"]]);
    assert!(report.rows.iter().all(|row| execute(row).median_s > 0.0));
    let workers: Vec<&str> =
        report.environment.backends.iter().map(|backend| backend.name.as_str()).collect();
    assert_eq!(workers, ["sim", "sim@1"]);
}
