//! Runs the steps of a comparison in order, from the reports of both sides to the verdicts and the gate.

use std::collections::BTreeMap;

use crate::means::{changes::mean_changes, ratios::means};
use crate::pairs::pace::ASSUMED_DF;
use crate::pairs::pairing::{Pair, pairs};
use crate::result::change::{Change, Verdict};
use crate::result::comparison::{COMPARISON_VERSION, Comparison, Count, Method};
use crate::result::mean_change::MeanChange;
use crate::statistics::holm::holm;
use crate::statistics::shift::CONFIDENCE;
use crate::variance::joined_sides::JoinedSides;
use crate::variance::run_variance::{RunVariance, run_variances};
use crate::verdict::cell::CellTest;
use crate::verdict::gate::conclude;
use crate::verdict::notes::notes;
use crate::verdict::variance_source::variance_source;
use crate::{
    Difference, InconclusiveReason, Limits, Policy, Run, Runs, Sentence, Severity, environment, export,
};

/// Compares two sides, each of at least one run.
pub fn compare(old: &Runs, new: &Runs, policy: &Policy) -> Comparison {
    compare_with_history(old, new, &Runs::default(), policy)
}

/// Compares two sides and also estimates the variation between runs from `history`: earlier, unchanged runs of the same
/// sweep on the same machine.
pub fn compare_with_history(old: &Runs, new: &Runs, history: &Runs, policy: &Policy) -> Comparison {
    compare_by(old, new, history, policy, 1.0)
}

/// Compares with every variance between runs multiplied by `distortion`. It is 1 except in tests that break the
/// comparison on purpose.
pub(crate) fn compare_by(
    old: &Runs,
    new: &Runs,
    history: &Runs,
    policy: &Policy,
    distortion: f64,
) -> Comparison {
    let environment = environment::differences(old, new, &policy.severities);
    let blocked = environment.iter().any(|difference| difference.severity == Severity::Block);
    let pairs = pairs(old, new, history);
    let limits: Vec<Limits> = pairs.iter().map(|pair| policy.limits(&pair.cell)).collect();
    let variances: Vec<Option<RunVariance>> = if old.is_same_run(new) {
        // A run compared with itself cannot differ, so its variance is 0.
        pairs.iter().map(|_| Some(RunVariance { variance: 0.0, df: ASSUMED_DF, own: None })).collect()
    } else {
        let variances = run_variances(&pairs, &limits, &stored(old, new));
        variances.into_iter().map(|variance| variance.map(|variance| variance.times(distortion))).collect()
    };
    let mut cells = changes(&pairs, &limits, &variances, policy);
    let sweep =
        JoinedSides { pairs: &pairs, limits: &limits, variances: &variances, old, new, history, distortion };
    let mut mean_changes = mean_changes(&sweep, &cells, policy);
    if !old.is_same_run(new) {
        leave_open(&mut cells, &mut mean_changes, &environment, old, new);
    }
    let tested = cells.iter().filter(|change| change.p.is_some()).count();
    let means_tested = mean_changes.len();
    if blocked || policy.cross_machine {
        cells.iter_mut().for_each(only_ratio);
        mean_changes.iter_mut().for_each(only_ratio_of_mean);
    }
    cells.sort_by(|a, b| {
        a.verdict.cmp(&b.verdict).then(b.ratio.unwrap_or(0.0).total_cmp(&a.ratio.unwrap_or(0.0)))
    });
    Comparison {
        comparison_version: COMPARISON_VERSION,
        gpubench_version: env!("CARGO_PKG_VERSION").into(),
        gate: conclude(&cells, &mean_changes, &environment, policy),
        counts: Count::of(&cells),
        old: old.runs.iter().map(Run::info).collect(),
        new: new.runs.iter().map(Run::info).collect(),
        method: Method {
            alpha: policy.alpha,
            confidence: CONFIDENCE,
            correction: "holm".into(),
            cells_tested: tested,
            means_tested,
            variation_source: variance_source(&sweep),
        },
        notes: notes(&sweep, &cells, policy),
        means: means(&cells),
        mean_changes,
        environment,
        cells,
    }
}

/// Returns the variation that the baselines of both sides recorded; for a cell in both, the larger one.
fn stored(old: &Runs, new: &Runs) -> BTreeMap<String, f64> {
    let mut stored = old.baseline_variation.clone();
    for (cell, variation) in &new.baseline_variation {
        let known = stored.entry(cell.clone()).or_default();
        *known = known.max(*variation);
    }
    stored
}

/// Judges every pair after correcting the p-values for the number of tests.
fn changes(
    pairs: &[Pair],
    limits: &[Limits],
    variances: &[Option<RunVariance>],
    policy: &Policy,
) -> Vec<Change> {
    let tests: Vec<CellTest> = pairs
        .iter()
        .zip(limits)
        .zip(variances)
        .map(|((pair, limits), variance)| CellTest::of(pair, *limits, *variance))
        .collect();
    let raw: Vec<f64> = tests.iter().filter_map(|test| test.p).collect();
    let mut corrected = holm(&raw).into_iter();
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
    old: &Runs,
    new: &Runs,
) {
    let disturbances = environment.iter().filter(|difference| difference.severity == Severity::Inconclusive);
    for difference in disturbances {
        let backends = environment::affected(difference, old, new);
        let Difference { fact, old, new, .. } = difference;
        let why = format!("{fact} was {old} in OLD and {new} in NEW");
        for change in cells.iter_mut().filter(|change| backends.contains(change.backend.as_str())) {
            if by_disturbed_time(change.verdict, change.inconclusive_reason) {
                change.verdict = Verdict::Inconclusive;
                change.inconclusive_reason = Some(InconclusiveReason::Disturbed);
                let interval = export::change_with_interval(change).unwrap_or_default();
                change.reason = Sentence::new(interval, ", but ", why.as_str());
                change.next = Some(difference.measure_again());
            }
        }
        let has_backend = |mean: &&mut MeanChange| match &mean.backend {
            Some(backend) => backends.contains(backend.as_str()),
            None => !backends.is_empty(),
        };
        for mean in means.iter_mut().filter(has_backend) {
            if by_disturbed_time(mean.verdict, mean.inconclusive_reason) {
                mean.verdict = Verdict::Inconclusive;
                mean.inconclusive_reason = Some(InconclusiveReason::Disturbed);
                mean.reason = format!("{}, but {why}", export::mean_with_interval(mean.ratio, mean.interval));
                mean.next = Some(difference.measure_again());
            }
        }
    }
}

/// Returns whether a verdict is by the times alone, and not known to be by disturbed ones.
fn by_disturbed_time(verdict: Verdict, reason: Option<InconclusiveReason>) -> bool {
    use InconclusiveReason::{Disturbed, NotComparable};
    match verdict {
        Verdict::Slower | Verdict::Faster | Verdict::Same => true,
        Verdict::Inconclusive => !matches!(reason, Some(Disturbed | NotComparable)),
        _ => false,
    }
}

/// Removes the verdict: times of different machines are shown but not judged.
fn only_ratio(change: &mut Change) {
    change.verdict = Verdict::NotJudged;
    change.inconclusive_reason = None;
    change.next = None;
}

/// Removes the verdict of a mean.
fn only_ratio_of_mean(change: &mut MeanChange) {
    change.verdict = Verdict::NotJudged;
    change.inconclusive_reason = None;
    change.next = None;
    change.reason = export::mean_with_interval(change.ratio, change.interval);
}
