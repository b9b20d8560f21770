//! The threads of a job: how many work, how they are woken, and how they divide the work.

pub(crate) mod faer;
pub(crate) mod partition;
pub(crate) mod per_thread;
pub(crate) mod pooled_job;
pub(crate) mod thread_choices;
pub(crate) mod wake;
