//! The parts of the document of a report: results, notes and warnings, cells without a time, method, environment.

use gpubench_report::report::machine::{plain, versions_text};
use gpubench_report::report::quantity::{gib, three_digits, time_text};
use gpubench_report::report::{BackendState, Environment, Outcome, Report, Row};
use gpubench_report::{BusRates, Finding, Peaks};
use gpubench_text::count::counted;
use gpubench_text::words::json_word;

use super::NONE;
use super::cautions::{self, Caution, cautions};
use super::environment::{clock_checks, described, device_state, settings_of, timer_overhead, version};
use super::method::method;
use super::phases::phases;
use super::problems::{ProblemGroup, ended_early, groups, run_warnings, summary};
use super::screen::legend;
use super::sentences::paragraph;
use super::sweeps::Sweeps;
use super::tables::tables;
use crate::blocks::{Block, Document, Remark, RichText};
use crate::table::{Column, Field, Table, Tone};

/// A report as a document: the answer, the tables, notes and warnings, then phases, method and environment, folded.
pub fn document(report: &Report, all_variants: bool) -> Document {
    let details = [
        Block::section("Phases", phase_times(report)),
        Block::section("Method", method_items(report, all_variants)),
        Block::section("Environment", environment(report)),
    ];
    let parts = [
        Block::section("Answer", answer(report)),
        Block::section("Results", results(report, all_variants)),
        Block::section("Notes and warnings", notes(report, all_variants)),
        Block::section("Cells without a time", problems(report)),
        Block::folded("Phases, method and environment", details.into_iter().flatten()),
    ];
    Document { title: "gpubench report".into(), blocks: parts.into_iter().flatten().collect() }
}

/// What `--tables` shows below the first screen: the tables, their legend, notes and warnings, and cells without a time.
pub fn all_tables(report: &Report, all_variants: bool) -> Vec<Block> {
    let first_use = Sweeps::of(report).first_use().map(Block::paragraph);
    let facts = in_words(report).into_iter().chain(first_use);
    let mut blocks: Vec<Block> = facts.chain(results(report, all_variants)).collect();
    if !report.rows.is_empty() {
        blocks.extend(Block::items(method(report, all_variants)));
        blocks.extend(notes(report, all_variants));
    }
    blocks.extend(problems(report));
    blocks
}

/// The answer in sentences and one table; empty where no case has both sides.
fn answer(report: &Report) -> Vec<Block> {
    let sweeps = Sweeps::of(report);
    let table = sweeps.table(false).map(Block::Table);
    let legend = table.is_some().then(legend);
    let note = sweeps.first_use().map(Block::paragraph);
    in_words(report).into_iter().chain(table).chain(note).chain(legend).collect()
}

/// The answer in sentences, one per op; `None` where no case has both sides.
pub fn in_words(report: &Report) -> Option<Block> {
    let has_both = Sweeps::of(report).comparisons() > 0;
    Block::items(paragraph(report).into_iter().filter(|_| has_both))
}

/// The cost of the first use, and the phases of calls with their copies.
pub fn first_use(report: &Report) -> Vec<Block> {
    let cost = Sweeps::of(report).first_use().map(Block::paragraph);
    cost.into_iter().chain(phase_times(report)).collect()
}

fn results(report: &Report, all_variants: bool) -> Vec<Block> {
    match report.rows.is_empty() {
        true => vec![Block::alert("The report has no rows: gpubench finished no cell", Tone::Wrong)],
        false => tables(report, all_variants).into_iter().map(Block::Table).collect(),
    }
}

fn phase_times(report: &Report) -> Vec<Block> {
    let meaning = "Host times, for copies the median of several; execution by the clock of the tables.";
    let table =
        |table: Table| [Block::Table(Table { title: String::new(), ..table }), Block::paragraph(meaning)];
    phases(report).into_iter().flat_map(table).collect()
}

/// The warnings about times, then those about the whole run.
pub fn notes(report: &Report, all_variants: bool) -> Vec<Block> {
    let of_times = cautions(report, all_variants);
    let of_times = Block::remarks(of_times.iter().map(|caution| of_caution(report, caution)));
    let of_times = cautions::summary(report, all_variants).and_then(|title| Block::section(title, of_times));
    let of_run = run_warnings(report).into_iter().map(|warning| Remark {
        text: warning.text,
        next: Some(warning.next),
        ..Remark::default()
    });
    let of_run = Block::section("Warnings about the whole run", Block::remarks(of_run));
    of_times.into_iter().chain(of_run).collect()
}

fn of_caution(report: &Report, caution: &Caution<'_>) -> Remark {
    Remark {
        kind: json_word(&caution.kind),
        count: caution.cells.len(),
        text: caution.text(),
        next: Some(caution.worst().next.clone()),
        cells: caution.which(),
        links: caution.cells.iter().map(|(row, _)| link(report, row)).collect(),
        ..Remark::default()
    }
}

/// The reasons why cells have no time.
pub fn problems(report: &Report) -> Vec<Block> {
    let ended = ended_early(report).map(|text| Block::alert(text, Tone::Wrong));
    let remarks = || groups(&report.rows).iter().map(|group| of_group(report, group)).collect();
    let section = |title| Block::section(title, [Block::Remarks(remarks())]);
    ended.into_iter().chain(summary(report).and_then(section)).collect()
}

fn of_group(report: &Report, group: &ProblemGroup<'_>) -> Remark {
    Remark {
        kind: group.outcome.name().into(),
        tone: if group.outcome == Outcome::Skipped { Tone::Plain } else { Tone::Wrong },
        count: group.rows.len(),
        text: group.reason.to_owned(),
        next: group.fix.map(str::to_owned),
        cells: group.cells(),
        links: group.rows.iter().map(|row| link(report, row)).collect(),
    }
}

fn link(report: &Report, row: &Row) -> (String, String) {
    (row_id(report, row), row.cell().to_string())
}

/// Returns the identifier of a row within its report.
pub fn row_id(report: &Report, row: &Row) -> String {
    // The rows lie in order of their addresses; a page asks for each of them.
    let index =
        report.rows.binary_search_by_key(&std::ptr::from_ref(row), std::ptr::from_ref).unwrap_or_default();
    format!("row-{index}")
}

/// The meaning of the figures, and how they were measured.
pub fn method_items(report: &Report, all_variants: bool) -> Vec<Block> {
    let always = [
        "Quantiles in `report.csv` and `report.json` interpolate linearly between samples (Hyndman and Fan's type 7).",
        "Every answer was checked in float64 before it was timed; a wrong answer has no time.",
        "Times are medians after warm-up; operands, plans and workspaces are ready before the clock starts.",
        "Crossover: its interval covers the sizes at which the 95 % interval of the speed-up, measured or interpolated, \
         includes 1. At such sizes no side is named as faster.",
        "`report.json` next to this file holds every sample and the settings.",
    ];
    let lines = method(report, all_variants).into_iter();
    vec![Block::Items(lines.chain(always.map(str::to_owned)).map(with_code).collect())]
}

/// Returns a text whose parts between backticks are code.
fn with_code(text: String) -> RichText {
    let parts = text.split('`').enumerate().filter(|(_, part)| !part.is_empty());
    parts.fold(RichText::default(), |rich, (index, part)| match index % 2 {
        0 => rich.then(part),
        _ => rich.then(RichText::code(part)),
    })
}

/// The run, the machine, each backend, the clocks and the settings.
pub fn environment(report: &Report) -> Vec<Block> {
    let environment = &report.environment;
    let mut blocks = vec![Block::Facts(run(environment))];
    blocks.extend(Block::section("Machine", [Block::Facts(machine(environment))]));
    blocks.extend(environment.backends.iter().filter_map(backend));
    let state = Block::section("The device while it was measured", Block::items(device_state(report)));
    let backends = &environment.backends;
    let tables = [timer_overhead(backends), clock_checks(backends)].into_iter().flatten().map(Block::Table);
    blocks.extend(Block::folded("Clocks and timers", state.into_iter().chain(tables)));
    let settings = serde_json::to_string_pretty(&environment.settings).unwrap_or_default();
    blocks.extend(Block::folded("Settings of the run", [Block::Verbatim(settings)]));
    blocks
}

fn run(environment: &Environment) -> Vec<(String, RichText)> {
    let mut facts: Vec<(String, RichText)> = vec![
        ("started".into(), environment.started.as_str().into()),
        ("took".into(), time_text(environment.elapsed_s).into()),
        ("command".into(), RichText::code(environment.argv.join(" "))),
        ("gpubench".into(), version(environment).into()),
    ];
    let revision = environment.git_revision.as_deref();
    facts.extend(revision.map(|revision| ("revision of the folder".into(), revision.into())));
    let variables = environment.variables.iter();
    facts.extend(variables.map(|(name, value)| (name.clone(), RichText::code(value))));
    facts
}

fn machine(environment: &Environment) -> Vec<(String, RichText)> {
    let host = &environment.host;
    let facts = [
        ("host", host.name.clone()),
        ("system", host.os.clone()),
        ("CPU", format!("{}, {}", host.cpu, counted(host.threads, "thread"))),
        ("memory", format!("{:.0} GiB", gib(host.memory_bytes))),
    ];
    facts.into_iter().chain(settings_of(host)).map(|(name, fact)| (name.into(), fact.into())).collect()
}

fn backend(backend: &BackendState) -> Option<Block> {
    let title = format!("Backend {}", backend.name);
    if !backend.available {
        let remark = Remark {
            text: format!("not available: {}", backend.reason.as_deref().unwrap_or("no reason given")),
            next: backend.fix.clone(),
            ..Remark::default()
        };
        return Block::section(title, [Block::Remarks(vec![remark])]);
    }
    let mut facts: Vec<(String, RichText)> =
        described(backend).map(|(name, value)| (name, plain(value).into())).collect();
    facts.extend(versions_text(backend).map(|versions| ("versions".into(), versions.into())));
    facts.extend(backend.startup_s.map(|seconds| ("ready after".into(), time_text(seconds).into())));
    let mut blocks = vec![];
    blocks.extend((!facts.is_empty()).then_some(Block::Facts(facts)));
    blocks.extend((!backend.libraries.is_empty()).then(|| libraries(&backend.libraries)));
    blocks.extend(backend.peaks.iter().filter_map(peaks));
    Block::section(title, blocks)
}

fn libraries(found: &[Finding]) -> Block {
    let row = |library: &Finding| {
        let text = |text: &Option<String>| Field::from(text.as_deref().unwrap_or(NONE));
        vec![library.name.as_str().into(), text(&library.version), text(&library.path)]
    };
    let columns = ["library", "version", "path"].map(Column::words).to_vec();
    Block::Table(Table::untitled(columns, found.iter().map(row).collect()))
}

fn peaks(found: &Peaks) -> Option<Block> {
    let bytes = |rate: f64| format!("{} GB/s", three_digits(rate / 1e9));
    let rates = [("memory, read", found.read), ("memory, copy", found.copy), ("memory, triad", found.triad)];
    let mut facts: Vec<(String, RichText)> =
        rates.into_iter().filter_map(|(name, rate)| Some((name.into(), bytes(rate?).into()))).collect();
    facts.extend(found.matmul.iter().map(|(name, rate)| {
        let rate = format!("{} TFLOP/s", three_digits(rate / 1e12));
        (format!("matrix product, {name}"), rate.into())
    }));
    for (name, rates) in [("upload", found.upload), ("download", found.download)] {
        let Some(BusRates { pageable, pinned }) = rates else { continue };
        facts.push((format!("{name}, pageable"), bytes(pageable).into()));
        facts.push((format!("{name}, pinned"), bytes(pinned).into()));
    }
    let when = match found.cached {
        true => format!("{}, by an earlier run on this machine", found.measured),
        false => found.measured.clone(),
    };
    facts.extend((!found.measured.is_empty()).then(|| ("measured".into(), when.into())));
    Block::section("Peaks", [Block::Facts(facts)])
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpubench_report::report::example;

    /// Every text of blocks and of the blocks in them.
    fn texts(blocks: &[Block]) -> String {
        let text = |block: &Block| match block {
            Block::Section(section) => format!("[{}]\n{}", section.title, texts(&section.blocks)),
            Block::Remarks(remarks) => {
                remarks.iter().map(|one| format!("{} {}: {}\n", one.kind, one.count, one.text)).collect()
            }
            Block::Facts(facts) => {
                facts.iter().map(|(name, fact)| format!("{name}: {}\n", fact.plain())).collect()
            }
            Block::Alert(Field { text, .. }) | Block::Verbatim(text) => format!("{text}\n"),
            Block::Paragraph(text) => format!("{}\n", text.plain()),
            Block::Items(items) => items.iter().map(|item| format!("{}\n", item.plain())).collect(),
            Block::Table(table) => format!("<{}>\n", table.title),
        };
        blocks.iter().map(text).collect()
    }

    #[test]
    fn notes_and_problems_are_grouped_and_linked_to_their_rows() {
        let report = example::full();
        let text = texts(&[notes(&report, false), problems(&report)].concat());
        for expected in [
            "[2 of 4 times of the fastest variants have a grade below A]\nspread 1: half the 95 % interval",
            "[Warnings about the whole run]\n 0: mkl: not found",
            "[1 incorrect, 1 failed, 2 skipped of 9 cells]\nincorrect 1: error 0.5 above 1.2e-5\n",
            "skipped 2: mkl: not found",
        ] {
            assert!(text.contains(expected), "{expected}: {text}");
        }
        assert_eq!(of_group(&report, groups(&report.rows).last().unwrap()).links[0].0, "row-2");
    }

    #[test]
    fn a_run_that_was_ended_early_says_so_before_other_problems() {
        let mut report = example::full();
        report.environment.planned_rows = Some(12);
        let text = texts(&problems(&report));
        assert!(text.starts_with("ended early: 7 of 12 cells finished, 2 skipped\n[1 incorrect"), "{text}");
        report.rows.clear();
        let text = texts(&all_tables(&report, false));
        assert_eq!(
            text,
            "The report has no rows: gpubench finished no cell\nended early: 0 of 12 cells finished\n"
        );
    }

    #[test]
    fn a_backend_that_is_not_available_has_its_reason_and_fix() {
        let mut report = example::full();
        let state = &mut report.environment.backends[0];
        (state.available, state.reason, state.fix) =
            (false, Some("no driver".into()), Some("install it".into()));
        let text = texts(&environment(&report));
        assert!(text.contains("not available: no driver"), "{text}");
        assert!(text.contains("[Settings of the run]"), "{text}");
    }
}
