//! The report: what `run` writes and everything else reads. Nothing here touches a device.
//!
//! The layout is published in `schema/report-v1.json` ([`SCHEMA`]); a change of layout changes [`SCHEMA_VERSION`].

pub mod environment;
#[cfg(test)]
pub(crate) mod example;
pub mod file;
pub mod headline;
mod json;
pub mod quantity;
mod row;

pub use row::{Clock, Execute, Outcome, Phases, Row};

use serde::{Deserialize, Serialize};

/// Version of the report's layout, independent of the program's version.
pub const SCHEMA_VERSION: u32 = 1;

/// The JSON Schema (2020-12) of a report.
pub const SCHEMA: &str = include_str!("../../schema/report-v1.json");

/// One run: where, how, and every cell's outcome.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// [`SCHEMA_VERSION`] of the writer.
    pub schema_version: u32,
    /// Machine, libraries and program.
    pub environment: Environment,
    /// One row a cell, in the order of the plan.
    pub rows: Vec<Row>,
}

/// Where and how a run was made.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Environment {
    /// Version of gpubench.
    pub gpubench_version: String,
    /// Git revision of the program's source, where it was built from a checkout.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gpubench_revision: Option<String>,
    /// Command line, program name first.
    pub argv: Vec<String>,
    /// Git revision of the folder the run was started in, with `-dirty` where it had changes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub git_revision: Option<String>,
    /// Start of the run, RFC 3339, UTC.
    pub started: String,
    /// Wall time of the run so far, in seconds.
    pub elapsed_s: f64,
    /// Cells the run set out to do; more than rows when it was ended early.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub planned_rows: Option<u64>,
    /// The machine.
    pub host: Host,
    /// One entry a backend of the run: what it says of itself, its libraries, or why it is unavailable.
    pub backends: Vec<BackendState>,
    /// Resolved settings of the run, as an object.
    pub settings: serde_json::Value,
    /// Environment variables that are known to change results, where set.
    #[serde(default)]
    pub variables: std::collections::BTreeMap<String, String>,
}

/// The machine, as its operating system tells.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Host {
    /// Host name.
    pub name: String,
    /// Operating system and kernel.
    pub os: String,
    /// CPU model.
    pub cpu: String,
    /// Processors that the process may use.
    pub threads: u64,
    /// Main memory, in bytes.
    pub memory_bytes: u64,
    /// Frequency governor of the first processor, where the kernel tells.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub governor: Option<String>,
}

/// A backend as a run found it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BackendState {
    /// Name of the backend.
    pub name: String,
    /// Whether it started.
    pub available: bool,
    /// Why not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The step that would fix it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fix: Option<String>,
    /// Seconds from the worker's start until it was ready.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub startup_s: Option<f64>,
    /// Device, threads and so on, as the backend describes itself.
    #[serde(default)]
    pub description: serde_json::Value,
    /// Libraries in use, with versions and paths.
    #[serde(default)]
    pub libraries: Vec<crate::backend::Finding>,
}
