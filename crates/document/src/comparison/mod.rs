//! Turns a comparison into a document: the conclusion, the differences between both sides, the cells and means that
//! decide, their reasons, the method.

mod cells;
mod groups;
pub mod phrases;
pub mod summary;

use gpubench_analysis::compare::result::{Change, Comparison, Conclusion};
use gpubench_analysis::compare::{Severity, Verdict};
use gpubench_text::count::counted;
use gpubench_text::cut::fitted;

use crate::blocks::{Block, Document, Remark};
use crate::table::Tone;

/// Maximum number of cells in the folded table. With it, a document stays below the 65 536 characters of a comment on GitHub.
const FOLDED_CELLS: usize = 200;

const FOLDED_LINES: usize = 30;

/// Maximum number of cells in the table of those that decide, the worst first; the others are counted.
const CELLS: usize = 10;

/// Maximum number of cells in a table of regressions, or of ratios across machines.
const REGRESSIONS: usize = 24;

/// Maximum number of characters of a text from another program in a medium that folds.
const TEXT: usize = 300;

/// What the document of a comparison shows.
#[derive(Clone, Copy, Debug, Default)]
pub struct ComparisonDetail {
    /// Show every cell and mean, including unchanged and not judged ones.
    pub all_cells: bool,
    /// True for media that fold sections: they also get the other cells, all means, and the differences that are ignored.
    pub folds: bool,
}

impl ComparisonDetail {
    /// Limits the length of a text from another program, where the whole document has a limit.
    fn fitted(self, text: &str) -> String {
        if self.folds { fitted(text, TEXT) } else { text.to_owned() }
    }

    fn max_lines(self) -> usize {
        if self.folds { FOLDED_LINES } else { usize::MAX }
    }
}

/// Returns the document of a comparison.
pub fn document(comparison: &Comparison, detail: ComparisonDetail) -> Document {
    let blocks = [
        conclusion(comparison, detail),
        differences(comparison, detail).into_iter().collect(),
        notes(comparison, detail).into_iter().collect(),
        deciding_cells(comparison, detail),
        means(comparison, detail),
        method(comparison, detail),
    ];
    Document { title: "gpubench compare".into(), blocks: blocks.concat() }
}

fn conclusion(comparison: &Comparison, detail: ComparisonDetail) -> Vec<Block> {
    let tone = match comparison.gate.conclusion {
        Conclusion::Pass => Tone::Better,
        Conclusion::Regression | Conclusion::NotComparable => Tone::Worse,
        Conclusion::Inconclusive => Tone::Inconclusive,
        Conclusion::RatiosOnly => Tone::Plain,
    };
    let result = detail.fitted(&summary::result(comparison));
    let facts = summary::lines(comparison).into_iter();
    let facts = facts.map(|(label, line)| (label.to_owned(), detail.fitted(&line).into()));
    vec![Block::alert(format!("Result: {result}"), tone), Block::Facts(facts.collect())]
}

/// Returns the differences with their severities. Ignored ones are only counted, unless everything is shown.
fn differences(comparison: &Comparison, detail: ComparisonDetail) -> Option<Block> {
    let shows_ignored = detail.all_cells || detail.folds;
    let found = &comparison.environment;
    let shown = found.iter().filter(|found| shows_ignored || found.severity != Severity::Ignore);
    let facts = shown.take(detail.max_lines()).map(|found| {
        let text = format!("{}: {}, now {}", found.fact, found.old, found.new);
        (found.severity.name().to_owned(), detail.fitted(&text).into())
    });
    let facts: Vec<_> = facts.collect();
    let counts = Severity::ALL.map(|severity| {
        let words = match severity {
            Severity::Block => "blocking",
            Severity::Inconclusive => "that leave times inconclusive",
            Severity::Warn => "with a warning",
            Severity::Ignore => "ignored",
        };
        (found.iter().filter(|found| found.severity == severity).count(), words)
    });
    let counts =
        counts.iter().filter(|(count, _)| *count > 0).map(|(count, words)| format!("{count} {words}"));
    let title = format!("Differences between OLD and NEW ({})", counts.collect::<Vec<_>>().join(", "));
    Block::section(title, (!facts.is_empty()).then_some(Block::Facts(facts)))
}

fn notes(comparison: &Comparison, detail: ComparisonDetail) -> Option<Block> {
    let notes = comparison.notes.iter().take(detail.max_lines());
    let remarks = notes.map(|note| Remark {
        text: format!("Note: {}", detail.fitted(&note.text)),
        next: Some(detail.fitted(&note.next)),
        ..Remark::default()
    });
    Block::remarks(remarks)
}

/// Returns the cells that decide, worst first, with their reasons, and counts the others, which media that fold get too.
fn deciding_cells(comparison: &Comparison, detail: ComparisonDetail) -> Vec<Block> {
    let ComparisonDetail { all_cells, folds } = detail;
    let (lines, others) = cells::split(comparison, all_cells);
    // Across machines the ratios are the only result.
    let is_first = |cell: &&&Change| cell.verdict.is_regression() || cell.verdict == Verdict::NotJudged;
    let max = lines.iter().filter(is_first).count().clamp(CELLS, REGRESSIONS);
    let (shown, hidden) =
        lines.split_at(if all_cells && !folds { lines.len() } else { lines.len().min(max) });
    if shown.is_empty() && !folds {
        return vec![];
    }
    let mut blocks = vec![Block::paragraph(summary::legend(comparison, all_cells || folds))];
    if !shown.is_empty() {
        let of = if all_cells { String::new() } else { format!(" of {}", comparison.cells.len()) };
        let common = cells::common(shown).map(|common| format!("; {common}")).unwrap_or_default();
        let title = format!("{}{of}, worst first{common}", counted(shown.len(), "cell"));
        blocks.push(Block::Table(cells::grid(&title, shown, all_cells)));
    }
    blocks.extend(groups::reasons(comparison, detail));
    let rest = [hidden, others.as_slice()].concat();
    if !rest.is_empty() {
        let counts = summary::counts(comparison, &rest, None);
        blocks.push(Block::paragraph(match folds {
            true => format!("Not in the table above: {counts}"),
            false => format!("Not shown: {counts}; --all-cells shows every cell"),
        }));
    }
    if folds && !rest.is_empty() {
        let shown = &rest[..rest.len().min(FOLDED_CELLS)];
        let common = cells::common(shown)
            .map(|common| Block::paragraph(format!("All cells in this table: {common}.")));
        let more = rest.len() - shown.len();
        let more = (more > 0).then(|| {
            Block::paragraph(format!("{} not shown; --format json lists them.", counted(more, "more cell")))
        });
        let table = Block::Table(cells::grid("", shown, true));
        let content = common.into_iter().chain([table]).chain(more);
        blocks.extend(Block::folded(counted(rest.len(), "more cell"), content));
    }
    blocks
}

fn means(comparison: &Comparison, detail: ComparisonDetail) -> Vec<Block> {
    let all = || {
        let tables = [cells::mean_changes(comparison, true), cells::means(comparison)].into_iter().flatten();
        tables.map(|mut table| {
            table.rows.truncate(detail.max_lines());
            Block::Table(table)
        })
    };
    let changed = cells::mean_changes(comparison, false).map(Block::Table).into_iter();
    match (detail.folds, detail.all_cells) {
        (true, _) => changed.chain(Block::folded("All geometric means", all())).collect(),
        (false, true) => all().collect(),
        (false, false) => changed.collect(),
    }
}

fn method(comparison: &Comparison, detail: ComparisonDetail) -> Vec<Block> {
    let lines = summary::method(comparison).into_iter();
    let lines = vec![Block::Items(lines.map(|line| detail.fitted(&line).into()).collect())];
    if detail.folds { Block::folded("Method", lines).into_iter().collect() } else { lines }
}
