//! Draws the conclusions: the verdict on each cell, the gate's exit code, and the notes on the comparison as a whole.

pub(crate) mod cell;
pub(crate) mod gate;
pub(crate) mod notes;

use crate::compare::pairs::pace::Pace;
use crate::compare::phrases::percent;
use crate::compare::variance::{JoinedSides, MIN_CELLS, Unreplicated};

pub(crate) const MIN_RUNS: usize = 3;

pub(crate) const COMMAND: &str = "--old A B C --new D E F";

pub(crate) const HISTORY: &str = "two or more earlier runs as --history";

pub(crate) const SEE_WHAT_CHANGED: &str =
    "look at what changed; if you doubt the result, compare more runs per side";

/// Describes the source of the variation between runs in words.
pub(crate) fn variance_source(sweep: &JoinedSides) -> String {
    let (old, new, history) = (sweep.old.runs.len(), sweep.new.runs.len(), sweep.history.runs.len());
    if sweep.old.is_same_run(sweep.new) {
        return "none (a run compared with itself)".into();
    }
    if old.max(new).max(history) < 2 {
        return of_one_run(sweep);
    }
    let count = |runs: usize, of: &str| (runs > 1).then(|| format!("{runs} runs of {of}"));
    let sources = [count(old, "OLD"), count(new, "NEW"), count(history, "the history")];
    let sources: Vec<String> = sources.into_iter().flatten().collect();
    let known = [sweep.old, sweep.new].iter().any(|runs| !runs.baseline_variation.is_empty());
    let least = if known { ", and at least that of the baseline" } else { "" };
    format!("measured between {}{least}", sources.join(" and "))
}

/// Returns the words for one run per side: paces with an estimated variation first, then those with an assumed one.
fn of_one_run(sweep: &JoinedSides) -> String {
    let learned = Unreplicated::of(sweep.pairs, sweep.limits);
    let is_compared =
        |pace: &Pace| sweep.pairs.iter().any(|pair| pair.both().is_some() && Pace::of(pair) == *pace);
    let text = |variation: f64, pace: Pace| format!("{} {}", percent(variation), pace.name());
    let (mut estimated, mut assumed) = (vec![], vec![]);
    for pace in Pace::ALL.into_iter().filter(is_compared) {
        match learned.pooled(pace) {
            Some(variation) => estimated.push(text(variation, pace)),
            None => assumed.push(text(pace.cautious_variation(), pace)),
        }
    }
    let parts = [
        ("estimated from the changes of all cells".to_owned(), estimated),
        (format!("assumed (fewer than {MIN_CELLS} cells)"), assumed),
    ];
    let parts = parts.into_iter().filter(|(_, paces)| !paces.is_empty());
    let parts: Vec<String> = parts.map(|(how, paces)| format!("{how}: {}", paces.join(", "))).collect();
    if parts.is_empty() { "none (no cell has a time on both sides)".into() } else { parts.join("; ") }
}
