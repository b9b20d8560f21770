//! Describes the source of the variation between runs in words.

use crate::export::percent;
use crate::pairs::pace::Pace;
use crate::variance::joined_sides::JoinedSides;
use crate::variance::run_variance::unreplicated;
use crate::variance::unreplicated::MIN_CELLS;

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
    let learned = unreplicated(sweep.pairs, sweep.limits);
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
        (!estimated.is_empty())
            .then(|| format!("estimated from the changes of all cells: {}", estimated.join(", "))),
        (!assumed.is_empty())
            .then(|| format!("assumed (fewer than {MIN_CELLS} cells): {}", assumed.join(", "))),
    ];
    match parts.into_iter().flatten().collect::<Vec<_>>() {
        parts if parts.is_empty() => "none (no cell has a time on both sides)".into(),
        parts => parts.join("; "),
    }
}
