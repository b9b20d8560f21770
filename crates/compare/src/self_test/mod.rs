//! Tests the gate with known regressions and with unchanged runs, so that users can check it before they rely on it.
//!
//! Each claim makes comparisons with a known result and states how many of them must be right. Unit tests distort the
//! variances to check that each claim can fail.

mod halves;
pub(crate) mod simulated_runs;

use gpubench_model::case::Cell;
use gpubench_model::data::generator::Stream;
use gpubench_model::report::{Report, Row};
use gpubench_text::count::counted;

use super::compare::compare_by;
use super::{Comparison, Conclusion, Policy, Run, Runs, Verdict};
use crate::means::groups::MEAN_THRESHOLD;
use simulated_runs::{Noise, REALISTIC};

/// Number of simulated runs from which comparisons draw theirs.
const POOL_SIZE: u64 = 24;

/// Runs per side, except for claims about one run per side.
const RUNS_PER_SIDE: usize = 3;

/// Number of comparisons without a change, with several runs and with one run per side, and of allowed false alarms.
const UNCHANGED_TRIALS: u64 = 60;
const MAX_FALSE_ALARMS: usize = 2;
const ONE_RUN_TRIALS: u64 = 50;
const MAX_ONE_RUN_ALARMS: usize = 1;

/// Relative standard deviation between runs of the noisy machine.
const NOISY_MACHINE: f64 = 0.08;

/// Number of comparisons with a slowed cell, and the factor by which it is slowed.
const SLOWED_TRIALS: u64 = 20;
const SLOWDOWN: f64 = 1.6;

/// Share of them that must report it.
const MIN_FOUND: f64 = 0.9;

/// The factor and the share for the rounds of a report, which make one run per side.
const SLOWDOWN_IN_REPORT: f64 = 2.0;
const MIN_FOUND_IN_REPORT: f64 = 0.8;

/// Maximum number of cells of a report that are slowed, one after the other.
const REPORT_CELLS: usize = 24;

/// One claim about the gate, with its result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claim {
    /// The requirement and the outcome.
    pub text: String,
    /// True if the outcome meets the requirement.
    pub passed: bool,
}

/// Tests the gate with simulated sweeps, and with `report` if there is one, using the policy's thresholds.
pub fn self_test(report: Option<&Report>, policy: &Policy) -> Vec<Claim> {
    Gate { policy, distortion: 1.0 }.claims(report)
}

/// The gate under test; every variance between runs is multiplied by `distortion`.
struct Gate<'a> {
    policy: &'a Policy,
    distortion: f64,
}

impl Gate<'_> {
    fn claims(&self, report: Option<&Report>) -> Vec<Claim> {
        // On a quiet machine no cell exceeds a threshold, so a lack of alarms would prove nothing.
        let noisy = pool(1, &Noise { run: NOISY_MACHINE, ..REALISTIC });
        let quiet = pool(0, &REALISTIC);
        let mut claims = vec![
            self.raises_few_alarms(&noisy, RUNS_PER_SIDE, UNCHANGED_TRIALS, MAX_FALSE_ALARMS),
            self.raises_few_alarms(&noisy, 1, ONE_RUN_TRIALS, MAX_ONE_RUN_ALARMS),
            self.finds_one_cell(&quiet),
            self.finds_all_cells(&quiet),
        ];
        if let Some(report) = report {
            claims.extend(self.with(report));
        }
        claims
    }

    fn compare(&self, old: &Runs, new: &Runs) -> Comparison {
        compare_by(old, new, &Runs::default(), self.policy, self.distortion)
    }

    /// Claims that at most `alarms` of `trials` comparisons without a change report a regression.
    fn raises_few_alarms(&self, pool: &[Run], runs: usize, trials: u64, alarms: usize) -> Claim {
        let finds_regression = |trial: &u64| {
            let [old, new] = draw(pool, *trial, runs);
            self.compare(&old, &new).gate.conclusion == Conclusion::Regression
        };
        let regressions = (0..trials).filter(finds_regression).count();
        let sides = per_side(runs);
        let noisy = super::export::percent(NOISY_MACHINE);
        let text = format!(
            "nothing changed, runs vary by {noisy}, {sides}: {regressions} of {trials} comparisons report a regression (at \
            most {alarms} allowed)"
        );
        Claim { text, passed: regressions <= alarms }
    }

    /// Claims that a cell that takes 1.6 times as long is reported, and no other cell.
    fn finds_one_cell(&self, pool: &[Run]) -> Claim {
        let cells = self.judged(pool);
        if cells.is_empty() {
            return nothing_to_slow_down();
        }
        let finds = |trial: u64| {
            let slowed = &cells[trial as usize * cells.len() / SLOWED_TRIALS as usize];
            let [old, mut new] = draw(pool, trial, RUNS_PER_SIDE);
            slow_down(&mut new, SLOWDOWN, |cell| cell == slowed);
            let found = self.compare(&old, &new);
            let is_right =
                |change: &super::Change| (change.verdict == Verdict::Slower) == (change.cell() == *slowed);
            found.gate.exit_code == 1 && found.cells.iter().all(is_right)
        };
        let what = format!(
            "one of {} cells takes {SLOWDOWN} times as long, {}",
            cells.len(),
            per_side(RUNS_PER_SIDE)
        );
        claim_of_found(what, "it alone is reported slower", (0..SLOWED_TRIALS).map(finds), MIN_FOUND)
    }

    /// Claims that a mean is slower if every cell is slower by the threshold of means.
    fn finds_all_cells(&self, pool: &[Run]) -> Claim {
        if self.judged(pool).is_empty() {
            return nothing_to_slow_down();
        }
        let threshold = self.policy.defaults.mean_threshold.unwrap_or(MEAN_THRESHOLD).max(MEAN_THRESHOLD);
        let finds = |trial: u64| {
            let [old, mut new] = draw(pool, trial, RUNS_PER_SIDE);
            slow_down(&mut new, 1.0 + threshold, |_| true);
            let found = self.compare(&old, &new);
            found.gate.exit_code == 1 && found.mean_changes.iter().any(|mean| mean.is_regression())
        };
        let percent = super::export::percent(threshold);
        let what = format!("every cell slowed down by {percent}, {}", per_side(RUNS_PER_SIDE));
        claim_of_found(what, "a mean is reported slower", (0..SLOWED_TRIALS).map(finds), MIN_FOUND)
    }

    /// Compares the report's even rounds with its odd ones, unchanged and with one slowed cell at a time.
    fn with(&self, report: &Report) -> Vec<Claim> {
        let Some([old, new]) = halves::halves(report) else {
            let text = "no cell of the report has samples from two rounds, so its rounds cannot be compared: measure \
                        with --rounds 2 or more";
            return vec![Claim { text: text.into(), passed: false }];
        };
        let null = self.compare(&old, &new);
        let cells = self.judged(&new.runs);
        let step = cells.len().div_ceil(REPORT_CELLS).max(1);
        let finds = |slowed: &Cell| {
            let mut slower = new.clone();
            slow_down(&mut slower, SLOWDOWN_IN_REPORT, |cell| cell == slowed);
            let found = self.compare(&old, &slower);
            found.cells.iter().any(|change| change.verdict == Verdict::Slower && change.cell() == *slowed)
        };
        let what = format!("the same, but one cell takes {SLOWDOWN_IN_REPORT} times as long");
        let trials = cells.iter().step_by(step).map(finds);
        let mut claim = claim_of_found(what, "it is reported slower", trials, MIN_FOUND_IN_REPORT);
        if !claim.passed {
            claim.text += "; compare several runs per side (--plan computes the number)";
        }
        let exit_code = null.gate.exit_code;
        let text = format!(
            "even rounds of the report compared with its odd rounds, {} cells: exit code {exit_code} (must not be 1 or 2)",
            cells.len()
        );
        vec![Claim { text, passed: !matches!(exit_code, 1 | 2) }, claim]
    }

    /// Returns the cells of these runs that have a time and that the policy does not ignore.
    fn judged(&self, runs: &[Run]) -> Vec<Cell> {
        let rows = runs.first().map(|run| run.report.rows.as_slice()).unwrap_or_default();
        let timed = rows.iter().filter(|row| row.execute.is_some()).map(Row::cell);
        timed.filter(|cell| !self.policy.limits(cell).ignored).collect()
    }
}

fn per_side(runs: usize) -> String {
    format!("{} per side", counted(runs, "run"))
}

fn nothing_to_slow_down() -> Claim {
    let text = "the policy ignores every simulated cell, so no slowdown can be simulated";
    Claim { text: text.into(), passed: false }
}

/// Claims that the given share of `trials` succeeds.
fn claim_of_found(what: String, word: &str, trials: impl Iterator<Item = bool>, share: f64) -> Claim {
    let (found, trials) =
        trials.fold((0, 0_usize), |(found, trials), is_found| (found + usize::from(is_found), trials + 1));
    let least = (share * trials as f64).ceil() as usize;
    let text = format!("{what}: {word} in {found} of {trials} comparisons (at least {least} required)");
    Claim { text, passed: found >= least && trials > 0 }
}

/// Multiplies the times of the selected cells by `factor`.
fn slow_down(runs: &mut Runs, factor: f64, is_slowed: impl Fn(&Cell) -> bool) {
    let rows = runs.runs.iter_mut().flat_map(|run| &mut run.report.rows);
    let slowed = rows.filter(|row| is_slowed(&row.cell())).filter_map(|row| row.execute.as_mut());
    slowed.for_each(|execute| execute.scale(factor));
}

fn pool(number: u64, noise: &Noise) -> Vec<Run> {
    let seeds = number * POOL_SIZE..(number + 1) * POOL_SIZE;
    let run =
        |seed| Run { name: format!("simulated {seed}"), report: simulated_runs::run(seed, noise, &|_| 1.0) };
    seeds.map(run).collect()
}

/// Draws two sides of different runs from `pool` at random; equal trials draw the same runs.
fn draw(pool: &[Run], trial: u64, runs: usize) -> [Runs; 2] {
    let random = Stream::new(trial, 0);
    let mut places: Vec<usize> = (0..pool.len()).collect();
    places.sort_by(|a, b| random.uniform::<f64>(*a as u64).total_cmp(&random.uniform(*b as u64)));
    let side = |places: &[usize]| Runs {
        runs: places.iter().map(|place| pool[*place].clone()).collect(),
        ..Runs::default()
    };
    [side(&places[..runs]), side(&places[runs..2 * runs])]
}

#[cfg(test)]
mod tests;
