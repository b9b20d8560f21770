//! Formats a comparison for the terminal: the result, the differences between both sides, and the deciding cells, worst
//! first.

use std::fmt::Write;

use crate::terminal::hanging;
use crate::terminal::{TerminalTable, painted};
use gpubench_document::table::{Layout, Table, Tone};
use gpubench_report::format::Makes;
use gpubench_text::count::counted;
use gpubench_text::grouped::grouped;

use super::groups::{ReasonGroup, groups};
use super::{ComparisonFormat, View, cells, summary};
use gpubench_analysis::compare::result::{Change, Comparison, Conclusion, Note};
use gpubench_analysis::compare::{Severity, Verdict, phrases};

/// The comparison as aligned text.
pub static TABLE: ComparisonFormat = ComparisonFormat {
    name: "table",
    summary: "text for the terminal: the conclusion, then cells, worst first",
    by_default: true,
    makes: Makes::Text("compare.txt", |comparison, view| Ok(text(comparison, view))),
};

/// Maximum number of regressions, or of ratios across machines, without `--all-cells`.
const REGRESSIONS_SHOWN: usize = 24;

/// Maximum number of cells of any other verdict.
const CELLS_SHOWN: usize = 12;

/// Maximum number of such cells next to regressions.
const CELLS_SHOWN_WITH_REGRESSIONS: usize = 2;

/// Maximum number of ops and variants named for the hidden cells.
const VARIANTS_SHOWN: usize = 3;

/// Maximum number of reasons; the others are counted.
const GROUPS_SHOWN: usize = 8;

/// Width of the labels, in columns.
const LABEL: usize = 8;

/// Indentation of reasons, in columns.
const REASONS: usize = 30;

fn text(comparison: &Comparison, view: &View) -> String {
    let mut blocks = vec![
        heading(comparison, view.color),
        environment(comparison, view) + &notes(comparison),
        all_cells(comparison, view),
        means(comparison, view),
        summary::method(comparison).iter().map(|line| hanging(line, 2) + "\n").collect(),
    ];
    blocks.retain(|block| !block.is_empty());
    blocks.join("\n")
}

/// Leaves out the threshold where lines would be too long.
fn fitting(mut table: Table) -> Table {
    if !table.fits() {
        table.remove_columns("threshold");
    }
    table
}

fn paint(tone: Tone, text: &str, color: bool) -> String {
    if color { painted(text, tone) } else { text.into() }
}

/// Formats the result, the counts, the next step and the runs.
fn heading(comparison: &Comparison, color: bool) -> String {
    let tone = match comparison.gate.conclusion {
        Conclusion::Pass => Tone::Better,
        Conclusion::Regression | Conclusion::NotComparable => Tone::Worse,
        Conclusion::Inconclusive => Tone::Inconclusive,
        Conclusion::RatiosOnly => Tone::Plain,
    };
    let name = summary::conclusion(comparison.gate.conclusion);
    let result = hanging(&summary::result(comparison), LABEL).replacen(&name, &paint(tone, &name, color), 1);
    let mut text = format!("{:LABEL$}{result}\n", "RESULT");
    for (label, line) in summary::lines(comparison) {
        let _ = writeln!(text, "{:LABEL$}{}", label.to_uppercase(), hanging(&line, LABEL));
    }
    text
}

/// Formats the differences that matter, one per line; ignored ones are counted.
fn environment(comparison: &Comparison, view: &View) -> String {
    let of =
        |severity| comparison.environment.iter().filter(move |difference| difference.severity == severity);
    let is_silent = of(Severity::Ignore).count() == comparison.environment.len() && !view.all_cells;
    if comparison.environment.is_empty() || is_silent {
        return String::new();
    }
    let counts = [
        (Severity::Block, "blocking"),
        (Severity::Inconclusive, "that leave times inconclusive"),
        (Severity::Warn, "with a warning"),
        (Severity::Ignore, "ignored"),
    ];
    let counts = counts.map(|(severity, words)| (of(severity).count(), words)).into_iter();
    let counts = counts.filter(|(count, _)| *count > 0).map(|(count, words)| format!("{count} {words}"));
    let counts: Vec<String> = counts.collect();
    let mut text = format!("Differences between OLD and NEW: {}\n", counts.join(", "));
    let shown = [Severity::Block, Severity::Inconclusive, Severity::Warn];
    let width = if of(Severity::Inconclusive).count() > 0 { "inconclusive".len() } else { "block".len() };
    for severity in shown {
        for difference in of(severity) {
            let line = format!("{}: {}, now {}", difference.fact, difference.old, difference.new);
            let _ = writeln!(text, "  {:width$}  {}", severity.name(), hanging(&line, width + 4));
        }
    }
    text
}

fn notes(comparison: &Comparison) -> String {
    let line = |Note { text, next }: &Note| hanging(&format!("Note: {text}; next: {next}"), 2) + "\n";
    comparison.notes.iter().map(line).collect()
}

/// Formats the selected cells and counts the others; empty if no cell is selected, because the heading has the counts.
fn all_cells(comparison: &Comparison, view: &View) -> String {
    let (lines, folded) = cells::split(comparison, view.all_cells);
    let (shown, hidden) = if view.all_cells { (lines, vec![]) } else { shortened(&lines) };
    if shown.is_empty() {
        return String::new();
    }
    let mut text = hanging(&summary::legend(comparison, view.all_cells), 2) + "\n";
    let of = if view.all_cells { String::new() } else { format!(" of {}", comparison.cells.len()) };
    let common = cells::common(&shown);
    let gap = if common.is_empty() { "" } else { "; " };
    let title = format!("{}{of}, worst first{gap}{common}", counted(shown.len(), "cell"));
    // The description of the method below has the thresholds too.
    text.push_str(&fitting(stacked(cells::grid(title, &shown, view.all_cells))).text(view.color));
    text.push_str(&more(&hidden));
    text.push_str(&reasons(comparison, view.color));
    let hint = "--all-cells shows every cell";
    if !folded.is_empty() {
        let folded = format!("Not shown: {}; {hint}", summary::counts(comparison, &folded, None));
        text += &(hanging(&folded, 2) + "\n");
    } else if !hidden.is_empty() {
        text += &format!("  {hint}\n");
    }
    text
}

/// Formats the geometric means that changed, or all of them.
fn means(comparison: &Comparison, view: &View) -> String {
    let tested = cells::mean_changes(comparison, view.all_cells);
    let described = cells::means(comparison).filter(|_| view.all_cells);
    let grids = tested.map(stacked).into_iter().chain(described);
    grids.map(|grid| grid.text(view.color)).collect::<Vec<_>>().join("\n")
}

/// Splits the lines into those that are shown and those beyond the maximum.
fn shortened<'a>(lines: &[&'a Change]) -> (Vec<&'a Change>, Vec<&'a Change>) {
    let has_regressions = lines.iter().any(|cell| cell.verdict.is_regression());
    let others = if has_regressions { CELLS_SHOWN_WITH_REGRESSIONS } else { CELLS_SHOWN };
    let (mut shown, mut hidden): (Vec<&Change>, Vec<&Change>) = (vec![], vec![]);
    for &cell in lines {
        let is_regression = cell.verdict.is_regression();
        // Across machines the ratios are the only result.
        let is_first = is_regression || cell.verdict == Verdict::NotJudged;
        let max = if is_first { REGRESSIONS_SHOWN } else { others };
        let same_kind = |other: &&&Change| match is_regression {
            true => other.verdict.is_regression(),
            false => other.verdict == cell.verdict,
        };
        let is_shown = shown.iter().filter(same_kind).count() < max;
        if is_shown { shown.push(cell) } else { hidden.push(cell) }
    }
    (shown, hidden)
}

/// Counts the hidden cells by op and variant, one line per verdict.
fn more(hidden: &[&Change]) -> String {
    let mut text = String::new();
    for (word, cells) in grouped(hidden.iter().map(|cell| (phrases::verdict(cell), cell))) {
        let name = |cell: &Change| format!("{} {}/{}", cell.case.op, cell.backend, cell.variant);
        let mut variants = grouped(cells.iter().map(|cell| (name(cell), ())));
        variants.sort_by_key(|(_, cells)| std::cmp::Reverse(cells.len()));
        let others: usize = variants.iter().skip(VARIANTS_SHOWN).map(|(_, cells)| cells.len()).sum();
        let named = variants.iter().take(VARIANTS_SHOWN);
        let named = named.map(|(name, cells)| format!("{} {name}", cells.len()));
        let others = (others > 0).then(|| counted(others, "other"));
        let named: Vec<String> = named.chain(others).collect();
        let line = format!("{} more {word}: {}", cells.len(), named.join(", "));
        let _ = writeln!(text, "  {}", hanging(&line, 4));
    }
    text
}

/// Puts headings of two words on two lines.
fn stacked(table: Table) -> Table {
    table.laid_out(Layout::TwoLineHeadings)
}

/// Formats the reasons of worse or open cells that their numbers do not show, with the next steps.
fn reasons(comparison: &Comparison, color: bool) -> String {
    let groups = groups(comparison);
    let mut text: String = groups.iter().take(GROUPS_SHOWN).map(|group| group_text(group, color)).collect();
    if groups.len() > GROUPS_SHOWN {
        let _ = writeln!(text, "  {} more reasons (--format csv lists them)", groups.len() - GROUPS_SHOWN);
    }
    text
}

fn group_text(group: &ReasonGroup, color: bool) -> String {
    let tone = if group.verdict.is_regression() { Tone::Worse } else { Tone::Inconclusive };
    let name = paint(tone, &format!("{:<15}", group.name()), color);
    let reason = Some(group.reason()).filter(|reason| !reason.is_empty());
    let next = group.next.map(|next| format!("next: {next}"));
    let line = reason.into_iter().chain(next).collect::<Vec<String>>().join("; ");
    format!("  {name}  {:>9}  {}\n", counted(group.cells.len(), "cell"), hanging(&line, REASONS))
}
