//! Faults of the simulated device, which are real: a crash ends the process, a hang never ends.

use std::time::Duration;

use gpubench_model::error::{CellError, Unavailable};
use serde::Deserialize;

/// What a cell does instead of its work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Fault {
    /// No fault: takes back what an earlier rule said.
    None,
    Crash,
    Hang,
    Fail,
    /// The variant is missing.
    Unavailable,
    Panic,
    DeviceLost,
    OutOfMemory,
}

impl Fault {
    /// Does what the fault does to a process; returns normally only for [`Fault::None`].
    pub(crate) fn suffer(self, reason: &str) -> Result<(), CellError> {
        match self {
            Fault::None => Ok(()),
            Fault::Crash => std::process::abort(),
            Fault::Hang => loop {
                std::thread::sleep(Duration::from_secs(3600));
            },
            Fault::Fail => Err(CellError::Failed(format!("a simulated call failed: {reason}"))),
            Fault::Unavailable => {
                Err(Unavailable::new(format!("unavailable: {reason}"), "change the script").into())
            }
            Fault::Panic => panic!("a simulated panic: {reason}"),
            Fault::DeviceLost => {
                Err(CellError::DeviceLost(format!("the simulated device is lost: {reason}")))
            }
            Fault::OutOfMemory => {
                Err(CellError::OutOfMemory { place: "device", needed: 2 << 30, free: 1 << 30 })
            }
        }
    }
}
