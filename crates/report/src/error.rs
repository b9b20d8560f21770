//! Defines the errors of a cell that could not be measured.

use thiserror::Error;

/// Something a cell needs is not on this machine.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Unavailable {
    /// Name of the missing thing and the cause, in one line.
    pub reason: String,
    /// The command or step that would fix it, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fix: Option<String>,
}

impl Unavailable {
    /// Describes a missing thing and the step that would supply it.
    pub fn new(reason: impl Into<String>, fix: impl Into<String>) -> Self {
        Unavailable { reason: reason.into(), fix: Some(fix.into()) }
    }

    /// Describes a missing thing that no command can supply.
    pub fn without_fix(reason: impl Into<String>) -> Self {
        Unavailable { reason: reason.into(), fix: None }
    }
}

/// The reason that a cell could not be measured.
#[derive(Clone, Debug, Error)]
pub enum CellError {
    /// A library or device is missing, or the variant does not support the case. The cell is skipped.
    #[error("{}", .0.reason)]
    Unavailable(Unavailable),
    /// The operands do not fit. The cell is skipped.
    #[error("{}", out_of_memory(place, *.needed, *.free))]
    OutOfMemory {
        /// `host` or `device`.
        place: &'static str,
        /// Bytes the cell needs, unless the allocation was a library's own.
        needed: Option<u128>,
        /// Bytes that were free.
        free: u128,
    },
    /// A call reported an error. The cell failed; the backend can go on.
    #[error("{0}")]
    Failed(String),
    /// The device or its context is unusable. The cell failed, and the worker must be replaced.
    #[error("{0}")]
    DeviceLost(String),
}

impl CellError {
    /// Describes a failed call by its name and its message.
    pub fn call(call: &str, detail: impl std::fmt::Display) -> Self {
        CellError::Failed(format!("{call}: {detail}"))
    }
}

impl From<Unavailable> for CellError {
    fn from(missing: Unavailable) -> Self {
        CellError::Unavailable(missing)
    }
}

fn out_of_memory(place: &str, needed: Option<u128>, free: u128) -> String {
    match needed {
        Some(needed) => format!("needs {} of {place} memory, {} is free", binary(needed), binary(free)),
        None => format!("needs more {place} memory than is free ({})", binary(free)),
    }
}

/// The units of amounts of memory, each 1024 times the one before it; below the first, amounts are in bytes.
pub const BINARY_UNITS: [&str; 6] = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];

/// Formats bytes in the largest binary unit not above them, with two decimals.
fn binary(bytes: u128) -> String {
    if bytes < 1024 {
        return format!("{bytes} bytes");
    }
    let mut value = bytes as f64 / 1024.0;
    let mut unit = 0;
    while value >= 1024.0 && unit + 1 < BINARY_UNITS.len() {
        value /= 1024.0;
        unit += 1;
    }
    format!("{value:.2} {}", BINARY_UNITS[unit])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_text_in_the_unit_that_fits() {
        let text = |needed| CellError::OutOfMemory { place: "device", needed, free: 3 << 30 }.to_string();
        assert_eq!(text(Some(512)), "needs 512 bytes of device memory, 3.00 GiB is free");
        assert_eq!(text(Some(5 << 40)), "needs 5.00 TiB of device memory, 3.00 GiB is free");
        assert!(text(Some(u128::MAX)).contains("EiB"));
        assert_eq!(text(None), "needs more device memory than is free (3.00 GiB)");
    }
}
