//! What surrounds a measurement: the state of the device and the machine, and the floors of their clocks.

use serde::{Deserialize, Serialize};

/// What could be seen of the machine at one moment. What it does not tell is left out.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Conditions {
    /// Clock of the multiprocessors, in MHz, as the driver tells.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sm_mhz: Option<f64>,
    /// Clock of the device's memory, in MHz.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_mhz: Option<f64>,
    /// Power that the device draws, in watts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub power_w: Option<f64>,
    /// Temperature of the device, in degrees Celsius.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub temperature_c: Option<f64>,
    /// Temperature of the device's memory, in degrees Celsius.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_temperature_c: Option<f64>,
    /// Why the driver holds the device's clocks down; empty when it does not.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub throttle: Vec<String>,
    /// Other processes that use the device, such as `python3 (4711)`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub others: Vec<String>,
    /// Runnable processes over the last minute, on average.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub load_average: Option<f64>,
}

/// The least times a backend's clocks can show, and how alike a host's threads are, in seconds, measured when it started.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TimerOverhead {
    /// What the clock of `samples_s` reads around nothing: two events with no work between, or two readings of the
    /// host's clock.
    pub clock_s: f64,
    /// What it reads around the least work there is: an empty kernel. `None` without a device.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub empty_kernel_s: Option<f64>,
    /// Host seconds from the launch of an empty kernel until it is known to be done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub launch_sync_s: Option<f64>,
    /// What events add to the time of the work between them; taken off every device time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub event_constant_s: Option<f64>,
    /// The same arithmetic on all threads of the host at once.
    #[serde(default, alias = "arithmetic", skip_serializing_if = "Option::is_none")]
    pub thread_speeds: Option<ThreadSpeeds>,
    /// Kernels that spin for a known time by the device's own timer, and what the clock made of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub checks: Vec<ClockCheck>,
}

/// How long the same arithmetic took on the threads of a host that do it at once: as long on each where nothing else
/// has a part of their cores.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ThreadSpeeds {
    /// Seconds on the fastest thread.
    pub fastest_s: f64,
    /// Seconds on the slowest thread.
    pub slowest_s: f64,
}

impl ThreadSpeeds {
    /// How many times as long the slowest takes as the fastest.
    pub fn ratio(&self) -> f64 {
        self.slowest_s / self.fastest_s
    }
}

/// A kernel of known duration, as the clock saw it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ClockCheck {
    /// Seconds it span by the timer on the device, median.
    pub spun_s: f64,
    /// Seconds between the events, median.
    pub events_s: f64,
    /// Those less the events' constant: what a row would report.
    pub device_s: f64,
}

impl TimerOverhead {
    /// The floor that a raw reading of the clock is held against.
    pub fn least_s(&self) -> f64 {
        self.empty_kernel_s.unwrap_or(self.clock_s)
    }
}
