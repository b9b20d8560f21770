//! The calls from the command line into the executor, the exporters, the charts, the doctor and the workers.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Result, bail};

use super::stream;
use crate::executor::{self, Finished};
use crate::plan::Plan;
use crate::report::Report;
use crate::settings::{Destination, Format, Settings};
use crate::{doctor, observe, worker};

/// Runs the plan; progress goes to stderr.
pub fn measure(settings: &Settings, plan: Plan) -> Result<Finished> {
    let out = match &settings.output.destination {
        Destination::Folder(path) => Some(path.clone()),
        Destination::Stdout => None,
    };
    let run = executor::Run {
        cells: plan.cells,
        options: settings.options.clone(),
        cell_timeout: Duration::from_secs_f64(settings.cell_timeout_s),
        isolate: settings.isolate,
        program: None,
        require: settings.require.clone(),
        out,
        argv: std::env::args_os().map(|arg| arg.to_string_lossy().into_owned()).collect(),
        settings: serde_json::to_value(settings)?,
    };
    executor::run(&run, observe::for_stderr(settings.output.quiet).as_mut())
}

/// Writes the report in the formats of `settings.output`.
pub fn deliver(_: &Settings, _: &Report) -> Result<()> {
    bail!("SEAM: export::find(format.name())")
}

/// Draws the charts of `reports` into `out`.
pub fn plot(_: &[PathBuf], _: &Path, _: &[Format], _: bool) -> Result<()> {
    bail!("SEAM: chart::plot")
}

/// The published schema of `report.json`.
pub fn schema() -> Result<&'static str> {
    bail!("SEAM: export::SCHEMA")
}

/// Prints what every backend finds.
pub fn doctor(json: bool) -> Result<()> {
    let mut text = Vec::new();
    doctor::run(json, &mut text)?;
    stream::print_bytes(&text)
}

/// Serves a backend on stdin and stdout.
pub fn worker(backend: &str) -> ExitCode {
    worker::serve::main(backend)
}
