//! Fleets as text, Markdown, CSV, JSON and pages.
//!
//! [`FORMATS`] lists all formats.

mod text;

use crate::html::page;
use gpubench_document::table::{Column, Field, Table};
use gpubench_report::Side;
use gpubench_report::format::{self, Formats, Makes};
use gpubench_report::report::file::to_json_text;
use gpubench_text::csv::number;
use serde::Serialize;

use gpubench_analysis::fleet::Fleet;
use gpubench_analysis::fleet::best::LineKey;
use gpubench_document::fleet::finding::FleetFinding;
use gpubench_document::fleet::findings::{findings, no_outliers};
use gpubench_document::fleet::table::{FleetTable, tables};

/// A format of a fleet.
type FleetFormat = format::Format<Fleet, View>;

/// View options of a fleet.
#[derive(Clone, Copy, Debug, Default)]
pub struct View {
    /// Use ANSI colours for findings.
    pub color: bool,
}

/// Every format of a fleet; the first is for people at a terminal.
pub static FORMATS: Formats<Fleet, View> = Formats {
    all: &[
        &FleetFormat {
            name: "table",
            summary: "times of the members side by side, and outliers",
            by_default: true,
            makes: Makes::Screen(|fleet, view| Ok(text::text(&ShownFleet::of(fleet), view.color))),
        },
        &FleetFormat {
            name: "json",
            summary: "tables and findings, for programs",
            by_default: false,
            makes: Makes::Text("fleet-table.json", |fleet, _| to_json_text(&ShownFleet::of(fleet))),
        },
        &FleetFormat {
            name: "csv",
            summary: "a line per case, a column per GPU and host, medians in seconds",
            by_default: false,
            makes: Makes::Text("fleet.csv", |fleet, _| Ok(csv(&ShownFleet::of(fleet)))),
        },
        &FleetFormat {
            name: "md",
            summary: "the same as Markdown",
            by_default: false,
            makes: Makes::Text("fleet.md", |fleet, _| Ok(text::markdown(&ShownFleet::of(fleet)))),
        },
        &FleetFormat {
            name: "html",
            summary: "one page: the answer and every row of each member",
            by_default: false,
            makes: Makes::Text("fleet.html", |fleet, _| page(&fleet.named().collect::<Vec<_>>())),
        },
    ],
    refused: &[
        ("png", "png charts are files: use 'gpubench plot' to draw them"),
        ("svg", "svg charts are files: use 'gpubench plot' to draw them"),
    ],
};

/// The contents of all formats except the page. The JSON lacks the reports.
#[derive(Serialize)]
struct ShownFleet<'a> {
    /// Version of the layout of the JSON. Layout 1 had other names for `max_over_min` and for two kinds of findings.
    fleet_table_version: u32,
    members: Vec<ListedMember<'a>>,
    /// GPUs, then hosts; without sides of which no member has a time.
    tables: Vec<FleetTable<'a>>,
    /// The tables with a column per device, which findings are about.
    #[serde(skip)]
    by_device: Vec<FleetTable<'a>>,
    /// Outliers and differences on both sides.
    findings: Vec<FleetFinding>,
    /// One line per device class without findings.
    #[serde(skip)]
    no_outliers: Vec<String>,
}

/// A member in the JSON of a fleet.
#[derive(Serialize)]
struct ListedMember<'a> {
    name: &'a str,
    host: &'a str,
    started: &'a str,
}

impl<'a> ShownFleet<'a> {
    fn of(fleet: &'a Fleet) -> ShownFleet<'a> {
        let members = fleet.named().map(|(name, report)| {
            let environment = &report.environment;
            ListedMember { name, host: &environment.host.name, started: &environment.started }
        });
        let sides = [Side::Gpu, Side::Cpu].map(|side| tables(fleet, side));
        let (tables, by_device): (Vec<_>, Vec<_>) = sides
            .into_iter()
            .filter(|[runs, _]| runs.has_times())
            .map(|[runs, devices]| (runs, devices))
            .unzip();
        let findings: Vec<FleetFinding> = by_device.iter().flat_map(findings).collect();
        let no_outliers = by_device.iter().flat_map(|table| no_outliers(table, &findings)).collect();
        ShownFleet {
            fleet_table_version: 2,
            members: members.collect(),
            tables,
            by_device,
            findings,
            no_outliers,
        }
    }
}

/// Writes the cases of all sides as CSV (RFC 4180), each with the times of its GPUs and then of its hosts.
fn csv(shown: &ShownFleet<'_>) -> String {
    let mut keys: Vec<&LineKey> =
        shown.tables.iter().flat_map(|table| &table.lines).map(|line| &line.key).collect();
    keys.sort_by(|a, b| a.order(b));
    keys.dedup();
    let mut columns = ["op", "dtype", "cache", "n", "density", "seed", "variant"].map(Column::words).to_vec();
    for table in &shown.tables {
        let side = table.side.label();
        columns
            .extend(table.columns.iter().map(|column| Column::words(format!("{side} s: {}", column.name))));
        columns.extend(["fastest", "max/min"].map(|heading| Column::words(format!("{side} {heading}"))));
    }
    let row = |key: &LineKey| -> Vec<Field> {
        let mut fields = vec![
            key.op.clone(),
            key.dtype.to_string(),
            key.cache.to_string(),
            key.n.to_string(),
            number(key.density),
            key.seed.to_string(),
            key.variant.clone().unwrap_or_default(),
        ];
        for table in &shown.tables {
            let line = table.lines.iter().find(|line| line.key == *key);
            let time = |column: usize| number(line.and_then(|line| Some(line.timing(column)?.median_s)));
            fields.extend((0..table.columns.len()).map(time));
            let fastest = line.and_then(|line| Some(table.columns[line.fastest?].name.clone()));
            fields.extend([fastest.unwrap_or_default(), number(line.and_then(|line| line.max_over_min))]);
        }
        fields.into_iter().map(Field::from).collect()
    };
    crate::csv::table(&Table::untitled(columns, keys.into_iter().map(row).collect()))
}

#[cfg(test)]
mod tests;
