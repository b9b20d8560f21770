//! Markdown for a comment on a pull request or the summary of a job: the conclusion and the worst cells, then the rest in
//! folded sections.

use std::fmt::Write;

use gpubench_document::table::{Column, Field, Table};
use gpubench_report::format::Makes;
use gpubench_text::count::counted;
use gpubench_text::cut::fitted;
use gpubench_text::escape::markdown as escape;

use super::groups::groups;
use super::{ComparisonFormat, View, cells, summary};
use gpubench_analysis::compare::{Change, Comparison, phrases};

pub(crate) static MARKDOWN: ComparisonFormat = ComparisonFormat {
    name: "md",
    summary: "Markdown for a comment on a pull request or the summary of a job",
    by_default: false,
    makes: Makes::Text("compare.md", |comparison, view| Ok(text(comparison, view))),
};

/// Maximum number of cells in the open table.
const WORST_SHOWN: usize = 20;

/// Maximum number of cells in the folded table. With both, the text stays below the 65 536 characters of a comment on
/// GitHub.
const REST_SHOWN: usize = 200;

/// Maximum number of reasons.
const GROUPS_SHOWN: usize = 20;

/// Maximum number of differences, of notes and of means.
const LINES_SHOWN: usize = 30;

/// Maximum number of characters of a text from another program.
const TEXT_SHOWN: usize = 300;

pub(crate) fn text(comparison: &Comparison, view: &View) -> String {
    let mut text = heading(comparison);
    for note in comparison.notes.iter().take(LINES_SHOWN) {
        let _ = writeln!(text, "Note: {}; next: {}.\n", shown(&note.text), shown(&note.next));
    }
    text.push_str(&all_cells(comparison, view));
    text.push_str(&environment(comparison));
    text.push_str("<details><summary>Method</summary>\n\n");
    let _ = writeln!(text, "- {}.", shown(&summary::legend(comparison, true)));
    for line in summary::method(comparison) {
        let _ = writeln!(text, "- {}", shown(&line));
    }
    text.push_str("\n</details>\n");
    without_mentions(&text)
}

/// Formats the result, the counts and the runs.
fn heading(comparison: &Comparison) -> String {
    let mut text = format!("## gpubench compare: {}\n\n", shown(&summary::result(comparison)));
    for (label, line) in summary::lines(comparison) {
        let _ = writeln!(text, "- {label}: {}", shown(&line));
    }
    text + "\n"
}

/// Breaks up mentions of user names, which would notify these users.
///
/// GitHub finds mentions in the rendered text, so a backslash or an entity does not prevent one; an HTML comment does.
fn without_mentions(text: &str) -> String {
    text.replace('@', "@<!-- -->")
}

/// Escapes a text and limits its length.
fn shown(text: &str) -> String {
    escape(&fitted(text, TEXT_SHOWN))
}

fn short(text: &str) -> Field {
    fitted(text, TEXT_SHOWN).into()
}

/// Formats the worst cells with their reasons, then the other cells and the means, folded.
fn all_cells(comparison: &Comparison, view: &View) -> String {
    let (lines, mut rest) = cells::split(comparison, view.all_cells);
    let worst = &lines[..lines.len().min(WORST_SHOWN)];
    let mut text = String::new();
    if !worst.is_empty() {
        let _ = writeln!(text, "{}", table(worst, view.all_cells));
    }
    text.push_str(&reasons(comparison));
    if !rest.is_empty() {
        let _ = writeln!(text, "Not in the table above: {}.\n", summary::counts(comparison, &rest, None));
    }
    rest.splice(..0, lines[worst.len()..].iter().copied());
    if !rest.is_empty() {
        let shown = &rest[..rest.len().min(REST_SHOWN)];
        let summary = counted(rest.len(), "more cell");
        let _ = writeln!(text, "<details><summary>{summary}</summary>\n\n{}", table(shown, true));
        if rest.len() > shown.len() {
            let _ = writeln!(
                text,
                "{} more cells are not shown (`--format json` lists them).\n",
                rest.len() - shown.len()
            );
        }
        text.push_str("</details>\n\n");
    }
    text + &means(comparison)
}

/// Formats the geometric means that changed, then all of them, folded.
fn means(comparison: &Comparison) -> String {
    let open = cells::mean_changes(comparison, false).map(|grid| crate::markdown::table(&grid) + "\n");
    let all = [cells::mean_changes(comparison, true), cells::means(comparison)].into_iter().flatten();
    let tables = all.map(|mut grid| {
        grid.rows.truncate(LINES_SHOWN);
        crate::markdown::table(&grid)
    });
    let folded = tables.collect::<Vec<String>>().join("\n");
    if folded.is_empty() {
        return folded;
    }
    open.unwrap_or_default()
        + &format!("<details><summary>Geometric means</summary>\n\n{folded}\n</details>\n\n")
}

fn table(cells: &[&Change], with_p: bool) -> String {
    let common = cells::common(cells);
    let common = if common.is_empty() { common } else { format!("\nAll cells in this table: {common}.\n") };
    crate::markdown::table(&cells::grid(String::new(), cells, with_p)) + &common
}

fn reasons(comparison: &Comparison) -> String {
    let groups = groups(comparison);
    if groups.is_empty() {
        return String::new();
    }
    let columns = ["verdict", "cells", "why", "next"];
    let columns = columns.map(|heading| Column::new(heading, heading == "cells")).to_vec();
    let rows = groups.iter().take(GROUPS_SHOWN).map(|group| {
        let reason = group.reason();
        vec![
            group.name().into(),
            group.cells.len().to_string().into(),
            short(if reason.is_empty() { phrases::NONE } else { &reason }),
            short(group.next.unwrap_or(phrases::NONE)),
        ]
    });
    let table = Table::untitled(columns, rows.collect());
    let more = groups.len().saturating_sub(GROUPS_SHOWN);
    let more = match more {
        0 => String::new(),
        _ => format!("{more} more reasons are not shown (`--format csv` lists them).\n\n"),
    };
    format!("{}\n{more}", crate::markdown::table(&table))
}

/// Formats the differences between both sides, including ignored ones.
fn environment(comparison: &Comparison) -> String {
    if comparison.environment.is_empty() {
        return String::new();
    }
    let columns = ["severity", "fact", "OLD", "NEW"].map(Column::words).to_vec();
    let rows = comparison.environment.iter().take(LINES_SHOWN).map(|difference| {
        vec![
            difference.severity.name().into(),
            short(&difference.fact),
            short(&difference.old.to_string()),
            short(&difference.new.to_string()),
        ]
    });
    let table = Table::untitled(columns, rows.collect());
    let summary = "Differences between OLD and NEW";
    format!(
        "<details open><summary>{summary}</summary>\n\n{}\n</details>\n\n",
        crate::markdown::table(&table)
    )
}
