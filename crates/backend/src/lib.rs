//! What a backend is: it prepares a job per cell and times it. [`take`] samples a job, [`verify`] checks that what was
//! timed is what was judged, and [`protocol`] holds the messages by which a worker does both for the parent. No backend
//! is named here.

#![forbid(unsafe_code)]

mod backend;
pub mod contents;
mod job;
mod prepared;
pub mod protocol;
pub mod take;
pub mod verify;
mod worker_id;

pub use backend::Backend;
pub use gpubench_model::{
    Accuracy, BusRates, ClockCheck, Compile, Conditions, DevicePhases, Finding, HostMemory, PageFaults,
    Peaks, Sample, SetupCounts, Side, ThreadSpeeds, TimerOverhead, Transfer, Variant, fewer_threads,
    on_threads,
};
pub use job::{Job, JobTraits};
pub use prepared::{History, Prepared, SamplingMode};
pub use worker_id::WorkerId;

use gpubench_model::error::Unavailable;

/// What a worker is told before it starts a backend.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct Options {
    /// CPU threads; all that the process may use when `None`.
    pub threads: Option<usize>,
    /// Whether CPU threads are bound to processors, one a core.
    #[serde(default)]
    pub pin: bool,
    /// The library that the worker may load, see [`Variant::library`]; `None` for a worker that loads none of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub library: Option<String>,
    /// BLAS libraries that the CPU's side takes before those it finds.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub blas: Vec<std::path::PathBuf>,
    /// Ordinal of the CUDA device.
    pub device: u32,
    /// Where host data lies when it is copied to a device and back.
    #[serde(default)]
    pub transfer: HostMemory,
    /// Script of the simulated device.
    pub sim: Option<std::path::PathBuf>,
    /// Ops of the run, for which kernels are compiled at the start.
    pub ops: Vec<String>,
    /// Element types of the run.
    pub dtypes: Vec<gpubench_model::case::DType>,
}

/// A registered backend.
pub struct Registration {
    /// The word used everywhere.
    pub name: &'static str,
    /// What it is, in one line.
    pub summary: &'static str,
    /// Whether its times are simulated and its variants come from a script.
    pub simulated: bool,
    /// The variants it offers; `options` matters to `sim`, whose script names them, and to `cpu`, whose
    /// libraries they may name.
    pub variants: fn(options: &Options) -> anyhow::Result<Vec<Variant>>,
    /// Starts it: device context, thread pools, libraries needed at once.
    pub start: fn(options: &Options) -> Result<Box<dyn Backend>, Unavailable>,
    /// Looks for everything it could use, for `doctor`.
    pub findings: fn(options: &Options) -> Vec<Finding>,
}

/// The backends of a program, in the order reports use.
#[derive(Clone, Copy)]
pub struct Registry(&'static [Registration]);

impl Registry {
    /// A program's backends.
    pub const fn new(backends: &'static [Registration]) -> Self {
        Registry(backends)
    }

    /// Every backend.
    pub fn iter(self) -> std::slice::Iter<'static, Registration> {
        self.0.iter()
    }

    /// The backend of that name.
    pub fn find(self, name: &str) -> Option<&'static Registration> {
        self.iter().find(|backend| backend.name == name)
    }
}

impl IntoIterator for Registry {
    type Item = &'static Registration;
    type IntoIter = std::slice::Iter<'static, Registration>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl std::fmt::Debug for Registry {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.iter().map(|backend| backend.name)).finish()
    }
}

/// The libraries that need a worker each for the variants of a backend, in the order of its table; none where the
/// variants cannot be listed.
pub fn libraries(backend: &Registration, options: &Options) -> Vec<String> {
    let mut libraries: Vec<String> = vec![];
    for variant in (backend.variants)(options).unwrap_or_default() {
        if let Some(library) =
            variant.library.filter(|library| !libraries.iter().any(|known| known == library))
        {
            libraries.push(library.into_owned());
        }
    }
    libraries
}
