//! SEAM ONLY: the calls from the command line into the executor, the exporters, the charts and the doctor.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Result, bail};

use crate::plan::Plan;
use crate::report::Report;
use crate::settings::{Format, Settings};

/// What a run comes to.
pub struct Finished {
    /// The report, with a row for every cell that was finished.
    pub report: Report,
    /// Whether the user ended the run early.
    pub interrupted: bool,
}

/// Runs the plan.
pub fn measure(_: &Settings, _: &Plan) -> Result<Finished> {
    bail!("this build has no executor")
}

/// Writes the report in the formats of `settings.output`.
pub fn deliver(_: &Settings, _: &Report) -> Result<()> {
    bail!("this build has no exporters")
}

/// Draws the charts of `reports` into `out`.
pub fn plot(_: &[PathBuf], _: &Path, _: &[Format], _: bool) -> Result<()> {
    bail!("this build has no charts")
}

/// The published schema of `report.json`.
pub fn schema() -> Result<&'static str> {
    bail!("this build has no schema")
}

/// Prints what every backend finds.
pub fn doctor(_: bool) -> Result<ExitCode> {
    bail!("this build has no doctor")
}

/// Serves a backend on stdin and stdout.
pub fn worker(_: &str) -> Result<ExitCode> {
    bail!("this build has no workers")
}
