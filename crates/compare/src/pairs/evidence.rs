//! What the runs of one side know of one cell: a time a run, how sure each is, and the rounds they are made of.

use gpubench_model::Accuracy;
use gpubench_model::measure::drift::by_round;
use gpubench_model::measure::stats::{has_interval, median};
use gpubench_model::report::{Clock, Execute, Outcome, Row};
use gpubench_ops::Checked;

use crate::Measured;

/// Relative change of the multiprocessors' clock that is more than the reading of it.
pub(crate) const CLOCK_CHANGE: f64 = 0.005;

/// Standard normal quantile of a 95 % interval: half such an interval is so many standard errors.
const Z95: f64 = 1.96;

/// Samples from which their own spread is used although they are too few for an interval.
const MIN_SAMPLES: usize = 3;

/// How many times larger the variance of their median is taken to be than that of their mean: pi / 2 for normal samples,
/// and the rest because so few samples show their spread poorly.
const FEW_SAMPLES: f64 = 4.0;

/// Relative standard error of a median of fewer samples.
const UNKNOWN: f64 = 0.05;

/// The times of one cell on one side. Logarithms are natural, so that differences are ratios.
#[derive(Clone, Debug)]
pub(crate) struct Evidence {
    /// Logarithm of the median of each run, in seconds.
    pub runs: Vec<f64>,
    /// Variance of such a logarithm that the samples within a run account for, mean over runs.
    pub within: f64,
    /// Variance between the rounds of a run, mean over runs: how restless the cell was while it was measured.
    pub(crate) between_rounds: f64,
    /// Logarithm of the median of each round of each run.
    pub rounds: Vec<f64>,
    /// Logarithm of the multiprocessors' clock in MHz, median of each run; empty unless every run has it.
    pub clocks: Vec<f64>,
    /// The clocks of the samples, each once; one unless the runs differ.
    pub(crate) timers: Vec<Clock>,
    /// Whether the device was held back in every sample of every run.
    pub blocked: bool,
    /// Fingerprints of the operands, each once; one unless the runs differ.
    pub inputs: Vec<String>,
    /// Accuracy classes of the variant, each once; one unless the runs differ.
    pub(crate) accuracies: Vec<Accuracy>,
    /// The same for a comparison's reader.
    pub measured: Measured,
}

/// What one side has of a cell.
#[derive(Clone, Debug, Default)]
pub(crate) struct Standing {
    /// Its times, where a run measured it.
    pub(crate) evidence: Option<Evidence>,
    /// Why a run found its answer wrong.
    pub incorrect: Option<String>,
    /// Why it failed in a run.
    pub failed: Option<String>,
    pub(crate) incorrect_share: f64,
    pub(crate) failed_share: f64,
    /// Why a run skipped it, and the step that would fix that.
    pub skipped: Option<(String, Option<String>)>,
}

impl Standing {
    /// The cell's rows of the runs of one side, at most one a run.
    pub(crate) fn of(rows: &[&Row]) -> Standing {
        let reason =
            |row: &Row| row.reason.clone().unwrap_or_else(|| "for no reason that the report tells".into());
        let first = |outcome| rows.iter().find(|row| row.outcome == outcome);
        let share = |outcome| {
            rows.iter().filter(|row| row.outcome == outcome).count() as f64 / rows.len().max(1) as f64
        };
        let timed: Vec<(&Row, &Execute)> = rows.iter().filter_map(|row| Some((*row, timed(row)?))).collect();
        Standing {
            evidence: (!timed.is_empty()).then(|| Evidence::of(&timed)),
            incorrect: first(Outcome::Incorrect).map(|row| reason(row)),
            failed: first(Outcome::Failed).map(|row| reason(row)),
            incorrect_share: share(Outcome::Incorrect),
            failed_share: share(Outcome::Failed),
            skipped: first(Outcome::Skipped).map(|row| (reason(row), row.fix.clone())),
        }
    }
}

/// The times of a measured row, where they are times.
fn timed(row: &Row) -> Option<&Execute> {
    let execute = row.execute.as_ref().filter(|_| row.outcome == Outcome::Measured)?;
    (execute.median_s.is_finite() && execute.median_s > 0.0).then_some(execute)
}

impl Evidence {
    fn of(timed: &[(&Row, &Execute)]) -> Evidence {
        let each =
            |f: &dyn Fn(&Execute) -> f64| timed.iter().map(|(_, execute)| f(execute)).collect::<Vec<f64>>();
        let rounds: Vec<Vec<f64>> = timed.iter().map(|(_, execute)| round_medians(execute)).collect();
        let within = timed.iter().zip(&rounds).map(|((_, execute), rounds)| within(execute, rounds));
        let within = within.sum::<f64>() / timed.len() as f64;
        let between_rounds = rounds.iter().map(|rounds| between(rounds)).sum::<f64>() / timed.len() as f64;
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
        Evidence {
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

/// Each value once, in the order of their first places.
pub(crate) fn distinct<T: PartialEq>(values: impl Iterator<Item = T>) -> Vec<T> {
    values.fold(vec![], |mut seen, value| {
        if !seen.contains(&value) {
            seen.push(value);
        }
        seen
    })
}

/// The median of times or clocks; `None` where it is none that a logarithm can be taken of.
fn positive_median(values: &[f64]) -> Option<f64> {
    median(values).filter(|median| median.is_finite() && *median > 0.0)
}

/// Logarithm of the median of each round, in order. A report that keeps no rounds is one round.
fn round_medians(execute: &Execute) -> Vec<f64> {
    if execute.rounds.len() != execute.samples_s.len() || execute.rounds.is_empty() {
        return vec![execute.median_s.ln()];
    }
    let by_round = by_round(&execute.samples_s, &execute.rounds);
    by_round.iter().filter_map(|samples| positive_median(samples)).map(f64::ln).collect()
}

/// Variance of the logarithm of a run's median, by what the run itself shows: the larger of what its samples and what
/// its rounds tell. Samples that follow each other are alike, so rounds that wander say more than many samples.
fn within(execute: &Execute, rounds: &[f64]) -> f64 {
    let [low, high] = execute.ci95_s;
    let by_samples = if has_interval(execute.samples_s.len()) && low > 0.0 && high >= low {
        ((high / low).ln() / (2.0 * Z95)).powi(2)
    } else {
        of_few(&execute.samples_s)
    };
    by_samples.max(between(rounds) / rounds.len().max(1) as f64)
}

/// Variance of the logarithm of the median of too few samples for an interval.
fn of_few(samples: &[f64]) -> f64 {
    let logs: Vec<f64> = samples.iter().filter(|sample| **sample > 0.0).map(|sample| sample.ln()).collect();
    match logs.len() >= MIN_SAMPLES {
        true => FEW_SAMPLES * variance(&logs) / logs.len() as f64,
        false => UNKNOWN.powi(2),
    }
}

/// Variance between the rounds of a run; 0 where it has one.
fn between(rounds: &[f64]) -> f64 {
    if rounds.len() < 2 { 0.0 } else { variance(rounds) }
}

/// The variance within groups, pooled, and its degrees of freedom; `None` where no group has two values.
pub(crate) fn pooled_variance<'a>(groups: impl IntoIterator<Item = &'a [f64]>) -> Option<(f64, f64)> {
    let (mut squares, mut df) = (0.0, 0.0);
    for group in groups.into_iter().filter(|group| group.len() > 1) {
        let own_df = (group.len() - 1) as f64;
        squares += own_df * variance(group);
        df += own_df;
    }
    (df > 0.0).then(|| (squares / df, df))
}

/// Variance of `values` around their mean, with n - 1 in the denominator; at least two values.
pub(crate) fn variance(values: &[f64]) -> f64 {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (n - 1.0)
}
