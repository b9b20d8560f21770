//! Checks if passes are fit for a baseline, and explains why not.

use crate::case::Cell;
use crate::cli::stream;
use crate::compare::planning::{Calibrated, incomparable_cells, unusable};
use crate::compare::{Policy, Runs, Severity, environment};
use crate::report::quantity::spread_text;
use crate::report::{Outcome, Report, Row};

/// The reason why passes are not fit for a baseline.
pub(crate) struct Refusal {
    /// The reason in one line, without a full stop.
    pub problem: String,
    /// The cells with that problem or what differs, each with its figures; empty if the problem says all.
    pub cells: Vec<String>,
    /// The next step, in sentences.
    pub next: String,
    /// Whether the passes are only noisy, which the user may accept.
    pub is_noise: bool,
}

/// The next step where cells have no time that can be compared.
const NEXT_OF_CELLS: &str = "Measure again without these cells (--ops, --sizes, --variants), or mend the causes; gpubench doctor lists what is missing.";

impl Refusal {
    /// Returns the refusal of a pass with cells that are incorrect, failed or ended early, each with the reason.
    pub(crate) fn of_pass(pass: u32, report: &Report) -> Refusal {
        let line =
            |row: &Row| format!("{}: {}", row.cell(), row.reason.as_deref().unwrap_or("no reason given"));
        let bad = |row: &&Row| {
            !matches!(row.outcome, Outcome::Measured | Outcome::Skipped) || row.has_ended_early()
        };
        let cells = report.rows.iter().filter(bad).map(line).collect();
        Refusal::unfit(
            format!("pass {pass} has cells without a right answer or all their samples"),
            cells,
            NEXT_OF_CELLS,
        )
    }

    fn unfit(problem: String, cells: Vec<String>, next: &str) -> Refusal {
        Refusal { problem, cells, next: next.into(), is_noise: false }
    }

    /// Prints it to stderr: the problem, a line per reason, and the next step.
    pub(crate) fn print(&self) {
        let colon = if self.cells.is_empty() { "" } else { ":" };
        stream::complain(&format!("no baseline was saved: {}{colon}", self.problem));
        for cell in &self.cells {
            stream::note(&format!("  {cell}"));
        }
        stream::note(&self.next);
    }
}

/// Checks if passes are fit for a baseline; `None` if they are.
pub(crate) fn refusal(
    runs: &Runs,
    cells: &[Calibrated],
    policy: &Policy,
    accept_noisy: bool,
) -> Option<Refusal> {
    unfit(runs, cells, policy).or_else(|| disagreement(cells).filter(|_| !accept_noisy))
}

fn unfit(runs: &Runs, cells: &[Calibrated], policy: &Policy) -> Option<Refusal> {
    let listed =
        |cells: Vec<(Cell, String)>| cells.iter().map(|(cell, why)| format!("{cell}: {why}")).collect();
    let mut differences = environment::differences(runs, runs, &policy.severities);
    differences.retain(|difference| difference.severity == Severity::Block);
    let blocking = differences.iter().map(|difference| format!("{}: {}", difference.fact, difference.old));
    let reasons: [(_, Vec<String>, _); 3] = [
        ("not every pass has a right answer of every cell", listed(unusable(runs)), NEXT_OF_CELLS),
        (
            "cells differ between the passes",
            listed(incomparable_cells(runs)),
            "Use runs of one build on one machine.",
        ),
        (
            "the passes are not of one machine",
            blocking.collect(),
            "Use runs of one machine, or allow the difference in a --policy file.",
        ),
    ];
    let found = reasons.into_iter().find(|(_, reasons, _)| !reasons.is_empty());
    let none =
        || ("no cell has a time", vec![], "The reports give the reasons: gpubench show REPORT --tables.");
    let (problem, reasons, next) = found.or_else(|| cells.is_empty().then(none))?;
    Some(Refusal::unfit(problem.into(), reasons, next))
}

/// Reports the cells that differ by more than their threshold between passes.
fn disagreement(cells: &[Calibrated]) -> Option<Refusal> {
    let mut noisy: Vec<&Calibrated> = cells.iter().filter(|cell| cell.disagrees()).collect();
    if noisy.is_empty() {
        return None;
    }
    noisy.sort_by(|a, b| b.pass_range.total_cmp(&a.pass_range));
    let named = noisy.iter().map(|cell| {
        let [range, threshold] = [cell.pass_range, cell.threshold].map(spread_text);
        format!("{} by {range} (threshold {threshold})", cell.cell)
    });
    Some(Refusal {
        problem: "the passes disagree although nothing changed".into(),
        cells: named.collect(),
        next: "Close other programs, sample longer (--max-time), exclude those cells, or save them anyway with --accept-noisy.".into(),
        is_noise: true,
    })
}
