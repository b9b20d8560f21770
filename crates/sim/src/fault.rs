//! Causes the faults of the simulated device. They are real: a crash ends the process, a hang never ends.

use std::time::Duration;

use gpubench_model::error::{CellError, Unavailable};
use serde::Deserialize;

/// Fault of a cell, in place of its work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Fault {
    /// No fault; cancels that of an earlier rule.
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
    /// Causes the fault; returns normally only for [`Fault::None`].
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
                Err(CellError::OutOfMemory { place: "device", needed: Some(2 << 30), free: 1 << 30 })
            }
        }
    }
}
