//! What ops see of the backend.

/// The processors that a job may use.
pub(crate) struct Cpu {
    pub(crate) threads: usize,
}
