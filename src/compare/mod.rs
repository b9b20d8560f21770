//! Compares runs: what became slower, faster, wrong or lost between OLD and NEW, and whether that can be believed.
//!
//! Reads reports only; touches no device. `docs/compare.md` tells the method.

pub mod calibration;
pub mod change;
mod comparison;
pub mod environment;
mod evidence;
#[cfg(test)]
pub(crate) mod example;
pub mod export;
mod gate;
mod holm;
pub mod load;
mod means;
mod moderation;
mod notes;
mod pairing;
pub mod plan;
pub mod policy;
mod ranks;
pub mod runs;
pub mod self_test;
mod shift;
mod spread;
mod verdict;

pub use change::{Change, Doubt, Measured, Verdict};
pub use comparison::{
    COMPARISON_SCHEMA, COMPARISON_VERSION, Comparison, Conclusion, Count, Gate, Mean, Method, Note,
};
pub use environment::{Difference, Severity};
pub use policy::{Limits, Policy};
pub use runs::{Run, RunInfo, Runs};

use pairing::Pair;
use spread::Spread;
use verdict::Candidate;

/// Compares two sides, each of at least one run.
pub fn compare(old: &Runs, new: &Runs, policy: &Policy) -> Comparison {
    let environment = environment::differences(old, new, policy);
    let blocked = environment.iter().any(|difference| difference.severity == Severity::Block);
    let pairs = pairing::pairs(old, new);
    let limits: Vec<Limits> = pairs.iter().map(|pair| policy.limits(&pair.cell)).collect();
    let spreads = if old.is_same_run(new) {
        // One run has no spread from run to run: what is compared with itself differs in nothing.
        pairs.iter().map(|_| Some(Spread { variance: 0.0, df: spread::ASSUMED_DF })).collect()
    } else {
        spread::spreads(&pairs, &limits, old, new)
    };
    let mut cells = changes(&pairs, &limits, &spreads, policy);
    let tested = cells.iter().filter(|change| change.p.is_some()).count();
    if blocked || policy.cross_machine {
        cells.iter_mut().for_each(only_ratio);
    }
    cells.sort_by(|a, b| {
        a.verdict.cmp(&b.verdict).then(b.ratio.unwrap_or(0.0).total_cmp(&a.ratio.unwrap_or(0.0)))
    });
    Comparison {
        comparison_version: COMPARISON_VERSION,
        gpubench_version: env!("CARGO_PKG_VERSION").into(),
        gate: gate::conclude(&cells, &environment, policy),
        counts: Count::of(&cells),
        old: old.runs.iter().map(Run::info).collect(),
        new: new.runs.iter().map(Run::info).collect(),
        method: Method {
            alpha: policy.alpha,
            confidence: shift::CONFIDENCE,
            correction: "holm".into(),
            tested,
            spread: spread::origin(old, new),
        },
        notes: notes::notes(old, new, &cells, policy),
        means: means::means(&cells),
        environment,
        cells,
    }
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
    let mut corrected = holm::holm(&raw).into_iter();
    let judge = |candidate: &Candidate| {
        let corrected = candidate.p.and_then(|_| corrected.next());
        candidate.judge(corrected, policy.alpha, raw.len())
    };
    candidates.iter().map(judge).collect()
}

/// Takes the verdict by time back: what machines of different kinds take is told, not judged.
fn only_ratio(change: &mut Change) {
    change.verdict = Verdict::NotJudged;
    change.doubt = None;
    change.next = None;
}

#[cfg(test)]
mod tests;
