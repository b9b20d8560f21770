//! Why a cell has no time: the few kinds of failure the program treats differently.

use thiserror::Error;

/// Something a cell needs is not on this machine.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Unavailable {
    /// What is missing, in one line.
    pub reason: String,
    /// The one command or step that would fix it, where there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fix: Option<String>,
}

impl Unavailable {
    /// A missing thing with the step that would supply it.
    pub fn new(reason: impl Into<String>, fix: impl Into<String>) -> Self {
        Unavailable { reason: reason.into(), fix: Some(fix.into()) }
    }

    /// A missing thing that no command can supply.
    pub fn without_fix(reason: impl Into<String>) -> Self {
        Unavailable { reason: reason.into(), fix: None }
    }
}

/// Why one cell could not be measured.
#[derive(Clone, Debug, Error)]
pub enum CellError {
    /// A library or device is missing, or the variant does not do this case. The cell is skipped.
    #[error("{}", .0.reason)]
    Unavailable(Unavailable),
    /// The operands do not fit. The cell is skipped.
    #[error("needs {} of {place} memory, {} is free", gib(*.needed), gib(*.free))]
    OutOfMemory {
        /// `host` or `device`.
        place: &'static str,
        /// Bytes the cell needs.
        needed: u128,
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
    /// A failed call, named, with what it said.
    pub fn call(call: &str, detail: impl std::fmt::Display) -> Self {
        CellError::Failed(format!("{call}: {detail}"))
    }
}

impl From<Unavailable> for CellError {
    fn from(missing: Unavailable) -> Self {
        CellError::Unavailable(missing)
    }
}

/// Bytes as GiB with two digits after the point, or as bytes when small.
fn gib(bytes: u128) -> String {
    const GIB: f64 = (1u64 << 30) as f64;
    if bytes < 1 << 20 { format!("{bytes} bytes") } else { format!("{:.2} GiB", bytes as f64 / GIB) }
}
