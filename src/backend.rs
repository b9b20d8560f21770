//! The backends of this program.

pub use gpubench_backend::*;
pub use gpubench_cpu as cpu;
pub use gpubench_cuda as cuda;
pub use gpubench_sim as sim;

/// Every backend, in the order reports use.
pub static BACKENDS: &[Registration] = &[cpu::REGISTRATION, cuda::REGISTRATION, sim::REGISTRATION];

/// The backend of that name.
pub fn find(name: &str) -> Option<&'static Registration> {
    BACKENDS.iter().find(|backend| backend.name == name)
}
