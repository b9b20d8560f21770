//! The samples: the clocks around an execution, and the state of caches, processors and memory that it finds.

pub(crate) mod clock;
pub(crate) mod flush;
pub(crate) mod flush_by_reading;
pub(crate) mod pin;
pub(crate) mod thread_speed;
