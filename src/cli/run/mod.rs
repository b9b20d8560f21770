//! `gpubench run`: on one device, or on several one after the other.

mod dry;
mod one;
mod request;
mod several;

use std::process::ExitCode;

use anyhow::Result;

use super::args::RunArgs;
pub(crate) use one::{INTERRUPTED, exit_code};

/// Runs what `args` ask for.
pub(crate) fn run(args: RunArgs) -> Result<ExitCode> {
    match args.sweep.device.as_ref().filter(|device| device.0.single().is_none()) {
        Some(devices) => several::run(&args, &devices.0),
        None => one::run(&args),
    }
}
