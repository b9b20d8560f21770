//! The places in which workers run.

use gpubench_backend::{Program, Registration};

/// Place in which a worker runs.
pub(super) enum Place<'a> {
    /// A process of its own.
    Process(&'a Program),
    /// A thread of this process, which a hang or crash there takes down too.
    Thread(&'static Registration),
}
