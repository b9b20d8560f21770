//! Collects the results of one cell in the runs of one side: one time per run, its variance within the run, and the
//! medians of its rounds.

use gpubench_ops::Checked;
use gpubench_report::Accuracy;
use gpubench_report::measure::drift::by_round;
use gpubench_report::measure::stats::{has_interval, median};
use gpubench_report::report::{Clock, Execute, Outcome, Row};
use gpubench_text::grouped::distinct;

use crate::compare::result::Measured;
use crate::compare::statistics::{mean, variance};

/// Relative change of the multiprocessor clock that exceeds the error of reading it.
pub(crate) const CLOCK_CHANGE: f64 = 0.005;

/// Standard normal quantile of a 95 % interval: half its width in standard errors.
const Z95: f64 = 1.96;

const MIN_SAMPLES: usize = 3;

/// Assumed ratio of the variance of a median to that of a mean: pi / 2 if normal, and more for few samples.
const FEW_SAMPLES: f64 = 4.0;

const UNKNOWN_ERROR: f64 = 0.05;

/// The times of one cell on one side. Logarithms are natural, so that differences are ratios.
#[derive(Clone, Debug)]
pub(crate) struct CellTimes {
    /// Logarithm of the median of each run, in seconds.
    pub runs: Vec<f64>,
    /// Variance of such a logarithm due to the samples within a run, mean over runs.
    pub within: f64,
    /// Variance between the rounds of a run, mean over runs.
    pub(crate) between_rounds: f64,
    /// Logarithm of the median of each round of each run.
    pub rounds: Vec<f64>,
    /// Logarithm of the multiprocessor clock in MHz, median of each run; empty unless every run recorded it.
    pub clocks: Vec<f64>,
    /// The distinct clocks that timed the samples; one unless the runs differ.
    pub(crate) timers: Vec<Clock>,
    /// True if a blocking kernel delayed the device in every sample of every run.
    pub blocked: bool,
    /// The distinct fingerprints of the operands; one unless the runs differ.
    pub inputs: Vec<String>,
    /// The distinct accuracy classes of the variant; one unless the runs differ.
    pub(crate) accuracies: Vec<Accuracy>,
    pub measured: Measured,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct CellEvidence {
    /// The times, if a run measured the cell.
    pub(crate) times: Option<CellTimes>,
    /// The reason of the first run in which its answer was wrong.
    pub incorrect: Option<String>,
    pub failed: Option<String>,
    pub(crate) incorrect_share: f64,
    pub(crate) failed_share: f64,
    /// The reason of the first run that skipped it, and the step that would fix that.
    pub skipped: Option<(String, Option<String>)>,
}

impl CellEvidence {
    /// Summarizes the cell's rows in the runs of one side, at most one per run.
    pub(crate) fn of(rows: &[&Row]) -> CellEvidence {
        let reason = |row: &Row| row.reason.clone().unwrap_or_else(|| "the report gives no reason".into());
        let first = |outcome| rows.iter().find(|row| row.outcome == outcome);
        let share = |outcome| {
            rows.iter().filter(|row| row.outcome == outcome).count() as f64 / rows.len().max(1) as f64
        };
        let timed: Vec<(&Row, &Execute)> = rows.iter().filter_map(|row| Some((*row, timed(row)?))).collect();
        CellEvidence {
            times: (!timed.is_empty()).then(|| CellTimes::of(&timed)),
            incorrect: first(Outcome::Incorrect).map(|row| reason(row)),
            failed: first(Outcome::Failed).map(|row| reason(row)),
            incorrect_share: share(Outcome::Incorrect),
            failed_share: share(Outcome::Failed),
            skipped: first(Outcome::Skipped).map(|row| (reason(row), row.fix.clone())),
        }
    }
}

/// Returns the times of a measured row, if they are positive and finite.
fn timed(row: &Row) -> Option<&Execute> {
    let execute = row.execute.as_ref().filter(|_| row.outcome == Outcome::Measured)?;
    (execute.median_s.is_finite() && execute.median_s > 0.0).then_some(execute)
}

impl CellTimes {
    fn of(timed: &[(&Row, &Execute)]) -> CellTimes {
        let each =
            |f: &dyn Fn(&Execute) -> f64| timed.iter().map(|(_, execute)| f(execute)).collect::<Vec<f64>>();
        let rounds: Vec<Vec<f64>> = timed.iter().map(|(_, execute)| round_medians(execute)).collect();
        let within = mean(timed.iter().zip(&rounds).map(|((_, execute), rounds)| within(execute, rounds)));
        let between_rounds = mean(rounds.iter().map(|rounds| between(rounds)));
        let clocks: Vec<f64> =
            timed.iter().filter_map(|(_, execute)| positive_median(&execute.sm_mhz)).collect();
        let all_have_clocks = clocks.len() == timed.len();
        let errors = timed.iter().filter_map(|(row, _)| row.error);
        let measured = Measured {
            runs: timed.len(),
            rounds: rounds.iter().map(Vec::len).sum(),
            samples: timed.iter().map(|(_, execute)| execute.samples_s.len()).sum(),
            median_s: positive_median(&each(&|execute| execute.median_s)).unwrap_or(f64::NAN),
            sm_mhz: positive_median(&clocks).filter(|_| all_have_clocks),
            grade: timed.iter().filter_map(|(_, execute)| execute.grade).max(),
            error: errors.reduce(Checked::worse),
        };
        CellTimes {
            runs: each(&|execute| execute.median_s.ln()),
            within,
            between_rounds,
            rounds: rounds.concat(),
            clocks: if all_have_clocks { clocks.iter().map(|mhz| mhz.ln()).collect() } else { vec![] },
            timers: distinct(timed.iter().map(|(_, execute)| execute.clock)),
            blocked: timed.iter().all(|(_, execute)| execute.blocked != Some(false)),
            inputs: distinct(timed.iter().filter_map(|(row, _)| row.inputs.clone())),
            accuracies: distinct(timed.iter().map(|(row, _)| row.accuracy)),
            measured,
        }
    }
}

/// Returns the median of times or clocks; `None` if it has no logarithm.
fn positive_median(values: &[f64]) -> Option<f64> {
    median(values).filter(|median| median.is_finite() && *median > 0.0)
}

/// Returns the logarithm of the median of each round, in order. A report without rounds counts as one round.
fn round_medians(execute: &Execute) -> Vec<f64> {
    if execute.rounds.len() != execute.samples_s.len() || execute.rounds.is_empty() {
        return vec![execute.median_s.ln()];
    }
    let by_round = by_round(&execute.samples_s, &execute.rounds);
    by_round.iter().filter_map(|samples| positive_median(samples)).map(f64::ln).collect()
}

/// Estimates the variance of a run's logarithm from its samples and its rounds, which show drifts that samples hide: the larger.
fn within(execute: &Execute, rounds: &[f64]) -> f64 {
    let [low, high] = execute.ci95_s;
    let by_samples = if has_interval(execute.samples_s.len()) && low > 0.0 && high >= low {
        ((high / low).ln() / (2.0 * Z95)).powi(2)
    } else {
        of_few(&execute.samples_s)
    };
    by_samples.max(between(rounds) / rounds.len().max(1) as f64)
}

fn of_few(samples: &[f64]) -> f64 {
    let logs: Vec<f64> = samples.iter().filter(|sample| **sample > 0.0).map(|sample| sample.ln()).collect();
    match logs.len() >= MIN_SAMPLES {
        true => FEW_SAMPLES * variance(&logs) / logs.len() as f64,
        false => UNKNOWN_ERROR.powi(2),
    }
}

fn between(rounds: &[f64]) -> f64 {
    if rounds.len() < 2 { 0.0 } else { variance(rounds) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_variance_of_few_samples_falls_with_their_number() {
        let samples = |pairs: usize| of_few(&[1.0, 1.1].repeat(pairs));
        assert!(samples(2) > 1.8 * samples(4) && samples(4) > 1.8 * samples(8) && samples(8) > 0.0);
        assert_eq!(of_few(&[1.0, 1.1]), UNKNOWN_ERROR.powi(2));
    }
}
