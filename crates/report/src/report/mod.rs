//! Defines the report, which `gpubench run` writes and the other commands read.
//!
//! The layout is published in `schema/report-v4.json` ([`SCHEMA`]); a change of layout changes [`SCHEMA_VERSION`].

#[expect(clippy::unwrap_used, reason = "the example is known to have what it unwraps")]
pub mod example;
mod execute;
pub mod file;
mod json;
/// Reads facts about the machine, and the names of its host and devices, from a report.
pub mod machine {
    mod facts;
    mod names;
    mod value;

    pub use facts::*;
    pub use names::{
        cpu_model, device_name, device_of_backend, host, machine_of, processor, threads, versions,
        versions_text,
    };
    pub use value::{Value, plain};
}
pub mod quantity;
mod row;
pub mod sanitize;
mod validate;
pub mod variables;

pub use execute::{Clock, Execute};
pub use row::{Outcome, Phases, Row};
pub use validate::check_row;

use serde::{Deserialize, Serialize};
use serde_with_macros::skip_serializing_none;

use crate::{Peaks, TimerOverhead};

/// Version of the report's layout, independent of the program's version.
pub const SCHEMA_VERSION: u32 = 4;

/// The JSON Schema (2020-12) of a report.
pub const SCHEMA: &str = include_str!("../../../../schema/report-v4.json");

/// One run: its environment and the outcome of every cell.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// [`SCHEMA_VERSION`] of the writer.
    pub schema_version: u32,
    /// Machine, libraries and program.
    pub environment: Environment,
    /// One row per cell, in the order of the plan.
    pub rows: Vec<Row>,
}

/// Machine, program and settings of a run.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Environment {
    /// Version of gpubench.
    pub gpubench_version: String,
    /// Git revision of the program's source, where it was built from a checkout.
    pub gpubench_revision: Option<String>,
    /// Build profile of the program, `release` or `debug`. CPU times of a debug build are meaningless.
    pub build_profile: Option<String>,
    /// Hash of the program's file, which differs between builds of one version and revision.
    pub program_hash: Option<String>,
    /// Command line, program name first.
    pub argv: Vec<String>,
    /// Git revision of the folder in which the run started, with `-dirty` if it had changes.
    pub git_revision: Option<String>,
    /// Start of the run, RFC 3339, UTC.
    pub started: String,
    /// Wall time of the run so far, in seconds.
    pub elapsed_s: f64,
    /// Share of the CPUs' time that other programs used while the run started, from 0 to 1, if the system reports it.
    pub other_programs: Option<f64>,
    /// Warnings about the run as a whole, each with the next step.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<RunWarning>,
    /// Number of planned cells; larger than the number of rows if the run ended early.
    pub planned_rows: Option<u64>,
    /// The machine.
    pub host: Host,
    /// One entry per backend of the run: its description and libraries, or the reason that it is unavailable.
    pub backends: Vec<BackendState>,
    /// Resolved settings of the run, as an object.
    pub settings: serde_json::Value,
    /// Environment variables that change results, if set.
    #[serde(default)]
    pub variables: std::collections::BTreeMap<String, String>,
    /// Version of the rule that chose the variables ([`variables::RULE`]); 0 for the first one.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub variables_rule: u32,
    /// Pauses by the control group's CPU quota during the run; `None` without a quota.
    pub quota_pauses: Option<QuotaPauses>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it with a reference")]
fn is_zero(rule: &u32) -> bool {
    *rule == 0
}

impl Environment {
    /// Returns the state of the backend of that name.
    pub fn backend(&self, name: &str) -> Option<&BackendState> {
        self.backends.iter().find(|backend| backend.name == name)
    }
}

/// A warning about a whole run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunWarning {
    /// The finding, with its figure.
    pub text: String,
    /// The next step.
    pub next: String,
}

/// Pauses of a run by the CPU quota of its control group.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct QuotaPauses {
    /// Periods of the quota in which the run wanted CPU time.
    pub periods: u64,
    /// Periods in which the run had used up its quota and was paused.
    pub paused: u64,
}

impl QuotaPauses {
    /// Returns the share of the periods with a pause.
    pub fn share(self) -> f64 {
        self.paused as f64 / self.periods.max(1) as f64
    }
}

/// The machine, as its operating system describes it.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Host {
    /// Host name.
    pub name: String,
    /// Operating system and kernel.
    pub os: String,
    /// CPU model.
    pub cpu: String,
    /// Family, model and stepping of the first CPU, which distinguish generations of one brand name; on Arm implementer,
    /// part, variant and revision. `None` if the system does not report them.
    pub cpu_identity: Option<String>,
    /// CPUs that the process may use.
    pub threads: u64,
    /// Main memory, in bytes.
    pub memory_bytes: u64,
    /// Frequency governor of the first CPU, if the kernel reports it.
    pub governor: Option<String>,
    /// True if several CPUs share a core (simultaneous multithreading).
    pub smt: Option<bool>,
    /// NUMA nodes with CPUs.
    pub numa_nodes: Option<u64>,
    /// CPU time that the control group allows, in CPUs, such as 1.5; `None` without a limit.
    pub cpu_quota: Option<f64>,
    /// Policy of transparent huge pages: `always`, `madvise` (where a program requests them) or `never`.
    pub transparent_huge_pages: Option<String>,
    /// Bytes of all last-level caches that the process can use.
    pub last_level_cache_bytes: Option<u64>,
    /// Average number of runnable processes over the last minute when the run started.
    pub load_average: Option<f64>,
}

/// A backend as a run found it.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct BackendState {
    /// Name of the backend.
    pub name: String,
    /// True if it started.
    pub available: bool,
    /// The reason that it did not start.
    pub reason: Option<String>,
    /// The step that would fix it.
    pub fix: Option<String>,
    /// Seconds from the worker's start until it was ready.
    pub startup_s: Option<f64>,
    /// The overhead of its timers.
    #[serde(alias = "floors")]
    pub timer_overhead: Option<TimerOverhead>,
    /// The measured peaks of its memory, arithmetic and bus.
    #[serde(alias = "ceilings")]
    pub peaks: Option<Peaks>,
    /// Device, threads and so on, as the backend describes itself.
    #[serde(default)]
    pub description: serde_json::Value,
    /// Libraries in use by any of its workers, with versions and paths.
    #[serde(default)]
    pub libraries: Vec<Finding>,
}

/// A library, driver or device that a backend searched for, as `gpubench doctor` lists it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Finding {
    /// Name, such as `OpenBLAS` or `cuFFT`.
    pub name: String,
    /// Path at which it was found; `None` when it is missing.
    pub path: Option<String>,
    /// Version and configuration, as the library itself reports them.
    pub version: Option<String>,
    /// Variants that need it, such as `fft/r2c`.
    pub serves: Vec<String>,
    /// The reason that it is missing or unusable.
    pub problem: Option<String>,
    /// The command or step that would fix it.
    pub fix: Option<String>,
}

impl Finding {
    /// Returns the version without the number of threads that a BLAS adds, which changes with the cell.
    pub fn version_without_threads(&self) -> Option<&str> {
        self.version.as_deref().map(|version| split_threads(version).0)
    }

    /// Returns the number of threads of a BLAS when it reported its version.
    pub fn threads(&self) -> Option<u64> {
        split_threads(self.version.as_deref()?).1
    }
}

/// Splits the version that a BLAS reports into the version and its number of threads.
fn split_threads(version: &str) -> (&str, Option<u64>) {
    let split = version.rsplit_once(", ").and_then(|(version, threads)| {
        // Earlier reports have `1 threads`.
        let count = threads.strip_suffix(" threads").or_else(|| threads.strip_suffix(" thread"))?;
        Some((version, Some(count.parse().ok()?)))
    });
    split.unwrap_or((version, None))
}

/// Returns the present time, or the nearest one that a report can hold where the system's clock is far off.
pub fn now() -> jiff::Timestamp {
    timestamp(std::time::SystemTime::now())
}

fn timestamp(time: std::time::SystemTime) -> jiff::Timestamp {
    let is_before = time < std::time::SystemTime::UNIX_EPOCH;
    let nearest = if is_before { jiff::Timestamp::MIN } else { jiff::Timestamp::MAX };
    jiff::Timestamp::try_from(time).unwrap_or(nearest)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::{Duration, SystemTime};

    #[test]
    fn a_clock_that_is_far_off_gives_the_nearest_time() {
        let year = Duration::from_secs(365 * 86_400);
        for (years, expected) in [(56, "2025-"), (20_000, "9999-12-")] {
            let text = timestamp(SystemTime::UNIX_EPOCH + year * years).to_string();
            assert!(text.starts_with(expected), "{text}");
        }
        assert!(timestamp(SystemTime::UNIX_EPOCH - year * 20_000).to_string().starts_with("-009999-"));
    }
}
