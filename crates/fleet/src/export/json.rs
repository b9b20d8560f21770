//! A fleet's tables and findings as JSON, without the reports.

use gpubench_model::format::Makes;
use gpubench_model::report::file::to_json_text;
use serde::Serialize;

use super::contents::{Contents, Format};
use crate::{Finding, Table};

pub(crate) static JSON: Format = Format {
    name: "json",
    summary: "tables and findings, for programs",
    by_default: false,
    makes: Makes::Text("fleet-table.json", |fleet, _| json(&Contents::of(fleet))),
};

/// Version of the layout. Layout 1 had other names for `max_over_min` and for two kinds of findings.
const FLEET_TABLE_VERSION: u32 = 2;

#[derive(Serialize)]
struct Document<'a> {
    fleet_table_version: u32,
    /// Name, host and start of each report.
    members: Vec<Entry<'a>>,
    /// GPUs, then hosts.
    tables: &'a [Table],
    findings: &'a [Finding],
}

#[derive(Serialize)]
struct Entry<'a> {
    name: &'a str,
    host: &'a str,
    started: &'a str,
}

fn json(shown: &Contents<'_>) -> anyhow::Result<String> {
    let members = shown.fleet.members.iter().map(|member| {
        let environment = &member.report.environment;
        Entry { name: &member.name, host: &environment.host.name, started: &environment.started }
    });
    to_json_text(&Document {
        fleet_table_version: FLEET_TABLE_VERSION,
        members: members.collect(),
        tables: &shown.tables,
        findings: &shown.findings,
    })
}
