//! Writes a report as Markdown: the answer, the tables, phases, method and environment.

use std::fmt::Write;

use gpubench_answer::words::paragraph;
use gpubench_model::format::Makes;
use gpubench_model::report::Report;
use gpubench_text::escape::markdown as escape;
use gpubench_text::table::{Column, Field, Table};

use super::by_backend::by_backend;
use super::cautions::cautions;
use super::environment::environment;
use super::method::method;
use super::phases::phases;
use super::problems::{ended_early, groups, run_warnings, summary};
use super::screen::Sweeps;
use super::tables::{MARK, tables};
use super::view::{Format, View};

pub(crate) static MARKDOWN: Format = Format {
    name: "md",
    summary: "the answer and the tables as Markdown, with environment and method",
    by_default: true,
    makes: Makes::Text("report.md", |report, view| Ok(text(report, view))),
};

fn text(report: &Report, view: &View) -> String {
    let mut text = format!("# gpubench report\n\n{}## Results\n\n", answer(report));
    if report.rows.is_empty() {
        text.push_str("The report has no rows: no cell was finished.\n\n");
    }
    for table in tables(report, view.all_variants) {
        text.push_str(&table.markdown(3));
        text.push('\n');
    }
    if let Some(table) = by_backend(report) {
        let _ = writeln!(text, "### By backend\n\n{}", table.markdown_table());
        text.push_str(
            "The best correct variant of each in full precision with its resident time, by the host's clock. In \
             parentheses: the time of the first backend over it, above 1 where it is faster.\n\n",
        );
    }
    text.push_str(&remarks(report, view.all_variants));
    let (ended_early, summary) = (ended_early(report), summary(report));
    if ended_early.is_some() || summary.is_some() {
        text.push_str("## Cells without a time\n\n");
    }
    if let Some(line) = ended_early {
        let _ = writeln!(text, "{line}.\n");
    }
    if let Some(summary) = summary {
        let _ = writeln!(text, "{summary}.\n\n{}", problems(report));
    }
    text.push_str("<details>\n<summary>Phases, method and environment</summary>\n\n");
    if let Some(phases) = phases(report) {
        let _ = writeln!(text, "## Phases\n\n{}", phases.markdown_table());
        text.push_str(
            "Host times, for copies the median of several; execution by the clock of the tables.\n\n",
        );
    }
    text.push_str("## Method\n\n");
    for line in method(report, view.all_variants, &escape(MARK)) {
        let _ = writeln!(text, "- {line}");
    }
    text.push_str(
        "- Quantiles in `report.csv` and `report.json` interpolate linearly between samples (Hyndman and Fan's type 7).\n",
    );
    text.push_str("- Every answer was checked in float64 before it was timed; a wrong answer has no time.\n");
    text.push_str(
        "- Times are medians after warm-up; operands, plans and workspaces are ready before the clock starts.\n",
    );
    text.push_str("- `report.json` next to this file holds every sample and the settings.\n");
    text.push_str(&environment(report));
    text.push_str("\n</details>\n");
    text
}

/// The answer as sentences and one table; empty where no case has both sides.
fn answer(report: &Report) -> String {
    let sweeps = Sweeps::of(report);
    let Some(grid) = sweeps.sweep_table(true) else { return String::new() };
    let mut text = String::from("## Answer\n\n");
    for line in paragraph(report) {
        let _ = writeln!(text, "- {}", escape(&line.to_string()));
    }
    let _ = writeln!(text, "\n{}", grid.markdown_table());
    for note in
        [sweeps.memory_decides(false), sweeps.first_use(), sweeps.legend(Some(&grid))].into_iter().flatten()
    {
        let _ = writeln!(text, "{}\n", escape(&note.replace('\n', " ")));
    }
    text
}

/// The notes on the times in the tables, then the warnings about the whole run.
fn remarks(report: &Report, all_variants: bool) -> String {
    let (found, of_run) = (cautions(report, all_variants), run_warnings(report));
    if found.is_empty() && of_run.is_empty() {
        return String::new();
    }
    let mut text = String::from("## Notes and warnings\n\n");
    if !found.is_empty() {
        let columns = ["about", "cells", "what", "next", "which"];
        let columns = columns.map(|heading| Column::new(heading, heading == "cells")).to_vec();
        let row = |caution: &super::cautions::Caution<'_>| -> Vec<Field> {
            let (count, next) = (caution.cells.len().to_string(), caution.worst().next.as_str());
            vec![
                caution.name().into(),
                count.into(),
                caution.text().into(),
                next.into(),
                caution.which().into(),
            ]
        };
        let rows = found.iter().map(row).collect();
        let _ = writeln!(text, "{}", Table::untitled(columns, rows).markdown_table());
    }
    for warning in &of_run {
        let _ = writeln!(text, "- {}; {}.", escape(&warning.text), escape(&warning.next));
    }
    if !of_run.is_empty() {
        text.push('\n');
    }
    text
}

fn problems(report: &Report) -> String {
    let columns = ["outcome", "cells", "reason", "fix", "which"];
    let columns = columns.map(|heading| Column::new(heading, heading == "cells"));
    let groups = groups(report);
    let rows = groups.iter().map(|group| -> Vec<Field> {
        let count = group.rows.len().to_string();
        vec![
            group.outcome.name().into(),
            count.into(),
            group.reason.as_str().into(),
            group.fix.unwrap_or("-").into(),
            group.cells().into(),
        ]
    });
    Table::untitled(columns.to_vec(), rows.collect()).markdown_table()
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpubench_model::report::example;

    #[test]
    fn a_run_that_was_ended_early_says_so_before_other_problems() {
        let mut report = example::full();
        report.environment.planned_rows = Some(12);
        let shown = text(&report, &View::default());
        let expected = "## Cells without a time\n\nended early: 7 of 12 cells finished, 2 skipped.\n\n1 incorrect, 1 failed";
        assert!(shown.contains(expected), "{shown}");
        report.rows.truncate(2);
        let shown = text(&report, &View::default());
        assert!(shown.contains("ended early: 2 of 12 cells finished.\n\n<details>"), "{shown}");
    }
}
