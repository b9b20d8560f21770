//! The document of a fleet: its members, their times side by side, outliers and differences.

mod findings;

use gpubench_analysis::answer::{Contender, Kind, Kinds};
use gpubench_analysis::fleet::Fleet;
use gpubench_analysis::fleet::best::{BestResult, LineKey};
use gpubench_analysis::fleet::table::{FleetLine, FleetTable, tables};
use gpubench_report::Side;
use gpubench_report::case::{Family, density_text};
use gpubench_report::report::quantity::{factor_within, time_within};
use gpubench_report::report::{Outcome, Report};
use gpubench_text::count::counted;
use gpubench_text::words::capitalised;
use serde::Serialize;

use self::findings::{FleetFinding, findings, no_outliers, noun};
use crate::blocks::{Block, Document};
use crate::report::copies_clause;
use crate::report::crossover_text::crossover_text;
use crate::report::sweeps::{Sweep, Sweeps};
use crate::table::{Column, Field, Layout, Table, Tone};

const MARK: &str = "*";

/// The heading of a column that names a case, and the function for its fields.
type KeyColumn = (&'static str, fn(&LineKey) -> String);

/// The columns that may be needed to name a case; op and size always are.
const KEYS: [KeyColumn; 9] = [
    ("op", |key| key.case.op.clone()),
    ("variant", |key| key.variant.clone().unwrap_or("-".into())),
    ("dtype", |key| key.case.dtype.to_string()),
    ("cache", |key| key.cache.to_string()),
    ("shape", |key| key.case.shape.as_ref().map_or("-".into(), ToString::to_string)),
    ("density", |key| {
        key.case.density.filter(|_| key.case.matrix.is_none()).map_or("-".into(), density_text)
    }),
    ("matrix", |key| {
        Family { matrix: key.case.matrix.as_deref(), ..Family::default() }.text().unwrap_or("-".into())
    }),
    ("seed", |key| key.case.seed.to_string()),
    ("N", |key| key.case.n.to_string()),
];

/// Members, tables and findings of a fleet. Its JSON lacks the reports.
#[derive(Serialize)]
pub struct FleetOverview<'a> {
    /// Version of the layout of the JSON. Layout 1 had other names for `max_over_min` and for two kinds of findings.
    fleet_table_version: u32,
    members: Vec<ListedMember<'a>>,
    /// GPUs, then hosts; without sides of which no member has a time.
    pub tables: Vec<FleetTable<'a>>,
    /// The tables with a column per device, which findings are about.
    #[serde(skip)]
    by_device: Vec<FleetTable<'a>>,
    findings: Vec<FleetFinding>,
}

#[derive(Serialize)]
struct ListedMember<'a> {
    name: &'a str,
    host: &'a str,
    started: &'a str,
}

impl<'a> FleetOverview<'a> {
    /// Builds the tables of a fleet and looks for outliers in them.
    pub fn of(fleet: &'a Fleet) -> FleetOverview<'a> {
        let members = fleet.named().map(|(name, report)| {
            let environment = &report.environment;
            ListedMember { name, host: &environment.host.name, started: &environment.started }
        });
        let sides = [Side::Gpu, Side::Cpu].map(|side| tables(fleet, side)).into_iter();
        let sides = sides.filter(|[runs, _]| runs.has_times()).map(|[runs, devices]| (runs, devices));
        let (tables, by_device): (Vec<_>, Vec<_>) = sides.unzip();
        let findings = by_device.iter().flat_map(findings).collect();
        FleetOverview { fleet_table_version: 2, members: members.collect(), tables, by_device, findings }
    }

    /// The overview as a document: counts and classes of the members, tables, findings.
    pub fn document(&self) -> Document {
        let classes = self.by_device.iter().flat_map(FleetTable::classes);
        let classes = classes.map(|(class, columns)| format!("{} x {class}", columns.len()));
        let found = Block::remarks(self.findings.iter().map(FleetFinding::remark));
        let quiet = self.by_device.iter().flat_map(|table| no_outliers(table, &self.findings));
        let mut blocks = vec![Block::paragraph(self.counts())];
        blocks.extend(Block::items(classes));
        blocks.extend(self.tables.iter().map(|table| Block::Table(grid(table))));
        blocks.extend(Block::items(self.legend()));
        blocks.extend(Block::section("Outliers and differences", found));
        blocks.extend(Block::items(quiet));
        Document { title: "gpubench fleet".into(), blocks }
    }

    /// `4 reports, 2 hosts, 4 GPUs`.
    fn counts(&self) -> String {
        let of_sides = self.tables.iter().zip(&self.by_device).map(|(table, by_device)| {
            let (runs, devices) = (table.columns.len(), by_device.columns.len());
            let devices_text = counted(devices, &noun(table.side, 1));
            if runs > devices { format!("{runs} runs of {devices_text}") } else { devices_text }
        });
        let counts = [counted(self.members.len(), "report")].into_iter().chain(of_sides);
        counts.collect::<Vec<_>>().join(", ")
    }

    /// Explains the marks and ratios that occur.
    fn legend(&self) -> impl Iterator<Item = String> {
        let has =
            |holds: fn(&FleetLine) -> bool| self.tables.iter().flat_map(|table| &table.lines).any(holds);
        let mark = has(|line| line.fastest.is_some())
            .then(|| format!("{MARK} fastest, by more than 3 % and with an interval below all others"));
        let ratio = has(|line| line.max_over_min.is_some())
            .then(|| "max/min: slowest / fastest among devices or hosts of the same kind".to_owned());
        mark.into_iter().chain(ratio)
    }
}

/// The times of one side; properties that all lines share are in the title.
fn grid(table: &FleetTable<'_>) -> Table {
    let first = table.lines.first().map(|line| &line.key);
    let varies = |(name, of): &KeyColumn| {
        matches!(*name, "op" | "N") || table.lines.iter().any(|line| Some(of(&line.key)) != first.map(of))
    };
    let (keys, shared): (Vec<KeyColumn>, Vec<KeyColumn>) = KEYS.into_iter().partition(varies);
    let shared = shared.into_iter().filter_map(|(name, of)| shared_words(name, of(first?)));
    let title = ["median time of the best correct variant".to_owned()].into_iter().chain(shared);
    let title = format!("{}: {}", table.side.label(), title.collect::<Vec<_>>().join(", "));
    let has_ratio = table.lines.iter().any(|line| line.max_over_min.is_some());
    let row = |line: &FleetLine| -> Vec<Field> {
        let names = keys.iter().map(|(_, of)| Field::from(of(&line.key)));
        let times = (0..table.columns.len()).map(|column| time(line, column));
        let ratio = || line.max_over_min.map_or("-".into(), |ratio| Field::from(factor_within(ratio, 3)));
        names.chain(times).chain(has_ratio.then(ratio)).collect()
    };
    let mut rows: Vec<Vec<Field>> = table.lines.iter().map(row).collect();
    // Sizes and densities are aligned like other numbers.
    let has_digits =
        |column: usize| rows.iter().any(|row| row[column].text.starts_with(|c: char| c.is_ascii_digit()));
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
        "cache" => Some(format!("{value} cache")),
        "variant" | "shape" | "density" | "matrix" if value != "-" => Some(format!("{name} {value}")),
        _ => None,
    }
}

fn time(line: &FleetLine, column: usize) -> Field {
    match &line.times[column] {
        None => "-".into(),
        Some(BestResult::Untimed(missing)) => {
            let is_wrong = missing.outcome != Outcome::Skipped;
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

/// The speed-ups at the largest size and the crossovers of several reports, resident and end to end, with the libraries where
/// these differ; empty where no report has both contenders.
pub fn speed_ups(members: &[(&str, &Report)]) -> Vec<Block> {
    let of_each: Vec<Sweeps<'_>> = members.iter().map(|(_, report)| Sweeps::of(report)).collect();
    let mut lines: Vec<&Sweep<'_>> = vec![];
    for sweep in of_each.iter().flat_map(|sweeps| &sweeps.all).filter(|sweep| !sweep.crossovers.is_empty()) {
        if !lines.iter().any(|line| line.is_like(sweep)) {
            lines.push(sweep);
        }
    }
    let Some(versus) = of_each.first().map(|sweeps| sweeps.versus).filter(|_| !lines.is_empty()) else {
        return vec![];
    };
    let rows = || members.iter().flat_map(|(_, report)| &report.rows);
    let kinds = Kinds::of(rows());
    let table = |kind: Kind| {
        let title = match kind {
            Kind::Kernel | Kind::Resident => "With the data on the device".to_owned(),
            _ => format!("{}, copies both ways included", capitalised(kinds.name(kind))),
        };
        let from = format!("{} faster from N", versus.label(Contender::B));
        let of_member = |(name, _): &(&str, &Report)| {
            [Column::figures("speed-up"), Column::figures(from.clone())]
                .map(|one| one.in_group((*name).to_owned()))
        };
        let columns = [Column::words("op")].into_iter().chain(members.iter().flat_map(of_member)).collect();
        let row = |line: &&Sweep<'_>| {
            let section = &line.section;
            let family = section.common_family().clause();
            let op = format!("{} {}{family}, {}", section.op, section.dtype, section.cache);
            let of_member = |sweeps: &Sweeps<'_>| {
                let sweep = sweeps.all.iter().find(|sweep| sweep.is_like(line));
                let speed_up = sweep.and_then(|sweep| sweep.largest(kind)).map(|(n, pair)| {
                    format!("{} ({}) at {n}", pair.speed_up_text(), pair.speed_up.interval_text())
                });
                let from = sweep.and_then(|sweep| sweep.crossover(kind)).map(crossover_text);
                [speed_up, from].map(|text| Field::from(text.unwrap_or_else(|| "-".into())))
            };
            [Field::from(op)].into_iter().chain(of_each.iter().flat_map(of_member)).collect()
        };
        Block::Table(Table::new(title, columns, lines.iter().map(row).collect()))
    };
    let shown = [Kind::Resident].into_iter().chain(kinds.end_to_end().iter().copied());
    let note = format!(
        "Resident: by the host's clock, launch and wait included, with the data on the device. End to end: also with {}, both \
         ways. Best correct variants in full precision, at the largest N, with 95 % intervals. ?: the interval includes 1x, a \
         tie; !: unreliable.",
        copies_clause(rows(), &Kind::ALL),
    );
    shown.map(table).chain([Block::paragraph(note)]).collect()
}
