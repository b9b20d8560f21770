//! The threads that work on a job: which of them, how they are woken, and how they share the work.

pub(crate) mod crew;
pub(crate) mod faer;
pub(crate) mod per_thread;
pub(crate) mod rouse;
pub(crate) mod spread;
pub(crate) mod thread_choices;
