//! Simulated studies: how often a comparison raises a false alarm and how often it finds a slowdown, over runs per
//! side, numbers of cells, and kinds of noise. Seeded, so that the figures are the same each time.

use std::sync::OnceLock;

use gpubench_report::Side;
use gpubench_report::report::{Report, Row};
use rayon::prelude::*;

use super::simulated_runs::{self, Noise, normal};
use super::{side, with_threshold};
use crate::compare::{Comparison, Limits, Policy, Runs, Verdict, compare};

/// The variation between runs. Standard deviations are of the logarithm of a run's median.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scenario {
    pub cpu: usize,
    pub gpu: usize,
    pub runs: u64,
    /// Variation between runs of each cell, independent of the other cells.
    pub variation: f64,
    /// Effect that all cells of a run share.
    pub(crate) common: f64,
    /// Variation of the first cell, if it is noisier than the others.
    pub(crate) noisy: Option<f64>,
    /// True if each cell's noise is that of Student's t with three degrees of freedom.
    pub(crate) heavy_tails: bool,
}

/// Sixty cells on a quiet machine, three runs per side.
pub(crate) const QUIET: Scenario =
    Scenario { cpu: 30, gpu: 30, runs: 3, variation: 0.004, common: 0.0, noisy: None, heavy_tails: false };

#[derive(Clone, Copy, Debug)]
pub(crate) enum Slowdown {
    None,
    /// The last cell takes this many times as long.
    Last(f64),
    /// Every cell takes this many times as long.
    All(f64),
}

/// Runs without variation between runs, from which all others are made; enough that few samples are used twice.
fn templates() -> &'static [Report] {
    static TEMPLATES: OnceLock<Vec<Report>> = OnceLock::new();
    TEMPLATES.get_or_init(|| {
        let noise = Noise { run: 0.0, sample: 0.004 };
        (0..48u64).into_par_iter().map(|seed| simulated_runs::run(900_000 + seed, &noise, &|_| 1.0)).collect()
    })
}

/// A random value: standard normal, or of Student's t with three degrees of freedom scaled to a variance of 1.
fn random_value(seed: u64, place: u64, heavy_tails: bool) -> f64 {
    let z = normal(seed, place);
    if !heavy_tails {
        return z;
    }
    let squares: f64 = (1..=3u64).map(|k| normal(seed, place + 1000 * k).powi(2)).sum();
    z / squares.sqrt()
}

impl Scenario {
    /// The report of a run; equal seeds make equal runs.
    fn report(&self, seed: u64, slowdown: Slowdown) -> Report {
        let template = &templates()[(normal(seed, 77).abs() * 1e6) as usize % templates().len()];
        let of_side = |side: Side, count: usize| {
            // The largest size has too few samples for an interval, which is a matter of its own.
            let rows = template.rows.iter().filter(move |row| row.side == side && row.case.n < 8000);
            (0..count).zip(rows.cycle()).map(move |(k, row)| {
                let mut row: Row = row.clone();
                row.variant = format!("simulated-{}", k / 24);
                row
            })
        };
        let mut rows: Vec<Row> = of_side(Side::Cpu, self.cpu).chain(of_side(Side::Gpu, self.gpu)).collect();
        let common = self.common * normal(seed, 1);
        let last = rows.len() - 1;
        for (k, row) in rows.iter_mut().enumerate() {
            let variation = if k == 0 { self.noisy.unwrap_or(self.variation) } else { self.variation };
            let effect = common + variation * random_value(seed, 100 + k as u64, self.heavy_tails);
            let change = match slowdown {
                Slowdown::Last(factor) if k == last => factor,
                Slowdown::All(factor) => factor,
                _ => 1.0,
            };
            if let Some(execute) = &mut row.execute {
                execute.scale(change * effect.exp());
            }
        }
        let mut environment = template.environment.clone();
        environment.started = format!("2026-01-01T00:00:{:02}.{seed:09}Z", seed % 60);
        Report { environment, rows, ..template.clone() }
    }

    pub(crate) fn sides(&self, trial: u64, slowdown: Slowdown) -> [Runs; 2] {
        let first = 10_000 + 2 * self.runs * trial;
        let runs = |first: u64, slowdown| {
            side((first..first + self.runs).map(|seed| self.report(seed, slowdown)).collect())
        };
        [runs(first, Slowdown::None), runs(first + self.runs, slowdown)]
    }

    /// The share of `trials` comparisons that pass `test`.
    pub(crate) fn share(
        &self,
        trials: u64,
        slowdown: Slowdown,
        policy: &Policy,
        test: impl Fn(&Comparison) -> bool + Sync,
    ) -> f64 {
        let holds = |trial: &u64| {
            let [old, new] = self.sides(*trial, slowdown);
            test(&compare(&old, &new, policy))
        };
        (0..trials).into_par_iter().filter(holds).count() as f64 / trials as f64
    }
}

/// The share of `trials` comparisons without a change that find a regression.
fn alarms(scenario: &Scenario, trials: u64, policy: &Policy) -> f64 {
    scenario.share(trials, Slowdown::None, policy, |found| found.gate.exit_code == 1)
}

/// Returns true if the slowed cell is slower and no other.
fn finds_the_last(found: &Comparison) -> bool {
    let slower: Vec<_> = found.cells.iter().filter(|cell| cell.verdict == Verdict::Slower).collect();
    matches!(slower.as_slice(), [only] if only.ratio > Some(1.2))
}

#[test]
fn two_percent_in_every_cell_are_found_by_three_runs_per_side() {
    for common in [0.0, 0.002] {
        let scenario = Scenario { common, ..QUIET };
        let found = scenario.share(60, Slowdown::All(1.02), &Policy::default(), |found| {
            found.gate.exit_code == 1 && found.mean_changes[0].is_regression()
        });
        assert!(found >= 0.9, "runs that share {common}: {found}");
    }
}

#[test]
fn means_raise_no_false_alarm_whatever_the_cells_of_a_run_share() {
    let policy = Policy {
        defaults: Limits { threshold: Some(1.0), mean_threshold: Some(0.0), ..Limits::default() },
        ..Policy::default()
    };
    for (runs, common) in [(2, 0.0), (2, 0.02), (3, 0.0), (3, 0.02), (5, 0.05)] {
        let scenario = Scenario { runs, common, variation: 0.02, ..QUIET };
        let share = alarms(&scenario, 200, &policy);
        assert!(share <= 0.01, "{runs} runs per side that share {common}: {share}");
    }
}

#[test]
fn one_run_per_side_raises_no_false_alarm_on_noisy_machines() {
    for (cpu, gpu, variation) in [(22, 0, 0.08), (22, 0, 0.12), (30, 30, 0.04), (1, 0, 0.08)] {
        let scenario = Scenario { cpu, gpu, variation, runs: 1, ..QUIET };
        let share = alarms(&scenario, 200, &Policy::default());
        assert!(share <= 0.01, "{cpu} and {gpu} cells that differ by {variation}: {share}");
    }
    let shared = Scenario { runs: 1, common: 0.08, ..QUIET };
    assert!(alarms(&shared, 200, &Policy::default()) <= 0.01);
}

#[test]
fn one_run_per_side_finds_thirty_percent_in_one_cell_of_a_quiet_machine() {
    for (cpu, gpu, variation) in [(22, 0, 0.01), (30, 30, 0.004)] {
        let scenario = Scenario { cpu, gpu, variation, runs: 1, ..QUIET };
        let found = scenario.share(100, Slowdown::Last(1.3), &Policy::default(), finds_the_last);
        assert!(found >= 0.9, "{cpu} and {gpu} cells: {found}");
        let passes =
            scenario.share(100, Slowdown::None, &Policy::default(), |found| found.gate.exit_code == 0);
        assert!(passes >= 0.9, "{cpu} and {gpu} cells: {passes}");
    }
}

#[test]
fn a_noisy_cell_among_quiet_ones_raises_no_false_alarm() {
    for (noisy, trials) in [(0.04, 400), (0.08, 200)] {
        let scenario = Scenario { noisy: Some(noisy), ..QUIET };
        let share = alarms(&scenario, trials, &with_threshold(0.03));
        assert!(share <= 0.01, "{noisy}: {share}");
    }
}

/// The grid of the study: runs per side, cells, kinds of noise.
fn grid() -> Vec<(String, Scenario)> {
    let mut grid = vec![];
    for (runs, (cells, cpu, gpu)) in [1, 2, 3, 5]
        .into_iter()
        .flat_map(|runs| [("1", 1, 0), ("22", 22, 0), ("60", 30, 30)].map(|cells| (runs, cells)))
    {
        let quiet = Scenario { runs, cpu, gpu, ..QUIET };
        let kinds = [0.004, 0.01, 0.02, 0.04, 0.08, 0.12].map(|variation| Scenario { variation, ..quiet });
        let others = [
            Scenario { noisy: Some(0.04), ..quiet },
            Scenario { noisy: Some(0.12), ..quiet },
            Scenario { heavy_tails: true, variation: 0.02, ..quiet },
            Scenario { common: 0.002, ..quiet },
            Scenario { common: 0.08, ..quiet },
        ];
        grid.extend(
            kinds.into_iter().chain(others).map(|scenario| (format!("runs {runs} cells {cells}"), scenario)),
        );
    }
    grid
}

/// Prints false alarms, passes and what is found over the grid; `STUDY_TRIALS` says how many trials each figure has,
/// `STUDY_ONLY` which part of the grid is studied.
#[test]
#[ignore = "takes minutes; its figures are in docs/compare.md"]
#[expect(clippy::print_stderr, reason = "prints its figures")]
fn the_whole_study() {
    let setting = |name: &str| std::env::var(name).unwrap_or_default();
    let trials = setting("STUDY_TRIALS").parse().unwrap_or(200u64);
    for (name, scenario) in grid().into_iter().filter(|(name, _)| name.contains(&setting("STUDY_ONLY"))) {
        let alarms =
            [Policy::default(), with_threshold(0.03)].map(|policy| alarms(&scenario, trials, &policy));
        let share = |slowdown, test: &(dyn Fn(&Comparison) -> bool + Sync)| {
            scenario.share(trials, slowdown, &Policy::default(), test)
        };
        let passes = share(Slowdown::None, &|found| found.gate.exit_code == 0);
        let one = share(Slowdown::Last(1.3), &finds_the_last);
        let all = share(Slowdown::All(1.02), &|found| found.gate.exit_code == 1);
        let [alarms, strict, passes, one, all] =
            [alarms[0], alarms[1], passes, one, all].map(|share| format!("{:>5.1}", 100.0 * share));
        let Scenario { variation, common, noisy, heavy_tails, .. } = scenario;
        eprintln!(
            "{name} variation {variation} common {common} noisy {noisy:?} t3 {heavy_tails}: alarms {alarms} at 3% {strict} \
             passes {passes} 30% in one {one} 2% in all {all}"
        );
    }
}
