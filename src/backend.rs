//! The backends of gpubench.

pub use gpubench_backend::*;
pub use gpubench_cpu as cpu;
pub use gpubench_cuda as cuda;
pub use gpubench_external as external;
pub use gpubench_sim as sim;

/// Every backend, in the order reports use.
pub static BACKENDS: Registry = Registry::new(&[cpu::REGISTRATION, cuda::REGISTRATION, sim::REGISTRATION]);
