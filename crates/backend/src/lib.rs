//! Defines backends, which prepare a job per cell and time it. [`take`] samples a job, [`verify`] checks that the timed
//! answers are the ones that were judged, and [`protocol`] defines the messages between parent and worker. [`host`] describes
//! the machine and wraps system calls, [`external`] starts programs that serve as backends, and [`sim`] is a simulated device.

#![deny(unsafe_code)]

mod backend;
pub mod contents;
pub mod external;
#[allow(unsafe_code)]
pub mod host;
mod job;
mod prepared;
pub mod protocol;
pub mod sim;
pub mod take;
pub mod verify;
mod worker_id;

pub use backend::Backend;
pub use gpubench_report::{
    Accuracy, BusRates, ClockCheck, Compile, Conditions, DevicePhases, Finding, HostMemory, Origin,
    PageFaults, Peaks, PinnedCopies, Sample, SetupCounts, Shapes, Side, ThreadSpeeds, TimerOverhead,
    Transfer, TransferMemory, Variant, fewer_threads, on_threads,
};
pub use job::{Job, JobTraits, Lent};
pub use prepared::{History, Prepared, SamplingMode};
pub use worker_id::WorkerId;

use gpubench_report::error::Unavailable;
use gpubench_report::vendor_of;
use gpubench_text::grouped::{distinct, grouped};

/// A backend that another program serves.
#[derive(Clone, Debug)]
pub struct External {
    /// Name on the command line and in reports.
    pub name: String,
    /// The program.
    pub program: Program,
    /// Description that the program gives of itself.
    pub described: protocol::Described,
}

/// The way to start a program. No shell reads it.
#[derive(Clone, Debug)]
pub struct Program {
    /// The executable.
    pub path: std::path::PathBuf,
    /// Name under which it is called, its argument number 0; `None` for its path.
    pub called: Option<std::ffi::OsString>,
    /// Arguments of the program.
    pub arguments: Vec<std::ffi::OsString>,
    /// A line written to its standard input before the first request, such as the source of an adapter.
    pub preface: Option<std::sync::Arc<str>>,
}

/// Options of a backend, sent to its worker at the start.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct Options {
    /// Number of CPU threads; `None` for all that the process may use.
    pub threads: Option<usize>,
    /// True if CPU threads are bound to CPUs, one per core.
    #[serde(default)]
    pub pin: bool,
    /// The library that the worker may load, see [`Variant::library`]; `None` for a worker that loads none of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub library: Option<String>,
    /// BLAS libraries that the CPU side prefers to those it finds.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub blas: Vec<std::path::PathBuf>,
    /// Ordinal of the CUDA device.
    pub device: u32,
    /// Kinds of host memory whose copies to a device and back are timed.
    #[serde(default)]
    pub transfer: TransferMemory,
    /// Script of the simulated device.
    pub sim: Option<std::path::PathBuf>,
    /// Ops of the run, for which kernels are compiled at the start.
    pub ops: Vec<String>,
    /// Sizes of the run by op, from which a worker chooses the kernels to compile at its start.
    #[serde(default, skip_serializing_if = "std::collections::BTreeMap::is_empty")]
    pub sizes: std::collections::BTreeMap<String, Vec<u64>>,
    /// Element types of the run.
    pub dtypes: Vec<gpubench_report::case::DType>,
    /// Files that define operations of the user's own.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<std::path::PathBuf>,
    /// Files in the Matrix Market format with the matrices of cases, by identity.
    #[serde(default, skip_serializing_if = "std::collections::BTreeMap::is_empty")]
    pub matrices: std::collections::BTreeMap<String, std::path::PathBuf>,
}

/// A registered backend.
pub struct Registration {
    /// Name on the command line and in reports.
    pub name: &'static str,
    /// Description in one line.
    pub summary: &'static str,
    /// True if its times are simulated and its variants come from a script.
    pub simulated: bool,
    /// Returns its variants. They depend on `options` for `sim`, whose script defines them, and for `cpu`, for which
    /// `options` may name libraries.
    pub variants: fn(options: &Options) -> anyhow::Result<Vec<Variant>>,
    /// Starts it: device context, thread pools, libraries needed immediately.
    pub start: fn(options: &Options) -> Result<Box<dyn Backend>, Unavailable>,
    /// Searches for everything it could use, for `doctor`.
    pub findings: fn(options: &Options) -> Vec<Finding>,
}

/// The backends of a program, in the order reports use.
#[derive(Clone, Copy)]
pub struct Registry(&'static [Registration]);

impl Registry {
    /// Returns a program's backends.
    pub const fn new(backends: &'static [Registration]) -> Self {
        Registry(backends)
    }

    /// Returns every backend.
    pub fn iter(self) -> std::slice::Iter<'static, Registration> {
        self.0.iter()
    }

    /// Returns the backend of that name.
    pub fn find(self, name: &str) -> Option<&'static Registration> {
        self.iter().find(|backend| backend.name == name)
    }
}

impl std::fmt::Debug for Registry {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.iter().map(|backend| backend.name)).finish()
    }
}

/// Returns the libraries that need a worker each for the variants of a backend, in the order of its table; none where the
/// variants cannot be listed.
pub fn libraries(backend: &Registration, options: &Options) -> Vec<String> {
    let variants = (backend.variants)(options).unwrap_or_default().into_iter();
    distinct(variants.filter_map(|variant| Some(variant.library?.into_owned())))
}

/// Returns the first of a backend's [`libraries`] of each vendor, which is the preferred copy.
pub fn preferred_libraries(backend: &Registration, options: &Options) -> Vec<String> {
    let libraries = libraries(backend, options);
    let by_vendor = grouped(libraries.iter().map(|library| (vendor_of(library), library)));
    by_vendor.into_iter().map(|(_, copies)| copies[0].clone()).collect()
}
