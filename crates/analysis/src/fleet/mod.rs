//! Compares the reports of several machines and devices and finds outliers among them.
//!
//! [`best`] has the best time of every member for each case, and [`outliers`] finds the members and cells that deviate. A fleet
//! is saved as one JSON file, which `schema/fleet-v1.json` ([`SCHEMA`]) describes.

pub mod best;
pub mod file;
pub mod identity;
mod merge;
mod names;
pub mod outliers;
pub mod table;

use anyhow::{Result, anyhow};
use gpubench_report::report::Report;
use gpubench_text::words::suggestion;
use serde::{Deserialize, Serialize};

pub use merge::{Source, merge, sources};

/// Version of the layout of a fleet's file.
pub(crate) const FLEET_VERSION: u32 = 1;

/// The JSON Schema (2020-12) of a fleet's file; it refers to that of a report.
pub const SCHEMA: &str = include_str!("../../../../schema/fleet-v1.json");

/// Reports of several machines and devices.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Fleet {
    pub(crate) fleet_version: u32,
    /// At least one member, each with a unique name.
    pub members: Vec<Member>,
}

/// One report of a fleet.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Member {
    /// Host and GPU, such as `node17 GPU 0`, or a name that the user gave.
    pub name: String,
    /// The report, with its whole environment.
    pub report: Report,
}

impl Fleet {
    /// Returns the report of a fleet with a single member.
    pub fn single(&self) -> Option<&Report> {
        match self.members.as_slice() {
            [one] => Some(&one.report),
            _ => None,
        }
    }

    /// Returns the report of the member with that name.
    ///
    /// # Errors
    /// Fails if there is none; the message suggests the nearest name.
    pub fn member(&self, name: &str) -> Result<&Report> {
        let found = self.members.iter().find(|member| member.name == name);
        found.map(|member| &member.report).ok_or_else(|| {
            let names = self.members.iter().map(|member| member.name.as_str());
            let hint = suggestion(name, names.clone());
            // Names may contain commas.
            let quoted: Vec<String> = names.map(|name| format!("'{name}'")).collect();
            anyhow!("no member is named '{name}'{hint} (members: {})", quoted.join(", "))
        })
    }

    /// Returns the names and reports, for charts.
    pub fn named(&self) -> impl Iterator<Item = (&str, &Report)> {
        self.members.iter().map(|member| (member.name.as_str(), &member.report))
    }
}

/// Returns the reports with labels for a chart: `names` for single ones, and the fleet's before member names that fleets share.
pub fn labelled<'a>(names: &[String], fleets: &'a [Fleet]) -> Vec<(String, &'a Report)> {
    let several = || fleets.iter().filter(|fleet| fleet.members.len() > 1).flat_map(|fleet| &fleet.members);
    let is_shared = |name: &str| several().filter(|member| member.name == name).count() > 1;
    let of_fleet = |(name, fleet): (&String, &'a Fleet)| {
        let label = |member: &'a Member| match (fleet.members.len(), is_shared(&member.name)) {
            (1, _) => (name.clone(), &member.report),
            (_, false) => (member.name.clone(), &member.report),
            (_, true) => (format!("{name}: {}", member.name), &member.report),
        };
        fleet.members.iter().map(label).collect::<Vec<_>>()
    };
    names.iter().zip(fleets).flat_map(of_fleet).collect()
}

pub mod example;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn charts_label_members_by_name_and_single_reports_by_their_path() {
        let fleets = [example::alike(2), example::alike(1), example::alike(2)];
        let names = ["a", "b", "c"].map(str::to_owned);
        let labels: Vec<String> = labelled(&names, &fleets).into_iter().map(|(label, _)| label).collect();
        assert_eq!(labels, ["a: node1 GPU 0", "a: node2 GPU 0", "b", "c: node1 GPU 0", "c: node2 GPU 0"]);
        let labels: Vec<String> =
            labelled(&names, &fleets[..2]).into_iter().map(|(label, _)| label).collect();
        assert_eq!(labels, ["node1 GPU 0", "node2 GPU 0", "b"]);
    }
}
