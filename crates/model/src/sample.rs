//! One timed repetition, and what a backend counts besides.

use serde::{Deserialize, Serialize};

/// One timed repetition, in seconds by each clock there is, and what was seen around it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Sample {
    /// Host clock, from before the call until its work is done.
    pub host_s: f64,
    /// Host clock, until the call that enqueues the work returned, where the work goes on after that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub enqueue_s: Option<f64>,
    /// Device clock: `events_s` less the constant that the events themselves cost (see [`TimerOverhead`](crate::TimerOverhead)).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device_s: Option<f64>,
    /// Device clock as the two events around the work read it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub events_s: Option<f64>,
    /// True if a blocking kernel delayed the device until all work was queued, so that its time includes no gap between
    /// launches; `None` without a device.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blocked: Option<bool>,
    /// Clock of the multiprocessors around the work, in MHz, counted on the device.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sm_mhz: Option<f64>,
    /// Times the system took a processor away from the process during the work.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context_switches: Option<u64>,
    /// Page faults of the process during the work, an execution; `None` where the system does not tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page_faults: Option<PageFaults>,
    /// True if the device's clock was held down.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub throttled: bool,
}

/// Page faults, by kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PageFaults {
    /// Without reading from a disk: memory that was touched for the first time, or had been given back.
    pub minor: f64,
    /// With reading from a disk.
    pub major: f64,
}

impl Sample {
    /// Returns a repetition of which only the host's time is known.
    pub fn of_host(host_s: f64) -> Self {
        Sample { host_s, ..Sample::default() }
    }

    /// Returns the time that stands for the repetition: the device's where there is one.
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

    /// Returns whether nothing has happened.
    pub fn is_zero(self) -> bool {
        self == SetupCounts::default()
    }
}
