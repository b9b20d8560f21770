//! The most that a machine does of one thing, measured: memory, arithmetic, and the way between host and device.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::phases::HostMemory;

/// Rates that no implementation can be expected to exceed by much; what a backend does not have is left out.
///
/// Each is the best of several repetitions over data that no cache holds.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Ceilings {
    /// Bytes a second that are read from memory and reduced to a number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read: Option<f64>,
    /// Bytes a second, read and written together, of a copy within memory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub copy: Option<f64>,
    /// Bytes a second, read and written together, of a = b + s c (STREAM triad).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub triad: Option<f64>,
    /// FLOP a second of a large matrix product, by precision: `f32`, `f64`, `tf32`, `f16`, `bf16`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub matmul: BTreeMap<String, f64>,
    /// Bytes a second from host memory to the device.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub upload: Option<BusRates>,
    /// Bytes a second from the device to host memory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub download: Option<BusRates>,
    /// When they were measured: RFC 3339, UTC.
    #[serde(default)]
    pub measured: String,
    /// Whether an earlier run on this machine measured them.
    #[serde(default)]
    pub cached: bool,
}

/// Bytes a second of copies between host and device, by kind of host memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct BusRates {
    /// To or from ordinary memory.
    pub pageable: f64,
    /// To or from page-locked memory.
    pub pinned: f64,
}

impl BusRates {
    /// The rate for memory of that kind.
    pub fn of(&self, memory: HostMemory) -> f64 {
        match memory {
            HostMemory::Pageable => self.pageable,
            HostMemory::Pinned => self.pinned,
        }
    }
}
