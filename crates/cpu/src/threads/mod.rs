//! The threads that work on a job: which of them, how they are woken, and how they share the work.

pub(crate) mod faer;
pub(crate) mod partition;
pub(crate) mod per_thread;
pub(crate) mod pooled_job;
pub(crate) mod thread_choices;
pub(crate) mod wake;
