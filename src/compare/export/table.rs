//! The text on the terminal: the conclusion, what differs between both sides, and the cells, the worst first.

use std::fmt::Write;

use super::groups::{Group, groups};
use super::{Format, View, cells, words};
use crate::compare::{Comparison, Conclusion, Severity};
use crate::export::grid::{Tone, hanging};

/// The comparison as aligned text.
pub struct Table;

/// Cells that have a line where not all were asked for.
const CELLS_SHOWN: usize = 24;

/// Groups of cells whose reasons are told; the rest is counted.
const GROUPS_SHOWN: usize = 8;

/// Columns before reasons.
const REASONS: usize = 36;

impl Format for Table {
    fn name(&self) -> &'static str {
        "table"
    }

    fn summary(&self) -> &'static str {
        "aligned text for the terminal: the conclusion, then cells, the worst first"
    }

    fn file_name(&self) -> &'static str {
        "compare.txt"
    }

    fn render(&self, comparison: &Comparison, view: &View) -> String {
        let mut text = heading(comparison, view.color);
        text.push_str(&environment(comparison));
        text.push_str(&all_cells(comparison, view));
        text.push_str(&reasons(comparison, view.color));
        if let Some(means) = cells::means(comparison) {
            let _ = write!(text, "\n{}", means.text(view.color));
        }
        for (index, note) in comparison.notes.iter().enumerate() {
            let gap = if index == 0 { "\n" } else { "" };
            let _ =
                writeln!(text, "{gap}{}", hanging(&format!("Note: {}; next: {}", note.text, note.next), 0));
        }
        text.push('\n');
        for line in words::method(comparison) {
            let _ = writeln!(text, "{}", hanging(&line, 0));
        }
        text
    }
}

fn paint(tone: Tone, text: &str, color: bool) -> String {
    if color { tone.paint(text) } else { text.into() }
}

/// The conclusion, and which runs were compared.
fn heading(comparison: &Comparison, color: bool) -> String {
    let tone = match comparison.gate.conclusion {
        Conclusion::Pass => Tone::Better,
        Conclusion::Regression | Conclusion::NotComparable => Tone::Worse,
        Conclusion::CannotTell => Tone::Unsure,
        Conclusion::RatiosOnly => Tone::Plain,
    };
    let name = comparison.gate.conclusion.name();
    let line = hanging(&words::conclusion(comparison), 0).replacen(name, &paint(tone, name, color), 1);
    let (old, new) = (words::runs(&comparison.old), words::runs(&comparison.new));
    format!("{line}\nOLD  {}\nNEW  {}\n", hanging(&old, 5), hanging(&new, 5))
}

/// The differences that matter, one a line; the others are counted.
fn environment(comparison: &Comparison) -> String {
    let of =
        |severity| comparison.environment.iter().filter(move |difference| difference.severity == severity);
    if comparison.environment.is_empty() {
        return String::new();
    }
    let counts =
        [(Severity::Block, "blocking"), (Severity::Warn, "to mind"), (Severity::Ignore, "of no concern")];
    let counts: Vec<String> = counts
        .into_iter()
        .map(|(severity, words)| (of(severity).count(), words))
        .filter(|(count, _)| *count > 0)
        .map(|(count, words)| format!("{count} {words}"))
        .collect();
    let mut text = format!("\nDifferences between OLD and NEW: {}\n", counts.join(", "));
    for (severity, word) in [(Severity::Block, "block"), (Severity::Warn, "warn ")] {
        for difference in of(severity) {
            let line = format!("{}: {}, now {}", difference.fact, difference.old, difference.new);
            let _ = writeln!(text, "  {word}  {}", hanging(&line, 9));
        }
    }
    text
}

/// The cells that have a line, and what the others are.
fn all_cells(comparison: &Comparison, view: &View) -> String {
    let (lines, folded) = cells::split(comparison, view.all_cells);
    let shown = if view.all_cells { lines.len() } else { lines.len().min(CELLS_SHOWN) };
    let mut text = String::from("\n");
    if shown > 0 {
        let of = if view.all_cells { String::new() } else { format!(" of {}", comparison.cells.len()) };
        let common = cells::common(&lines[..shown]);
        let gap = if common.is_empty() { "" } else { "; " };
        let title = format!("{}{of}, the worst first{gap}{common}", words::count(lines.len()));
        text.push_str(&cells::grid(title, &lines[..shown]).text(view.color));
    }
    if lines.len() > shown {
        let _ = writeln!(text, "  and {} more; --all-cells shows them", lines.len() - shown);
    }
    match words::folded(&folded) {
        Some(folded) => text + &folded + "\n",
        None if comparison.cells.is_empty() => text + "No cell is on either side.\n",
        None => text,
    }
}

/// Why cells are worse or open, and what to do about it.
fn reasons(comparison: &Comparison, color: bool) -> String {
    let groups = groups(comparison);
    let mut text = String::new();
    for (index, group) in groups.iter().take(GROUPS_SHOWN).enumerate() {
        text.push_str(if index == 0 { "\n" } else { "" });
        text.push_str(&group_text(group, color));
    }
    if groups.len() > GROUPS_SHOWN {
        let _ = writeln!(text, "  and {} more reasons; --format csv has them", groups.len() - GROUPS_SHOWN);
    }
    text
}

fn group_text(group: &Group<'_>, color: bool) -> String {
    let tone = if group.verdict.is_regression() { Tone::Worse } else { Tone::Unsure };
    let name = paint(tone, &format!("{:<21}", group.name()), color);
    let (count, reason) = (words::count(group.cells.len()), hanging(&group.reason(), REASONS));
    let mut text = format!("  {name}  {count:>9}  {reason}\n");
    if let Some(next) = group.next {
        let _ = writeln!(text, "{:REASONS$}next: {}", "", hanging(next, REASONS + 6));
    }
    text
}
