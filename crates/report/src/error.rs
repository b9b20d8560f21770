//! Defines the errors of a cell that could not be measured.

use thiserror::Error;

use crate::report::quantity::bytes_text;

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
    let text = |bytes: u128| bytes_text(u64::try_from(bytes).unwrap_or(u64::MAX));
    match needed {
        Some(needed) => format!("needs {} of {place} memory, {} is free", text(needed), text(free)),
        None => format!("needs more {place} memory than is free ({})", text(free)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_text_in_the_unit_that_fits() {
        let text = |needed| CellError::OutOfMemory { place: "device", needed, free: 3 << 30 }.to_string();
        assert_eq!(text(Some(512)), "needs 512 B of device memory, 3.00 GiB is free");
        assert_eq!(text(Some(5 << 40)), "needs 5.00 TiB of device memory, 3.00 GiB is free");
        assert!(text(Some(u128::MAX)).contains("TiB"));
        assert_eq!(text(None), "needs more device memory than is free (3.00 GiB)");
    }
}
