//! Formats a fleet for the terminal and as Markdown: its members, their times side by side, and the findings.

use std::fmt::Write;

use crate::terminal::hanging;
use crate::terminal::{TerminalTable, painted};
use gpubench_document::table::{Column, Field, Layout, Table, Tone};
use gpubench_report::case::density_text;
use gpubench_report::report::Outcome;
use gpubench_report::report::quantity::{factor_within, time_within};
use gpubench_text::count::counted;
use gpubench_text::escape::markdown as escape;

use super::ShownFleet;
use gpubench_analysis::fleet::best::{BestResult, LineKey};
use gpubench_document::fleet::finding::{FindingKind, FleetFinding, noun};
use gpubench_document::fleet::table::{FleetLine, FleetTable};

/// Maximum number of findings about single cells; the others are counted.
const CELLS_SHOWN: usize = 8;

/// Follows the fastest time.
const MARK: &str = "*";

/// The heading of a column that names a case, and the function for its fields.
type KeyColumn = (&'static str, fn(&LineKey) -> String);

/// The columns that may be needed to name a case; op and size always are.
const KEYS: [KeyColumn; 7] = [
    ("op", |key| key.op.clone()),
    ("variant", |key| key.variant.clone().unwrap_or("-".into())),
    ("dtype", |key| key.dtype.to_string()),
    ("cache", |key| key.cache.to_string()),
    ("density", |key| key.density.map_or("-".into(), density_text)),
    ("seed", |key| key.seed.to_string()),
    ("N", |key| key.n.to_string()),
];

pub(super) fn text(shown: &ShownFleet<'_>, color: bool) -> String {
    let mut text = format!("{}\n", members(shown));
    for class in classes(shown) {
        let _ = writeln!(text, "  {}", hanging(&class, 4));
    }
    for table in &shown.tables {
        let _ = write!(text, "\n{}", grid(table).text(color));
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
    let (findings, hidden) = shown_findings(shown);
    for finding in findings {
        let line = hanging(&format!("{}; {}", finding.text, finding.next), 2);
        let _ = writeln!(text, "  {}", if color { painted(&line, tone(finding)) } else { line });
    }
    if hidden > 0 {
        let _ = writeln!(text, "  {hidden} more cells (--format json lists them)");
    }
    for line in &shown.no_outliers {
        let _ = writeln!(text, "{}", hanging(line, 0));
    }
    text
}

pub(super) fn markdown(shown: &ShownFleet<'_>) -> String {
    let mut text = format!("# gpubench fleet\n\n{}\n\n", escape(&members(shown)));
    for class in classes(shown) {
        let _ = writeln!(text, "- {}", escape(&class));
    }
    text.push('\n');
    for table in &shown.tables {
        let grid = grid(table);
        let _ = writeln!(text, "## {}\n\n{}", escape(&grid.title), crate::markdown::table(&grid));
    }
    for line in legend(shown) {
        let _ = writeln!(text, "- {}", escape(&line));
    }
    text.push_str("\n## Outliers and differences\n\n");
    let (findings, hidden) = shown_findings(shown);
    for finding in findings {
        let _ = writeln!(text, "- {}; {}.", escape(&finding.text), escape(&finding.next));
    }
    if hidden > 0 {
        let _ = writeln!(text, "- {hidden} more cells (`--format json` lists them).");
    }
    for line in &shown.no_outliers {
        let _ = writeln!(text, "- {}", escape(line));
    }
    text
}

/// `4 reports, 2 hosts, 4 GPUs`.
fn members(shown: &ShownFleet<'_>) -> String {
    let mut parts = vec![counted(shown.members.len(), "report")];
    parts.extend(shown.tables.iter().zip(&shown.by_device).map(|(table, by_device)| {
        let (runs, devices) = (table.columns.len(), by_device.columns.len());
        let devices_text = counted(devices, &noun(table.side, 1));
        if runs > devices { format!("{runs} runs of {devices_text}") } else { devices_text }
    }));
    parts.join(", ")
}

/// Returns one line per device class, with the number of its members.
fn classes(shown: &ShownFleet<'_>) -> Vec<String> {
    let classes = shown.by_device.iter().flat_map(FleetTable::classes);
    classes.map(|(class, columns)| format!("{} x {class}", columns.len())).collect()
}

/// Explains the marks and ratios that occur.
fn legend(shown: &ShownFleet<'_>) -> Vec<String> {
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
fn shown_findings<'a>(shown: &'a ShownFleet<'_>) -> (Vec<&'a FleetFinding>, usize) {
    let mut cells = 0;
    let is_shown = |finding: &&FleetFinding| {
        cells += usize::from(finding.kind == FindingKind::Cell);
        finding.kind != FindingKind::Cell || cells <= CELLS_SHOWN
    };
    let findings: Vec<&FleetFinding> = shown.findings.iter().filter(is_shown).collect();
    let hidden = shown.findings.len() - findings.len();
    (findings, hidden)
}

fn tone(finding: &FleetFinding) -> Tone {
    match (finding.kind, finding.ratio) {
        (FindingKind::MissingTimes, _) => Tone::Wrong,
        (FindingKind::Member | FindingKind::Cell, Some(ratio)) if ratio > 1.0 => Tone::Worse,
        (FindingKind::Member | FindingKind::Cell, Some(_)) => Tone::Better,
        _ => Tone::Inconclusive,
    }
}

/// Formats a table; properties that all lines share are in its title.
fn grid(table: &FleetTable<'_>) -> Table {
    let first = table.lines.first().map(|line| &line.key);
    let varies = |(name, of): &KeyColumn| {
        matches!(*name, "op" | "N") || table.lines.iter().any(|line| Some(of(&line.key)) != first.map(of))
    };
    let (keys, shared): (Vec<KeyColumn>, Vec<KeyColumn>) = KEYS.into_iter().partition(varies);
    let mut title = vec!["median time of the best correct variant".to_owned()];
    title.extend(shared.into_iter().filter_map(|(name, of)| shared_words(name, of(first?))));
    let title = format!("{}: {}", table.side.label(), title.join(", "));
    let has_ratio = table.lines.iter().any(|line| line.max_over_min.is_some());
    let row = |line: &FleetLine| -> Vec<Field> {
        let names = keys.iter().map(|(_, of)| Field::from(of(&line.key)));
        let times = (0..table.columns.len()).map(|column| time(line, column));
        names.chain(times).chain(has_ratio.then(|| max_over_min(line))).collect()
    };
    let mut rows: Vec<Vec<Field>> = table.lines.iter().map(row).collect();
    // Sizes and densities are aligned like other numbers.
    let is_digit = |c: char| c.is_ascii_digit();
    let has_digits = |column: usize| rows.iter().any(|row| row[column].text.starts_with(is_digit));
    let names = keys.iter().enumerate().map(|(column, (name, _))| Column::new(*name, has_digits(column)));
    let times = table.columns.iter().map(|column| Column::figures(column.name.clone()));
    let columns: Vec<Column> =
        names.chain(times).chain(has_ratio.then(|| Column::figures("max/min"))).collect();
    // Times without a mark are padded, so that digits align.
    for column in keys.len()..columns.len() {
        if rows.iter().any(|row| row[column].text.ends_with(MARK)) {
            let unmarked = rows.iter_mut().filter(|row| !row[column].text.ends_with(MARK));
            unmarked.for_each(|row| row[column].text.push(' '));
        }
    }
    Table::new(title, columns, rows).laid_out(Layout::Blocks { keys: keys.len() })
}

/// Returns the words of the title for a shared property; `None` if it needs none.
fn shared_words(name: &str, value: String) -> Option<String> {
    match name {
        "dtype" => Some(value),
        "variant" if value != "-" => Some(format!("variant {value}")),
        "cache" => Some(format!("{value} cache")),
        "density" if value != "-" => Some(format!("density {value}")),
        _ => None,
    }
}

fn time(line: &FleetLine, column: usize) -> Field {
    match &line.times[column] {
        None => "-".into(),
        Some(BestResult::Untimed(missing)) => {
            let is_wrong = matches!(missing.outcome, Outcome::Incorrect | Outcome::Failed);
            let tone = if is_wrong { Tone::Wrong } else { Tone::Plain };
            Field { text: missing.outcome.name().into(), tone }
        }
        Some(BestResult::Timed(timing)) => {
            let half_width = (timing.ci95_s[1] - timing.ci95_s[0]) / 2.0;
            let text = time_within(timing.median_s, timing.has_interval.then_some(half_width));
            match line.fastest == Some(column) {
                true => Field { text: text + MARK, tone: Tone::Better },
                false => text.into(),
            }
        }
    }
}

fn max_over_min(line: &FleetLine) -> Field {
    line.max_over_min.map_or("-".into(), |ratio| Field::from(factor_within(ratio, 3)))
}
