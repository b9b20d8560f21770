//! Checks if passes are fit for a baseline, and explains why not.

use crate::compare::calibration::{Calibrated, incomparable_cells, unusable};
use crate::compare::repetition::{MAX_COUNT, MIN_CHANCE, Repetition};
use crate::compare::{Policy, Runs, Severity, environment};
use crate::report::quantity::spread_text;

/// Maximum number of cells named per problem; the others are counted.
const SHOWN: usize = 8;

/// The reason why passes are not fit for a baseline, with the next step.
pub(crate) enum Refusal {
    /// They cannot be compared.
    Unfit(String),
    /// They are only noisy, which the user may accept.
    Noisy(String),
}

impl Refusal {
    pub(crate) fn text(&self) -> &str {
        match self {
            Refusal::Unfit(text) | Refusal::Noisy(text) => text,
        }
    }
}

/// Checks if passes are fit for a baseline; `None` if they are.
pub(crate) fn refusal(
    runs: &Runs,
    cells: &[Calibrated],
    policy: &Policy,
    accept_noisy: bool,
) -> Option<Refusal> {
    if let Some(reason) = unfit(runs, cells, policy) {
        return Some(Refusal::Unfit(reason));
    }
    if accept_noisy {
        return None;
    }
    let noise = disagreement(cells).or_else(|| useless(&Repetition { cells, passes: runs.runs.len() }));
    noise.map(Refusal::Noisy)
}

fn unfit(runs: &Runs, cells: &[Calibrated], policy: &Policy) -> Option<String> {
    if let Some((cell, reason)) = unusable(runs).first() {
        return Some(format!("{cell} was {reason}"));
    }
    if let Some((cell, reason)) = incomparable_cells(runs).first() {
        return Some(format!("the passes of {cell} cannot be compared: {reason}; use runs of one build"));
    }
    if cells.is_empty() {
        return Some("no cell has a time; the reports give the reasons".into());
    }
    let differences = environment::differences(runs, runs, &policy.severities);
    if let Some(difference) = differences.iter().find(|difference| difference.severity == Severity::Block) {
        return Some(format!(
            "{} differs between the runs ({}): use runs of one machine, or allow the difference in a --policy file",
            difference.fact, difference.old
        ));
    }
    None
}

/// Reports the cells that differ by more than their threshold between passes.
fn disagreement(cells: &[Calibrated]) -> Option<String> {
    let mut noisy: Vec<&Calibrated> = cells.iter().filter(|cell| cell.disagrees()).collect();
    if noisy.is_empty() {
        return None;
    }
    noisy.sort_by(|a, b| b.pass_range.total_cmp(&a.pass_range));
    let named = noisy.iter().map(|cell| {
        format!(
            "{} by {} (threshold {})",
            cell.cell,
            spread_text(cell.pass_range),
            spread_text(cell.threshold)
        )
    });
    Some(format!(
        "the passes disagree although nothing changed: {}. Close other programs, sample longer (--max-time), exclude those \
        cells, or save them anyway with --accept-noisy",
        listed(named.collect())
    ))
}

/// Reports the cells for which an unchanged run would be inconclusive.
fn useless(repetition: &Repetition) -> Option<String> {
    let passes = repetition.passes;
    if repetition.chance(passes, 1) >= MIN_CHANCE {
        return None;
    }
    let chance = |cell: &Calibrated| repetition.chance_of(cell, passes, 1);
    let mut cells: Vec<&Calibrated> = repetition.cells.iter().collect();
    cells.sort_by(|a, b| chance(a).total_cmp(&chance(b)));
    let named = cells.iter().take_while(|cell| chance(cell) < 1.0 - 1e-3).map(|cell| {
        format!(
            "{} (variation {}, threshold {})",
            cell.cell,
            spread_text(cell.variation_between_runs),
            spread_text(cell.threshold)
        )
    });
    let step = match (repetition.passes_needed(), repetition.runs_needed()) {
        (Some(needed), _) => format!("save {needed} passes (--passes {needed})"),
        (None, Some(runs)) => {
            format!(
                "even {MAX_COUNT} passes are too few for a single run: widen --threshold here and in compare, or save with --accept-noisy and compare {runs} runs at a time with it"
            )
        }
        (None, None) => "widen --threshold here and in compare, or exclude those cells".into(),
    };
    Some(format!(
        "with {passes} passes, an unchanged run would be inconclusive more often than not: {}. Next: {step}",
        listed(named.collect())
    ))
}

/// Joins the first names and counts the others.
fn listed(mut named: Vec<String>) -> String {
    let more = named.len().saturating_sub(SHOWN);
    named.truncate(SHOWN);
    if more > 0 {
        named.push(format!("{more} more"));
    }
    named.join(", ")
}
