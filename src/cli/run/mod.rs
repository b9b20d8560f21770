//! `gpubench run`: measures on one device, or on several devices one after another.

mod dry;
mod measure;
mod multi_device;
mod one;
mod request;
mod resume;
mod same_settings;

use std::process::ExitCode;

use anyhow::Result;

use super::args::RunArgs;
pub(crate) use measure::measure;
pub(crate) use one::{INTERRUPTED, NOTHING_MEASURED, exit_code};

/// Runs the sweep that `args` describe.
pub(crate) fn run(args: RunArgs) -> Result<ExitCode> {
    if let Some(folder) = &args.resume {
        return resume::run(&args, folder);
    }
    match args.sweep.device.as_ref().filter(|device| device.0.single().is_none()) {
        Some(devices) => multi_device::run(&args, &devices.0),
        None => one::run(&args),
    }
}
