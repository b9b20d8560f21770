//! gpubench measures operations on CPU libraries and on CUDA, side by side, and checks every answer.
//!
//! Data flows one way: arguments and sweep files become [`settings`], settings become a [`plan`] of cells, the workers
//! of the [`executor`] turn each cell into an outcome, outcomes make a [`report`]. The analysis, such as [`answer`] and
//! [`compare`], derives numbers from reports, a [`document`] says what they mean, and [`write`](mod@write) has a writer per
//! medium. Only the workers use devices; `docs/architecture.md` has the picture.

#![forbid(unsafe_code)]

pub mod cli;
pub mod doctor;
pub mod plan;
pub mod settings;

pub use gpubench_analysis::answer;
pub use gpubench_analysis::compare;
pub use gpubench_analysis::compare::baseline;
pub use gpubench_analysis::fleet;
pub use gpubench_analysis::trend;
pub use gpubench_backend::host::{processors, user_cache};
pub use gpubench_document as document;
pub use gpubench_ops as op;
pub use gpubench_report::{case, data, error, measure, report, shape};
pub use gpubench_run::{executor, observe, worker};
pub use gpubench_write as write;

/// The backends of gpubench.
pub mod backend {
    pub use gpubench_backend::*;
    pub use gpubench_cpu as cpu;
    pub use gpubench_cuda as cuda;
    pub use gpubench_tuned as tuned;

    /// The entry of the CUDA backend, with the variants of `cuda` and `tuned`.
    pub const CUDA: Registration = Registration {
        name: "cuda",
        summary: "NVIDIA GPU: CUDA libraries and kernels",
        simulated: false,
        variants: |_| Ok(tuned::CATALOGUE.variants()),
        start: |options| tuned::CATALOGUE.start(options),
        findings: |options| tuned::CATALOGUE.findings(options),
    };

    /// Every backend, in the order reports use.
    pub static BACKENDS: Registry = Registry::new(&[cpu::REGISTRATION, CUDA, sim::REGISTRATION]);
}
