//! The table on the terminal: one an op and element type, what has no time and why, and what the figures mean.

use std::fmt::Write;

use super::grid::Tone;
use super::problems::{Group, groups, summary};
use super::tables::{method, tables};
use super::{Exporter, File, View};
use crate::report::{Outcome, Report};

/// The report as aligned text.
pub struct Table;

/// Groups of cells without a time that are told one by one; the rest is counted.
const GROUPS_SHOWN: usize = 20;

impl Exporter for Table {
    fn name(&self) -> &'static str {
        "table"
    }

    fn summary(&self) -> &'static str {
        "aligned text: the best of each side, or every variant"
    }

    fn extension(&self) -> &'static str {
        "txt"
    }

    fn files(&self, report: &Report, view: &View) -> anyhow::Result<Vec<File>> {
        Ok(vec![File { name: "report.txt".into(), bytes: text(report, view).into_bytes() }])
    }
}

fn text(report: &Report, view: &View) -> String {
    if report.rows.is_empty() {
        return "The report has no rows: no cell was finished.\n".into();
    }
    let mut text = String::new();
    for grid in tables(report, view.all_variants) {
        text.push_str(&grid.text(view.color));
        text.push('\n');
    }
    for line in method(report, view.all_variants) {
        text.push_str(&line);
        text.push('\n');
    }
    if let Some(summary) = summary(report) {
        let _ = writeln!(text, "\n{summary}:");
        let groups = groups(report);
        for group in groups.iter().take(GROUPS_SHOWN) {
            text.push_str(&group_text(group, view.color));
        }
        if groups.len() > GROUPS_SHOWN {
            let _ =
                writeln!(text, "  and {} more reasons; report.json has them", groups.len() - GROUPS_SHOWN);
        }
    }
    text
}

fn group_text(group: &Group<'_>, color: bool) -> String {
    let tone = if group.outcome == Outcome::Skipped { Tone::Plain } else { Tone::Wrong };
    let padded = format!("{:<9}", group.outcome.name());
    let outcome = if color { tone.paint(&padded) } else { padded };
    let mut text = format!("  {outcome}  {:>8}  {}\n", group.count(), group.reason);
    if let Some(fix) = group.fix {
        let _ = writeln!(text, "{:23}fix: {fix}", "");
    }
    let _ = writeln!(text, "{:23}{}", "", group.cells());
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::example;

    #[test]
    fn the_table_shows_the_best_of_each_side_and_why_cells_are_missing() {
        let expected = "\
TITLE
      N  best CPU  time     ±  best GPU     time     ±  speed-up    error  of bound
";
        let text = text(&example::full(), &View::default());
        assert!(text.starts_with(expected), "{text}");
    }
}
