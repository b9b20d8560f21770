//! Formats a fleet for the terminal and as Markdown: its members, their times side by side, and the findings.

use std::fmt::Write;

use gpubench_model::format::Makes;
use gpubench_text::count::counted;
use gpubench_text::escape::markdown as escape;
use gpubench_text::table::{Tone, hanging};

use super::contents::{Contents, Format};
use super::grid::{MARK, texts};
use crate::devices::{by_device, devices};
use crate::finding_texts::noun;
use crate::identity::DeviceClass;
use crate::{Finding, Kind};

/// Maximum number of findings about single cells; the others are counted.
const CELLS_SHOWN: usize = 8;

/// The fleet as aligned text.
pub static TABLE: Format = Format {
    name: "table",
    summary: "times of the members side by side, and outliers",
    by_default: true,
    makes: Makes::Screen(|fleet, view| Ok(text(&Contents::of(fleet), view.color))),
};

pub(crate) static MARKDOWN: Format = Format {
    name: "md",
    summary: "the same as Markdown",
    by_default: false,
    makes: Makes::Text("fleet.md", |fleet, _| Ok(markdown(&Contents::of(fleet)))),
};

fn text(shown: &Contents<'_>, color: bool) -> String {
    let mut text = format!("{}\n", members(shown));
    for kind in kinds(shown) {
        let _ = writeln!(text, "  {}", hanging(&kind, 4));
    }
    for table in &shown.tables {
        let _ = write!(text, "\n{}", texts(table).text(color));
    }
    let legend = legend(shown);
    if !legend.is_empty() {
        text.push('\n');
    }
    for line in legend {
        let _ = writeln!(text, "{line}");
    }
    text.push('\n');
    if !shown.findings.is_empty() {
        text.push_str("Outliers and differences:\n");
    }
    let (findings, rest) = shown_findings(shown);
    for finding in findings {
        let line = hanging(&format!("{}; {}", finding.text, finding.next), 2);
        let _ = writeln!(text, "  {}", if color { tone(finding).paint(&line) } else { line });
    }
    if rest > 0 {
        let _ = writeln!(text, "  {rest} more cells (--format json lists them)");
    }
    for line in &shown.no_outliers {
        let _ = writeln!(text, "{}", hanging(line, 0));
    }
    text
}

fn markdown(shown: &Contents<'_>) -> String {
    let mut text = format!("# gpubench fleet\n\n{}\n\n", escape(&members(shown)));
    for kind in kinds(shown) {
        let _ = writeln!(text, "- {}", escape(&kind));
    }
    text.push('\n');
    for table in &shown.tables {
        let _ = writeln!(text, "{}", texts(table).markdown(2));
    }
    for line in legend(shown) {
        let _ = writeln!(text, "- {}", escape(&line));
    }
    text.push_str("\n## Outliers and differences\n\n");
    let (findings, rest) = shown_findings(shown);
    for finding in findings {
        let _ = writeln!(text, "- {}; {}.", escape(&finding.text), escape(&finding.next));
    }
    if rest > 0 {
        let _ = writeln!(text, "- {rest} more cells (`--format json` lists them).");
    }
    for line in &shown.no_outliers {
        let _ = writeln!(text, "- {}", escape(line));
    }
    text
}

/// `4 reports, 2 hosts, 4 GPUs`.
fn members(shown: &Contents<'_>) -> String {
    let sides = shown.tables.iter().map(|table| {
        let (runs, things) = (table.columns.len(), devices(table).len());
        let things_text = counted(things, &noun(table.side, 1));
        if runs > things { format!("{runs} runs of {things_text}") } else { things_text }
    });
    let parts: Vec<String> =
        std::iter::once(counted(shown.fleet.members.len(), "report")).chain(sides).collect();
    parts.join(", ")
}

/// Returns one line per device class, with the number of its members.
fn kinds(shown: &Contents<'_>) -> Vec<String> {
    let of_table = shown.tables.iter().flat_map(|table| {
        let table = by_device(table);
        let count = |(kind, columns): (&DeviceClass, Vec<usize>)| format!("{} x {kind}", columns.len());
        table.kinds().into_iter().map(count).collect::<Vec<_>>()
    });
    of_table.collect()
}

/// Explains the marks and ratios that occur.
fn legend(shown: &Contents<'_>) -> Vec<String> {
    let lines = || shown.tables.iter().flat_map(|table| &table.lines);
    let mut legend = vec![];
    if lines().any(|line| line.fastest.is_some()) {
        legend.push(format!("{MARK} fastest, by more than 3 % and with an interval below all others"));
    }
    if lines().any(|line| line.max_over_min.is_some()) {
        legend.push("max/min: slowest / fastest among devices or hosts of the same kind".into());
    }
    legend
}

/// Returns the findings to show, and the number of hidden ones about single cells.
fn shown_findings<'a>(shown: &'a Contents<'_>) -> (Vec<&'a Finding>, usize) {
    let mut cells = 0;
    let mut findings: Vec<&Finding> = vec![];
    for finding in &shown.findings {
        cells += usize::from(finding.kind == Kind::Cell);
        if finding.kind != Kind::Cell || cells <= CELLS_SHOWN {
            findings.push(finding);
        }
    }
    (findings, cells.saturating_sub(CELLS_SHOWN))
}

fn tone(finding: &Finding) -> Tone {
    match (finding.kind, finding.ratio) {
        (Kind::MissingTimes, _) => Tone::Wrong,
        (Kind::Member | Kind::Cell, Some(ratio)) if ratio > 1.0 => Tone::Worse,
        (Kind::Member | Kind::Cell, Some(_)) => Tone::Better,
        _ => Tone::Inconclusive,
    }
}
