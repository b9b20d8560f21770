//! The context that the backend passes to ops.

/// The CPUs that a job may use.
pub(crate) struct Cpu {
    pub(crate) threads: usize,
}
