//! What ops see of the backend.

/// The processors that a job may use.
pub(crate) struct Cpu {
    /// Threads of every pool.
    pub(crate) threads: usize,
}
