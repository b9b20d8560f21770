//! Defines the phases of a device around the timed work: compiling, copies, memory.

use serde::{Deserialize, Serialize};
use serde_with_macros::skip_serializing_none;

/// Kind of host memory that is copied from or to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum HostMemory {
    /// Ordinary memory, which the driver copies through its own buffer.
    #[default]
    Pageable,
    /// Page-locked memory, which the device reads and writes directly.
    Pinned,
}

names!(HostMemory { Pageable: "pageable", Pinned: "pinned" });

/// Kinds of host memory whose copies a run times.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TransferMemory {
    /// Pageable and pinned, one after the other.
    #[default]
    Both,
    /// Pageable alone.
    Pageable,
    /// Pinned alone.
    Pinned,
}

names!(TransferMemory { Both: "both", Pageable: "pageable", Pinned: "pinned" });

impl TransferMemory {
    /// Every choice, the default first.
    pub const ALL: [TransferMemory; 3] =
        [TransferMemory::Both, TransferMemory::Pageable, TransferMemory::Pinned];

    /// Returns the kind of memory of [`DevicePhases::upload`] and [`DevicePhases::download`].
    pub fn main(self) -> HostMemory {
        match self {
            TransferMemory::Both | TransferMemory::Pageable => HostMemory::Pageable,
            TransferMemory::Pinned => HostMemory::Pinned,
        }
    }
}

/// Copies of all operands, or of the whole answer, between host and device; repeated.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Transfer {
    /// Bytes of one repetition.
    pub bytes: u64,
    /// Kind of the host memory.
    pub memory: HostMemory,
    /// Host seconds of each repetition, until the data is there.
    pub host_s: Vec<f64>,
    /// Device seconds of each repetition, between events.
    pub device_s: Vec<f64>,
}

/// Copies of the operands and of the answer with pinned memory, for a job whose other copies use pageable memory.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PinnedCopies {
    /// Upload of the operands to the device.
    pub upload: Transfer,
    /// Download of the answer.
    pub download: Transfer,
}

/// Turning the kernels that a job uses into code on the device, in host seconds.
#[skip_serializing_none]
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Compile {
    /// Compiling the source, when that last happened: in this run, or in the one that filled the cache on disk.
    pub cold_s: Option<f64>,
    /// Reading the code from the cache on disk and loading it.
    pub cached_s: Option<f64>,
}

/// Work of a device around the timed executions of one job.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct DevicePhases {
    /// Compilation of gpubench's own kernels; `None` if the job uses none.
    pub compile: Option<Compile>,
    /// Upload of the operands to the device.
    pub upload: Option<Transfer>,
    /// Download of the answer.
    pub download: Option<Transfer>,
    /// Upload of the operands from pinned memory, where `upload` is from pageable memory and both are timed.
    pub pinned_upload: Option<Transfer>,
    /// Download of the answer to pinned memory, where `download` is to pageable memory and both are timed.
    pub pinned_download: Option<Transfer>,
    /// Peak device memory of the job's own allocations, in bytes.
    pub peak_device_bytes: Option<u64>,
    /// Host seconds that went into compiling and copying, repetitions and allocating memory for them included: the rest of `prepare` is planning and
    /// allocating, the rest of the answer's time is bringing it into the form in which it is checked.
    #[serde(default)]
    pub compile_and_copy_s: f64,
}
