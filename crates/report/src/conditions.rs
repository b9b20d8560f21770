//! Defines the conditions of a measurement: the state of the device and the machine, and the timer overhead.

use serde::{Deserialize, Serialize};
use serde_with_macros::skip_serializing_none;

/// State of the machine at one moment. Values that the machine does not report are `None` or empty.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Conditions {
    /// Clock of the multiprocessors, in MHz, as the driver reports it.
    pub sm_mhz: Option<f64>,
    /// Clock of the device's memory, in MHz.
    pub memory_mhz: Option<f64>,
    /// Power that the device draws, in watts.
    pub power_w: Option<f64>,
    /// Temperature of the device, in degrees Celsius.
    pub temperature_c: Option<f64>,
    /// Temperature of the device's memory, in degrees Celsius.
    pub memory_temperature_c: Option<f64>,
    /// The driver's reasons for throttling the device's clocks; empty when they are not throttled.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub throttle: Vec<String>,
    /// Other processes that use the device, such as `python3 (4711)`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub others: Vec<String>,
    /// Average number of runnable processes over the last minute.
    pub load_average: Option<f64>,
}

/// Overhead of a backend's timers and the speeds of a host's threads, in seconds, measured when the backend started.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TimerOverhead {
    /// Reading of the clock of `samples_s` around no work, by two events or by two readings of the host's clock.
    pub clock_s: f64,
    /// Reading of that clock around an empty kernel. `None` without a device.
    pub empty_kernel_s: Option<f64>,
    /// Host seconds from the launch of an empty kernel until it is known to be done.
    pub launch_sync_s: Option<f64>,
    /// Time that events add to the work between them; subtracted from every device time.
    pub event_constant_s: Option<f64>,
    /// Standard uncertainty of that time.
    pub event_uncertainty_s: Option<f64>,
    /// Speeds of all threads of the host doing the same arithmetic at the same time.
    #[serde(alias = "arithmetic")]
    pub thread_speeds: Option<ThreadSpeeds>,
    /// Kernels that spin for a known time by the device's own timer, with the times that the clock read.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub checks: Vec<ClockCheck>,
}

/// Times of the same arithmetic on all threads of a host together; equal where no other program uses the cores.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ThreadSpeeds {
    /// Seconds on the fastest thread.
    pub fastest_s: f64,
    /// Seconds on the slowest thread.
    pub slowest_s: f64,
}

impl ThreadSpeeds {
    /// Returns the slowest thread's time over the fastest thread's.
    pub fn ratio(&self) -> f64 {
        self.slowest_s / self.fastest_s
    }
}

/// A kernel of known duration, with the times that the clock read.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ClockCheck {
    /// Median seconds that it spun, by the device's own timer.
    pub spun_s: f64,
    /// Median seconds between the events.
    pub events_s: f64,
    /// `events_s` minus the event constant, as a row would report it.
    pub device_s: f64,
}

impl TimerOverhead {
    /// Returns the timer overhead that a raw reading is compared with.
    pub fn baseline_s(&self) -> f64 {
        self.empty_kernel_s.unwrap_or(self.clock_s)
    }
}
