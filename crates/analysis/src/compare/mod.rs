//! Compares runs: finds the cells that became slower, faster, incorrect or missing between OLD and NEW, and tests each
//! change against the variation between runs.
//!
//! It reads reports only and uses no device. `docs/compare.md` describes the method.

pub mod baseline;
pub mod environment;
pub mod example;
pub mod load;
mod means;
mod pairs;
pub mod phrases;
pub mod planning;
pub mod policy;
pub mod result;
pub mod runs;
mod statistics;
mod variance;
mod verdict;

pub use environment::{Difference, Severity};
pub use policy::{Limits, Policy};
pub use result::change::Verdict;
pub use result::{COMPARISON_SCHEMA, Comparison};
pub use runs::{Run, Runs};

pub use result::{Change, InconclusiveReason};

use self::means::{mean_changes, means};
use self::pairs::pace::ASSUMED_DF;
use self::pairs::pairs;
use self::phrases::ChangeText;
use self::result::{COMPARISON_VERSION, JudgedSubject, Judgement, MeanChange, Method, VerdictCount};
use self::statistics::shift::CONFIDENCE;
use self::statistics::weighted_holm;
use self::variance::{JoinedSides, RunVariance, run_variances};
use self::verdict::cell::CellTest;
use self::verdict::gate::conclude;
use self::verdict::notes::notes;
use self::verdict::variance_source;

/// Compares two sides, each of at least one run.
pub fn compare(old: &Runs, new: &Runs, policy: &Policy) -> Comparison {
    compare_with_history(old, new, &Runs::default(), policy)
}

/// Compares two sides, and estimates the variation between runs from a history of earlier, unchanged runs too.
pub fn compare_with_history(old: &Runs, new: &Runs, history: &Runs, policy: &Policy) -> Comparison {
    let environment = environment::differences(old, new, &policy.severities);
    let blocked = environment.iter().any(|difference| difference.severity == Severity::Block);
    let pairs = pairs(old, new, history);
    let limits: Vec<Limits> = pairs.iter().map(|pair| policy.limits(&pair.cell)).collect();
    let variances: Vec<Option<RunVariance>> = if old.is_same_run(new) {
        // A run compared with itself cannot differ, so its variance is 0.
        vec![Some(RunVariance { variance: 0.0, df: ASSUMED_DF, own: None }); pairs.len()]
    } else {
        // For a cell in the baselines of both sides, the larger variation counts.
        let mut stored = old.baseline_variation.clone();
        for (cell, variation) in &new.baseline_variation {
            let known = stored.entry(cell.clone()).or_default();
            *known = known.max(*variation);
        }
        run_variances(&pairs, &limits, &stored)
    };
    let sweep = JoinedSides { pairs: &pairs, limits: &limits, variances: &variances, old, new, history };
    let mut cells = changes(&sweep, policy);
    let mut mean_changes = mean_changes(&sweep, policy);
    if !old.is_same_run(new) {
        leave_open(&mut cells, &mut mean_changes, &environment, &sweep);
    }
    if blocked || policy.cross_machine {
        cells.iter_mut().for_each(Judgement::remove_verdict);
        for mean in &mut mean_changes {
            mean.remove_verdict();
            mean.reason = mean.change().map(ChangeText::with_interval).unwrap_or_default();
        }
    }
    cells.sort_by(|a, b| {
        a.verdict.cmp(&b.verdict).then(b.ratio.unwrap_or(0.0).total_cmp(&a.ratio.unwrap_or(0.0)))
    });
    Comparison {
        comparison_version: COMPARISON_VERSION,
        gpubench_version: env!("CARGO_PKG_VERSION").into(),
        gate: conclude(&cells, &mean_changes, &environment, policy),
        counts: VerdictCount::of(&cells),
        old: old.runs.iter().map(Run::info).collect(),
        new: new.runs.iter().map(Run::info).collect(),
        method: Method {
            alpha: policy.alpha,
            confidence: CONFIDENCE,
            correction: "holm".into(),
            cells_tested: cells.iter().filter(|change| change.p.is_some()).count(),
            means_tested: mean_changes.len(),
            variation_source: variance_source(&sweep),
        },
        notes: notes(&sweep, &cells, policy),
        means: means(&cells),
        mean_changes,
        environment,
        cells,
    }
}

/// Judges every pair after correcting the p-values for the number of tests.
fn changes(sweep: &JoinedSides, policy: &Policy) -> Vec<Change> {
    let cells = sweep.pairs.iter().zip(sweep.limits).zip(sweep.variances);
    let tests: Vec<CellTest> =
        cells.map(|((pair, limits), variance)| CellTest::of(pair, *limits, *variance)).collect();
    let raw: Vec<f64> = tests.iter().filter_map(|test| test.p).collect();
    let mut corrected = weighted_holm(&raw, &vec![1.0; raw.len()]).into_iter();
    let judge = |test: &CellTest| {
        let corrected = test.p.and_then(|_| corrected.next());
        test.judge(corrected, policy.alpha, raw.len())
    };
    tests.iter().map(judge).collect()
}

/// Makes the verdicts by times of disturbed runs inconclusive: such times do not show what changed.
fn leave_open(
    cells: &mut [Change],
    means: &mut [MeanChange],
    environment: &[Difference],
    sweep: &JoinedSides,
) {
    for difference in environment.iter().filter(|found| found.severity == Severity::Inconclusive) {
        let backends = environment::affected(difference, sweep.old, sweep.new);
        for change in cells.iter_mut().filter(|change| backends.contains(change.cell().backend.as_str())) {
            disturb(change, difference);
        }
        let is_affected = |mean: &MeanChange| match &mean.subject.backend {
            Some(backend) => backends.contains(backend.as_str()),
            None => !backends.is_empty(),
        };
        for mean in means.iter_mut().filter(|mean| is_affected(mean)) {
            disturb(mean, difference);
        }
    }
}

/// Makes a verdict inconclusive if it is by the times alone, and not known to be by disturbed ones.
fn disturb<T: JudgedSubject>(judged: &mut Judgement<T>, difference: &Difference) {
    use InconclusiveReason::{Disturbed, NotComparable};
    let is_by_undisturbed_time = match judged.verdict {
        Verdict::Slower | Verdict::Faster | Verdict::Same => true,
        Verdict::Inconclusive => !matches!(judged.inconclusive_reason, Some(Disturbed | NotComparable)),
        _ => false,
    };
    if is_by_undisturbed_time {
        let Difference { fact, old, new, .. } = difference;
        let figures = judged.change().map(|change| change.with_interval() + ", but ").unwrap_or_default();
        judged.reason = format!("{figures}{fact} was {old} in OLD and {new} in NEW");
        (judged.verdict, judged.inconclusive_reason) = (Verdict::Inconclusive, Some(Disturbed));
        judged.next = Some(difference.measure_again());
    }
}

#[cfg(test)]
mod tests;
