//! Simulates a device with right answers and scripted times and faults, for tests and for machines without a GPU.
//!
//! `docs/sim.md` describes the script. Reported times are not slept; equal scripts and seeds give equal times.

mod answer;
mod bus;
mod device;
mod job;
mod law;
mod peaks;
mod rule;
mod script;

use crate::{Backend, Options, Registration, Variant};
use gpubench_report::error::Unavailable;

use device::SimDevice;
use script::Script;

/// The registration.
pub const REGISTRATION: Registration = Registration {
    name: "sim",
    summary: "simulated device: times and faults from a script (--sim FILE)",
    simulated: true,
    variants,
    start,
    findings: |_| vec![],
};

/// The step that supplies a script.
const PASS_A_SCRIPT: &str = "pass --sim FILE (example: configs/sim-example.toml; format: docs/sim.md)";

/// Returns the variants of the script; an error without a script.
fn variants(options: &Options) -> anyhow::Result<Vec<Variant>> {
    match &options.sim {
        Some(path) => Ok(Script::read(path)?.variants()),
        None => anyhow::bail!("the sim backend needs a script: {PASS_A_SCRIPT}"),
    }
}

/// Parses the text of a script and returns its variants, for tests.
///
/// # Errors
/// It is not a valid script; one line with the place and the correction.
pub fn parse(text: &str) -> anyhow::Result<Vec<Variant>> {
    Ok(Script::parse(text)?.variants())
}

fn start(options: &Options) -> Result<Box<dyn Backend>, Unavailable> {
    let Some(path) = &options.sim else {
        return Err(Unavailable::new("the sim backend needs a script", PASS_A_SCRIPT));
    };
    let script = Script::read(path)
        .map_err(|error| Unavailable::new(format!("{error:#}"), "docs/sim.md describes the script"))?;
    Ok(Box::new(SimDevice::start(script, options)?))
}
