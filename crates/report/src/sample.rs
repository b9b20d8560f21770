//! Defines one timed repetition, and the counts of a backend.

use serde::{Deserialize, Serialize};
use serde_with_macros::skip_serializing_none;

/// One timed repetition, in seconds by each available clock, with the conditions around it.
#[skip_serializing_none]
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Sample {
    /// Host clock, from before the call until its work is done.
    pub host_s: f64,
    /// Host clock, until the call that enqueues the work returned, if the work continues after that.
    pub enqueue_s: Option<f64>,
    /// Device clock: `events_s` less the constant cost of the events (see [`TimerOverhead`](crate::TimerOverhead)).
    pub device_s: Option<f64>,
    /// Device clock as the two events around the work read it.
    pub events_s: Option<f64>,
    /// True if a blocking kernel delayed the device until all work was queued, so that its time includes no gap between
    /// launches; `None` without a device.
    pub blocked: Option<bool>,
    /// True if the host time ended when the host read the word that the device writes after the work; false if it ended
    /// when a synchronisation returned, which is later. `None` if the backend does not say.
    pub ended_by_word: Option<bool>,
    /// Clock of the multiprocessors around the work, in MHz, counted on the device.
    pub sm_mhz: Option<f64>,
    /// Involuntary context switches of the process during the work.
    pub context_switches: Option<u64>,
    /// Page faults of the process during the work, per execution; `None` where the system does not report them.
    pub page_faults: Option<PageFaults>,
    /// True if the device's clock was throttled.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub throttled: bool,
}

/// Page faults, by kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PageFaults {
    /// Without reading from disk: the first access to memory that is new or was returned to the system.
    pub minor: f64,
    /// With reading from disk.
    pub major: f64,
}

impl Sample {
    /// Creates a repetition with a host time only.
    pub fn of_host(host_s: f64) -> Self {
        Sample { host_s, ..Sample::default() }
    }

    /// Returns the headline time of the repetition: the device's, if there is one.
    pub fn seconds(&self) -> f64 {
        self.device_s.unwrap_or(self.host_s)
    }
}

/// Allocations, plans and compilations of a backend so far. They must not change during sampling.
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
    /// Returns the counts since `earlier`.
    pub fn since(self, earlier: SetupCounts) -> SetupCounts {
        SetupCounts {
            allocations: self.allocations - earlier.allocations,
            plans: self.plans - earlier.plans,
            compilations: self.compilations - earlier.compilations,
        }
    }

    /// Both together.
    pub fn plus(self, other: SetupCounts) -> SetupCounts {
        SetupCounts {
            allocations: self.allocations + other.allocations,
            plans: self.plans + other.plans,
            compilations: self.compilations + other.compilations,
        }
    }

    /// Returns whether all counts are zero.
    pub fn is_zero(self) -> bool {
        self == SetupCounts::default()
    }
}
