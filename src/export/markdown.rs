//! Markdown: the tables of the text format, the environment, and how it was measured.

use std::fmt::Write;

use super::grid::{Column, Field, Grid, escape};
use super::problems::{ended_early, groups, summary};
use super::tables::{method, tables};
use super::{Exporter, File, View};
use crate::report::{BackendState, Environment, Report};

/// The report as Markdown.
pub struct Markdown;

impl Exporter for Markdown {
    fn name(&self) -> &'static str {
        "md"
    }

    fn summary(&self) -> &'static str {
        "the tables as Markdown, with environment and method"
    }

    fn extension(&self) -> &'static str {
        "md"
    }

    fn files(&self, report: &Report, view: &View) -> anyhow::Result<Vec<File>> {
        Ok(vec![File { name: "report.md".into(), bytes: text(report, view).into_bytes() }])
    }
}

fn text(report: &Report, view: &View) -> String {
    let mut text = String::from("# gpubench report\n\n## Results\n\n");
    if report.rows.is_empty() {
        text.push_str("The report has no rows: no cell was finished.\n\n");
    }
    for grid in tables(report, view.all_variants) {
        text.push_str(&grid.markdown());
        text.push('\n');
    }
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
    text.push_str("## Method\n\n");
    for line in method(report, view.all_variants) {
        let _ = writeln!(text, "- {line}");
    }
    text.push_str("- Every answer was checked in float64 before it was timed; a wrong answer has no time.\n");
    text.push_str(
        "- Times are medians after warm-up, with operands resident and plans and workspaces made.\n",
    );
    text.push_str("- `report.json` beside this file holds every sample and the settings.\n");
    text.push_str(&environment(&report.environment));
    text
}

fn problems(report: &Report) -> String {
    let columns = ["outcome", "cells", "reason", "fix", "which"];
    let columns = columns.map(|heading| Column { heading, figures: heading == "cells" });
    let groups = groups(report);
    let rows = groups.iter().map(|group| -> Vec<Field> {
        let count = group.rows.len().to_string();
        vec![
            group.outcome.name().into(),
            count.into(),
            group.reason.into(),
            group.fix.unwrap_or("-").into(),
            group.cells().into(),
        ]
    });
    Grid { title: String::new(), columns: columns.to_vec(), rows: rows.collect() }.markdown_table()
}

fn environment(environment: &Environment) -> String {
    let host = &environment.host;
    let gib = host.memory_bytes as f64 / f64::from(1u32 << 30);
    let mut facts = vec![
        ("Started", environment.started.clone()),
        ("Took", format!("{:.1} s", environment.elapsed_s)),
        ("Command", format!("`{}`", environment.argv.join(" ").replace('`', "'"))),
        ("gpubench", version(environment)),
        ("Host", escape(&format!("{}, {}", host.name, host.os))),
        ("CPU", escape(&format!("{}, {} threads, {gib:.0} GiB", host.cpu, host.threads))),
    ];
    facts.extend(host.governor.as_ref().map(|governor| ("Frequency governor", escape(governor))));
    facts.extend(
        environment.git_revision.as_ref().map(|revision| ("Revision of the folder", escape(revision))),
    );
    let mut text = String::from("\n## Environment\n\n");
    for (name, fact) in facts {
        let _ = writeln!(text, "- {name}: {fact}");
    }
    for (name, value) in &environment.variables {
        let _ = writeln!(text, "- `{name}={value}`");
    }
    for backend in &environment.backends {
        text.push_str(&backend_text(backend));
    }
    text
}

fn version(environment: &Environment) -> String {
    let revision = environment.gpubench_revision.as_ref().map(|revision| format!(" ({revision})"));
    escape(&format!("{}{}", environment.gpubench_version, revision.unwrap_or_default()))
}

fn backend_text(backend: &BackendState) -> String {
    if !backend.available {
        let fix = backend.fix.as_ref().map(|fix| format!("; fix: {}", escape(fix))).unwrap_or_default();
        let reason = backend.reason.as_deref().unwrap_or("no reason given");
        return format!("- Backend {}: not available, {}{fix}\n", escape(&backend.name), escape(reason));
    }
    let mut facts = vec![];
    if let Some(description) = backend.description.as_object() {
        let plain = |value: &serde_json::Value| value.as_str().map_or(value.to_string(), String::from);
        let known = description.iter().filter(|(_, value)| !value.is_null());
        facts.extend(known.map(|(key, value)| format!("{key} {}", plain(value))));
    }
    facts.extend(backend.startup_s.map(|seconds| format!("ready after {seconds:.2} s")));
    let mut text = format!("- Backend {}: {}\n", escape(&backend.name), escape(&facts.join(", ")));
    for library in &backend.libraries {
        let version = library.version.as_deref().unwrap_or("version unknown");
        let place = library.path.as_ref().map(|path| format!(", `{path}`")).unwrap_or_default();
        let _ = writeln!(text, "  - {} {}{place}", escape(&library.name), escape(version));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::example;

    #[test]
    fn a_run_that_was_ended_early_says_so_before_other_problems() {
        let mut report = example::full();
        report.environment.planned_rows = Some(12);
        let shown = text(&report, &View::default());
        let expected = "## Cells without a time\n\nended early: 9 of 12 cells.\n\n1 incorrect, 1 failed";
        assert!(shown.contains(expected), "{shown}");
        report.rows.truncate(2);
        let shown = text(&report, &View::default());
        assert!(shown.contains("ended early: 2 of 12 cells.\n\n## Method"), "{shown}");
    }
}
