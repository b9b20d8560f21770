//! What a backend does: prepares a job for one case, and times it.

use serde::{Deserialize, Serialize};

use super::Finding;
use crate::case::Case;
use crate::data::Operand;
use crate::error::CellError;

/// One timed repetition, in seconds by each clock there is.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Sample {
    /// Host clock, from before the call until its work is done.
    pub host_s: f64,
    /// Device clock, between two events on the job's stream.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device_s: Option<f64>,
}

/// How often the backend has allocated, planned or compiled so far. Must stand still while samples are taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SetupCounts {
    /// Device allocations.
    pub allocations: u64,
    /// Plans and library workspaces created.
    pub plans: u64,
    /// Kernels compiled or loaded.
    pub compilations: u64,
}

impl SetupCounts {
    /// What has happened since `earlier`.
    pub fn since(self, earlier: SetupCounts) -> SetupCounts {
        SetupCounts {
            allocations: self.allocations - earlier.allocations,
            plans: self.plans - earlier.plans,
            compilations: self.compilations - earlier.compilations,
        }
    }

    /// Whether nothing has happened.
    pub fn is_zero(self) -> bool {
        self == SetupCounts::default()
    }
}

/// One variant ready for one case: operands resident, plans made, workspaces and outputs allocated.
pub trait Job {
    /// Restores inputs that [`Job::execute`] destroys. Called before each execution, outside the clock.
    fn reset(&mut self) -> Result<(), CellError> {
        Ok(())
    }

    /// Does the op once; on a device it may only enqueue it. The same work at every call.
    fn execute(&mut self) -> Result<(), CellError>;

    /// The answer of the last execution, copied to the host.
    fn answer(&mut self) -> Result<Vec<Operand>, CellError>;
}

/// A started backend. Lives in a worker; one job is timed at a time.
pub trait Backend {
    /// What a report says of it: device and library names, versions, paths, threads; a JSON object.
    fn describe(&self) -> serde_json::Value;

    /// The libraries it has loaded so far, with paths and versions.
    fn libraries(&self) -> Vec<Finding>;

    /// Refuses, with the figures, a case that cannot fit its memory, before operands are made for it.
    fn admit(&self, _case: &Case) -> Result<(), CellError> {
        Ok(())
    }

    /// Waits until what earlier work left running has come to rest, such as threads that spin for more of it.
    fn settle(&mut self) {}

    /// Prepares `variant` for `case`: allocates, plans, compiles, uploads. Nothing of that may happen later.
    ///
    /// Checks that everything fits in memory before it allocates.
    fn prepare(&mut self, variant: &str, case: &Case, inputs: &[Operand]) -> Result<Box<dyn Job>, CellError>;

    /// Resets and executes `job` once between two readings of each clock; returns when its work is done.
    fn time(&mut self, job: &mut dyn Job) -> Result<Sample, CellError>;

    /// Allocations, plans and compilations so far; zero for backends that count none.
    fn setup_counts(&self) -> SetupCounts {
        SetupCounts::default()
    }
}
