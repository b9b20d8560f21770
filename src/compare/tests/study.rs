//! Simulated studies: how often a comparison raises a false alarm and how often it finds a planted change, over runs per
//! side, numbers of cells, and kinds of noise. Seeded, so that the figures are the same each time.

use std::sync::OnceLock;

use rayon::prelude::*;

use super::side;
use crate::backend::Side;
use crate::compare::self_test::rehearsal::{self, Noise, REALISTIC, normal};
use crate::compare::{Comparison, Policy, Runs, compare};
use crate::report::{Report, Row};

/// How runs differ from each other. Standard deviations are of the logarithm of a run's median.
#[derive(Clone, Copy, Debug)]
pub struct Scenario {
    /// Cells on the CPU.
    pub cpu: usize,
    /// Cells on the GPU.
    pub gpu: usize,
    /// Runs per side.
    pub runs: u64,
    /// Spread from run to run of each cell, independent of the other cells.
    pub spread: f64,
    /// Effect that all cells of a run share.
    pub common: f64,
    /// Spread of the first cell, where it is more restless than the others.
    pub restless: Option<f64>,
    /// Whether each cell's noise is that of Student's t with three degrees of freedom.
    pub heavy_tails: bool,
}

/// Sixty cells on a quiet machine, three runs per side.
pub const QUIET: Scenario =
    Scenario { cpu: 30, gpu: 30, runs: 3, spread: 0.004, common: 0.0, restless: None, heavy_tails: false };

/// What is changed in NEW.
#[derive(Clone, Copy, Debug)]
pub enum Planted {
    /// Nothing.
    Nothing,
    /// The last cell takes this many times as long.
    Last(f64),
    /// Every cell takes this many times as long.
    All(f64),
}

/// Runs without any run-to-run noise, from which all others are made; enough of them that few samples are used twice.
fn templates() -> &'static [Report] {
    static TEMPLATES: OnceLock<Vec<Report>> = OnceLock::new();
    TEMPLATES.get_or_init(|| {
        let noise = Noise { run: 0.0, sample: 0.004, ..REALISTIC };
        (0..48u64).into_par_iter().map(|seed| rehearsal::run(900_000 + seed, &noise, &|_| 1.0)).collect()
    })
}

/// A standard value of chance: normal, or of Student's t with three degrees of freedom scaled to a variance of 1.
fn chance(seed: u64, place: u64, heavy_tails: bool) -> f64 {
    let z = normal(seed, place);
    if !heavy_tails {
        return z;
    }
    let squares: f64 = (1..=3u64).map(|k| normal(seed, place + 1000 * k).powi(2)).sum();
    z / squares.sqrt()
}

impl Scenario {
    /// The report of a run; equal seeds make equal runs.
    fn report(&self, seed: u64, planted: Planted) -> Report {
        let template = &templates()[(normal(seed, 77).abs() * 1e6) as usize % templates().len()];
        let of_side = |side: Side, count: usize| {
            // The largest size has too few samples for an interval, which is a matter of its own.
            let rows = template.rows.iter().filter(move |row| row.side == side && row.case.n < 8000);
            (0..count).zip(rows.cycle()).map(move |(k, row)| {
                let mut row: Row = row.clone();
                row.variant = format!("rehearsal-{}", k / 24);
                row
            })
        };
        let mut rows: Vec<Row> = of_side(Side::Cpu, self.cpu).chain(of_side(Side::Gpu, self.gpu)).collect();
        let common = self.common * normal(seed, 1);
        let last = rows.len() - 1;
        for (k, row) in rows.iter_mut().enumerate() {
            let spread = if k == 0 { self.restless.unwrap_or(self.spread) } else { self.spread };
            let effect = common + spread * chance(seed, 100 + k as u64, self.heavy_tails);
            let change = match planted {
                Planted::Last(factor) if k == last => factor,
                Planted::All(factor) => factor,
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

    /// Both sides of a trial.
    pub fn sides(&self, trial: u64, planted: Planted) -> [Runs; 2] {
        let first = 10_000 + 2 * self.runs * trial;
        let runs = |first: u64, planted| {
            side((first..first + self.runs).map(|seed| self.report(seed, planted)).collect())
        };
        [runs(first, Planted::Nothing), runs(first + self.runs, planted)]
    }

    /// The share of `trials` comparisons of which `test` holds.
    pub fn share(
        &self,
        trials: u64,
        planted: Planted,
        policy: &Policy,
        test: impl Fn(&Comparison) -> bool + Sync,
    ) -> f64 {
        let holds = |trial: &u64| {
            let [old, new] = self.sides(*trial, planted);
            test(&compare(&old, &new, policy))
        };
        (0..trials).into_par_iter().filter(holds).count() as f64 / trials as f64
    }
}

/// Prints false alarms, passes and what is found over the whole grid; `STUDY_TRIALS` says how many trials each figure has.
#[expect(clippy::print_stderr, reason = "the figures of docs/compare.md")]
#[test]
#[ignore = "takes minutes; its figures are in docs/compare.md"]
fn the_whole_study() {
    use super::with_threshold;
    use crate::compare::Verdict;
    let trials = std::env::var("STUDY_TRIALS").ok().and_then(|text| text.parse().ok()).unwrap_or(300u64);
    let only = std::env::var("STUDY_ONLY").unwrap_or_default();
    let mut scenarios: Vec<(String, Scenario)> = vec![];
    for runs in [1, 2, 3, 5] {
        for (cells, cpu, gpu) in [("1", 1, 0), ("22", 22, 0), ("60", 30, 30)] {
            for spread in [0.01, 0.02, 0.04, 0.08, 0.12] {
                let scenario = Scenario { runs, cpu, gpu, spread, ..QUIET };
                scenarios.push((format!("runs {runs} cells {cells} spread {spread}"), scenario));
            }
            let base = Scenario { runs, cpu, gpu, ..QUIET };
            for (name, scenario) in [
                ("quiet", base),
                ("restless 0.04", Scenario { restless: Some(0.04), ..base }),
                ("t3", Scenario { heavy_tails: true, spread: 0.02, ..base }),
                ("common 0.002", Scenario { common: 0.002, ..base }),
                ("common 0.01", Scenario { common: 0.01, ..base }),
                ("common 0.08", Scenario { common: 0.08, ..base }),
            ] {
                scenarios.push((format!("runs {runs} cells {cells} {name}"), scenario));
            }
        }
    }
    for (name, scenario) in scenarios.into_iter().filter(|(name, _)| name.contains(&only)) {
        let share = |planted, policy: &Policy, test: &(dyn Fn(&Comparison) -> bool + Sync)| {
            100.0 * scenario.share(trials, planted, policy, test)
        };
        let policies = [Policy::default(), with_threshold(0.03), with_threshold(0.0)];
        let alarms =
            policies.map(|policy| share(Planted::Nothing, &policy, &|found| found.gate.exit_code == 1));
        let passes = share(Planted::Nothing, &Policy::default(), &|found| found.gate.exit_code == 0);
        let last = |found: &Comparison| {
            let last = found.cells.iter().filter(|cell| cell.verdict == Verdict::Slower);
            last.count() > 0
        };
        let found = share(Planted::Last(1.3), &Policy::default(), &last);
        let everywhere = share(Planted::All(1.02), &Policy::default(), &|found| found.gate.exit_code == 1);
        eprintln!(
            "{name:<32} alarms {:>5.1} {:>5.1} {:>5.1}  passes {passes:>5.1}  30% in one cell {found:>5.1}  2% everywhere {everywhere:>5.1}",
            alarms[0], alarms[1], alarms[2]
        );
    }
}
