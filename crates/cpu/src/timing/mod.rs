//! Takes samples: clocks around an execution, and the state of caches, CPUs and memory before it.

pub(crate) mod clock;
pub(crate) mod flush;
pub(crate) mod flush_by_reading;
pub(crate) mod pin;
pub(crate) mod thread_speed;
