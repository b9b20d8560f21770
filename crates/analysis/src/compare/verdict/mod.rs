//! Draws the conclusions: the verdict on each cell, the gate's exit code, and the notes on the comparison as a whole.

pub(crate) mod cell;
pub(crate) mod gate;
pub(crate) mod notes;

use crate::compare::variance::JoinedSides;

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
        return "estimated from the changes of all cells, or assumed for fewer than 8 of a kind".into();
    }
    let count = |runs: usize, of: &str| (runs > 1).then(|| format!("{runs} runs of {of}"));
    let sources = [count(old, "OLD"), count(new, "NEW"), count(history, "the history")];
    let sources: Vec<String> = sources.into_iter().flatten().collect();
    let known = [sweep.old, sweep.new].iter().any(|runs| !runs.baseline_variation.is_empty());
    let least = if known { ", and at least that of the baseline" } else { "" };
    format!("measured between {}{least}", sources.join(" and "))
}
