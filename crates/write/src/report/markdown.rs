//! Writes a report as Markdown: the answer, the tables, phases, method and environment.

use std::fmt::Write;

use gpubench_document::report::sentences::paragraph;
use gpubench_report::format::Makes;
use gpubench_report::report::machine::{plain, versions_text};
use gpubench_report::report::quantity::gib;
use gpubench_report::report::{BackendState, Report};
use gpubench_text::control::spelled_out;
use gpubench_text::count::counted;
use gpubench_text::escape::markdown as escape;
use gpubench_text::table::{Column, Field, Table};

use super::{Format, View};
use gpubench_document::report::MARK;
use gpubench_document::report::by_backend::by_backend;
use gpubench_document::report::cautions::{Caution, cautions};
use gpubench_document::report::environment::{
    clock_checks, described, device_state, settings_of, timer_overhead, version,
};
use gpubench_document::report::method::method;
use gpubench_document::report::phases::phases;
use gpubench_document::report::problems::{ended_early, groups, run_warnings, summary};
use gpubench_document::report::sweeps::Sweeps;
use gpubench_document::report::tables::tables;

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
        let row = |caution: &Caution<'_>| -> Vec<Field> {
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

/// A text in the typeface of code, on one line.
fn code(text: &str) -> String {
    format!("`{}`", spelled_out(text).replace('`', "'"))
}

/// The section about the environment: machine, backends, device state and timer overhead.
fn environment(report: &Report) -> String {
    let environment = &report.environment;
    let host = &environment.host;
    let (gib, threads) = (gib(host.memory_bytes), counted(host.threads, "thread"));
    let mut facts = vec![
        ("Started", environment.started.clone()),
        ("Took", format!("{:.1} s", environment.elapsed_s)),
        ("Command", code(&environment.argv.join(" "))),
        ("gpubench", escape(&version(environment))),
        ("Host", escape(&format!("{}, {}", host.name, host.os))),
        ("CPU", escape(&format!("{}, {threads}, {gib:.0} GiB", host.cpu))),
    ];
    facts.extend(settings_of(host).into_iter().map(|(name, fact)| (name, escape(&fact))));
    facts.extend(
        environment.git_revision.as_ref().map(|revision| ("Revision of the folder", escape(revision))),
    );
    let mut text = String::from("\n## Environment\n\n");
    for (name, fact) in facts {
        let _ = writeln!(text, "- {name}: {fact}");
    }
    for (name, value) in &environment.variables {
        let _ = writeln!(text, "- {}", code(&format!("{name}={value}")));
    }
    for backend in &environment.backends {
        text.push_str(&backend_text(backend));
    }
    for line in device_state(report) {
        let _ = writeln!(text, "- {}", escape(&line));
    }
    for table in
        [timer_overhead(&environment.backends), clock_checks(&environment.backends)].into_iter().flatten()
    {
        let _ = write!(text, "\n{}", table.markdown(3));
    }
    text
}

fn backend_text(backend: &BackendState) -> String {
    if !backend.available {
        let fix = backend.fix.as_ref().map(|fix| format!("; fix: {}", escape(fix))).unwrap_or_default();
        let reason = backend.reason.as_deref().unwrap_or("no reason given");
        return format!("- Backend {}: not available, {}{fix}\n", escape(&backend.name), escape(reason));
    }
    let mut facts: Vec<String> =
        described(backend).map(|(name, value)| format!("{name} {}", plain(value))).collect();
    facts.extend(versions_text(backend));
    facts.extend(backend.startup_s.map(|seconds| format!("ready after {seconds:.2} s")));
    let mut text = format!("- Backend {}: {}\n", escape(&backend.name), escape(&facts.join(", ")));
    for library in &backend.libraries {
        let version = library.version.as_deref().unwrap_or("version unknown");
        let place = library.path.as_ref().map(|path| format!(", {}", code(path))).unwrap_or_default();
        let _ = writeln!(text, "  - {} {}{place}", escape(&library.name), escape(version));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpubench_report::Finding;
    use gpubench_report::report::{Host, example};

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

    #[test]
    fn the_environment_shows_timer_overhead_checks_and_device_state() {
        let mut report = example::full();
        let execute = report.rows[1].execute.as_mut().unwrap();
        (execute.discarded, execute.throttled, execute.sm_mhz[3]) = (3, 2, 1755.0);
        execute.conditions[1][0].throttle = vec!["sw_power_cap".into()];
        report.environment.build_profile = Some("debug".into());
        let text = environment(&report);
        for line in [
            "- gpubench: 0.1.0, debug build\n",
            "- Frequency governor: performance\n- Simultaneous multithreading: on\n- NUMA nodes: 1\n",
            "- CPU quota: 15.5 CPUs\n- Transparent huge pages: madvise\n- Last-level caches: 105 MiB\n- Load when the run started: 0.40\n",
            "- Clock of the multiprocessors around samples: 1755–1980 MHz\n",
            "- Temperature of the device: 41 °C\n",
            "- Throttled samples: 3 discarded, 2 kept, of 27\n",
            "- Reasons for throttling: sw\\_power\\_cap\n",
            "| cpu | 21.0 ns | - | - | - | 510 µs | 520 µs |\n| cuda | 1.40 µs | 2.70 µs | 6.10 µs | 1.50 µs | - | - |\n",
            "| cuda | 10.00 µs | 11.52 µs | 10.02 µs |\n| cuda | 1.000 ms | 1.002 ms | 1.000 ms |\n",
        ] {
            assert!(text.contains(line), "{line}\n{text}");
        }
    }

    #[test]
    fn arguments_and_paths_stay_in_their_code_spans_and_on_their_lines() {
        let mut report = example::full();
        report.environment.argv.push("a\n# b `c`".into());
        let path = Some("/lib\n# d `e`".into());
        let library =
            Finding { name: "BLAS".into(), path, version: None, serves: vec![], problem: None, fix: None };
        report.environment.backends[0].libraries.push(library);
        let text = environment(&report);
        assert!(text.contains("- Command: `gpubench run a\\n# b 'c'`\n"), "{text}");
        assert!(text.contains(", `/lib\\n# d 'e'`\n"), "{text}");
    }

    #[test]
    fn facts_that_the_report_lacks_are_left_out() {
        let mut report = example::empty();
        report.environment.host = Host { threads: 1, ..Host::default() };
        for backend in &mut report.environment.backends {
            backend.timer_overhead = None;
        }
        let text = environment(&report);
        assert!(text.contains(", 1 thread, "), "{text}");
        for word in ["governor", "NUMA", "Timer overhead", "checks", "hrottl", "Power"] {
            assert!(!text.contains(word), "{word}\n{text}");
        }
    }
}
