//! Compares runs: what became slower, faster, wrong or lost between OLD and NEW, and whether that can be believed.
//!
//! Reads reports only; touches no device. `docs/compare.md` describes the method.

#![forbid(unsafe_code)]

pub mod baseline;
pub mod environment;
#[cfg(test)]
pub(crate) mod example;
pub mod export;
pub mod load;
mod means;
mod pairs;
mod planning;
pub mod policy;
mod result;
pub mod runs;
pub mod self_test;
mod statistics;
mod variance;
mod verdict;

pub use environment::{Difference, Severity};
pub use planning::{calibration, plan, repetition};
pub use policy::{Limits, Policy};
pub use result::change::{Change, Doubt, Measured, Verdict};
pub use result::comparison::{
    COMPARISON_SCHEMA, COMPARISON_VERSION, Comparison, Conclusion, Count, Gate, Mean, Method, Note,
};
pub use result::mean_change::MeanChange;
pub use runs::{Run, RunInfo, Runs};

use std::collections::BTreeMap;

use means::changes::Sweep;
use pairs::pairing::Pair;
use variance::spread::Spread;
use verdict::cell::Candidate;

/// Compares two sides, each of at least one run.
pub fn compare(old: &Runs, new: &Runs, policy: &Policy) -> Comparison {
    compare_with_history(old, new, &Runs::default(), policy)
}

/// Compares two sides; the spread from run to run is learned from `history` too, earlier runs of the same sweep on the
/// same machine in which nothing changed.
pub fn compare_with_history(old: &Runs, new: &Runs, history: &Runs, policy: &Policy) -> Comparison {
    compare_by(old, new, history, policy, 1.0)
}

/// The same with every variance from run to run multiplied by `distortion`: 1, but where a test breaks the comparison on
/// purpose.
fn compare_by(old: &Runs, new: &Runs, history: &Runs, policy: &Policy, distortion: f64) -> Comparison {
    let environment = environment::differences(old, new, policy);
    let blocked = environment.iter().any(|difference| difference.severity == Severity::Block);
    let pairs = pairs::pairing::pairs(old, new, history);
    let limits: Vec<Limits> = pairs.iter().map(|pair| policy.limits(&pair.cell)).collect();
    let spreads: Vec<Option<Spread>> = if old.is_same_run(new) {
        // One run has no spread from run to run: what is compared with itself differs in nothing.
        pairs.iter().map(|_| Some(Spread { variance: 0.0, df: pairs::pace::ASSUMED_DF, own: None })).collect()
    } else {
        let spreads = variance::spread::spreads(&pairs, &limits, &stored(old, new));
        spreads.into_iter().map(|spread| spread.map(|spread| spread.times(distortion))).collect()
    };
    let mut cells = changes(&pairs, &limits, &spreads, policy);
    let sweep = Sweep { pairs: &pairs, limits: &limits, spreads: &spreads, old, new, history, distortion };
    let mut mean_changes = means::changes::mean_changes(&sweep, &cells, policy);
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
        gate: verdict::gate::conclude(&cells, &mean_changes, &environment, policy),
        counts: Count::of(&cells),
        old: old.runs.iter().map(Run::info).collect(),
        new: new.runs.iter().map(Run::info).collect(),
        method: Method {
            alpha: policy.alpha,
            confidence: statistics::shift::CONFIDENCE,
            correction: "holm".into(),
            tested,
            means_tested,
            spread: verdict::origin::origin(&sweep),
        },
        notes: verdict::notes::notes(&sweep, &cells, policy),
        means: means::ratios::means(&cells),
        mean_changes,
        environment,
        cells,
    }
}

/// The spreads that the baselines of both sides kept, the larger of two of the same cell.
fn stored(old: &Runs, new: &Runs) -> BTreeMap<String, f64> {
    let mut stored = old.null_spread.clone();
    for (cell, spread) in &new.null_spread {
        let known = stored.entry(cell.clone()).or_default();
        *known = known.max(*spread);
    }
    stored
}

/// Every pair judged, after the correction of all chances.
fn changes(pairs: &[Pair], limits: &[Limits], spreads: &[Option<Spread>], policy: &Policy) -> Vec<Change> {
    let candidates: Vec<Candidate> = pairs
        .iter()
        .zip(limits)
        .zip(spreads)
        .map(|((pair, limits), spread)| Candidate::of(pair, *limits, *spread))
        .collect();
    let raw: Vec<f64> = candidates.iter().filter_map(|candidate| candidate.p).collect();
    let mut corrected = statistics::holm::holm(&raw).into_iter();
    let judge = |candidate: &Candidate| {
        let corrected = candidate.p.and_then(|_| corrected.next());
        candidate.judge(corrected, policy.alpha, raw.len())
    };
    candidates.iter().map(judge).collect()
}

/// Takes the verdict by time back: what machines of different kinds take is shown, not judged.
fn only_ratio(change: &mut Change) {
    change.verdict = Verdict::NotJudged;
    change.doubt = None;
    change.next = None;
}

/// The same for a mean.
fn only_ratio_of_mean(change: &mut MeanChange) {
    change.verdict = Verdict::NotJudged;
    change.doubt = None;
    change.next = None;
    change.reason = export::mean_with_interval(change.ratio, change.interval);
}

#[cfg(test)]
mod tests;
