//! Fleets: reports of several machines and devices side by side, and which of them are unusual. Knows no device.
//!
//! [`Table`] holds the best time of every member cell by cell, [`findings`] says what stands out, [`export`] writes
//! both. A fleet is saved as one JSON file, which `schema/fleet-v1.json` ([`SCHEMA`]) describes.

mod best;
pub mod export;
mod facts;
pub mod file;
mod findings;
mod identity;
mod merge;
mod names;
mod outliers;
mod table;
mod words;

use anyhow::{Result, anyhow};
use serde::{Deserialize, Serialize};

use crate::report::Report;
use crate::settings::words::nearest;

pub use findings::{Finding, Kind, findings};
pub use merge::{Source, merge, sources};
pub use table::{Column, Line, Table};

/// Version of the layout of a fleet's file.
pub const FLEET_VERSION: u32 = 1;

/// The JSON Schema (2020-12) of a fleet's file; it refers to that of a report.
pub const SCHEMA: &str = include_str!("../../schema/fleet-v1.json");

/// Reports of several machines and devices.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Fleet {
    /// [`FLEET_VERSION`] of the writer.
    pub fleet_version: u32,
    /// At least one, each under a name of its own.
    pub members: Vec<Member>,
}

/// One report of a fleet.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Member {
    /// Its name, such as `node17 GPU 0`.
    pub name: String,
    /// The report, with its whole environment.
    pub report: Report,
}

impl Fleet {
    /// The report, where there is one alone: it is then shown as itself.
    pub fn single(&self) -> Option<&Report> {
        match self.members.as_slice() {
            [one] => Some(&one.report),
            _ => None,
        }
    }

    /// The report of the member of that name.
    ///
    /// # Errors
    /// There is none; the nearest name stands in the message.
    pub fn member(&self, name: &str) -> Result<&Report> {
        let found = self.members.iter().find(|member| member.name == name);
        found.map(|member| &member.report).ok_or_else(|| {
            let names = self.members.iter().map(|member| member.name.as_str());
            anyhow!(
                "no member is named '{name}': did you mean '{}'?",
                nearest(name, names).unwrap_or_default()
            )
        })
    }

    /// Names and reports, as charts take them.
    pub fn named(&self) -> impl Iterator<Item = (&str, &Report)> {
        self.members.iter().map(|member| (member.name.as_str(), &member.report))
    }
}

#[cfg(test)]
pub(crate) mod example;
