//! The parts of a run's time: what was measuring, and what was the tool's own work.

use serde::{Deserialize, Serialize};

/// Seconds of a run by what it did. The rest of the run's time is the exchange of messages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct TimeSpent {
    /// Waiting for workers to start.
    pub starting_s: f64,
    /// Measuring the machine's peaks.
    pub peaks_s: f64,
    /// Generating operands.
    pub operands_s: f64,
    /// Allocating, planning, compiling, timing copies, and the first execution of each cell.
    pub preparing_s: f64,
    /// Trying numbers of threads.
    pub threads_s: f64,
    /// Downloading and judging answers, and verifying those that were timed.
    pub checking_s: f64,
    /// Warming up.
    pub warming_up_s: f64,
    /// Sampling, including the work around each execution, such as flushing caches.
    pub sampling_s: f64,
    /// Waiting until threads stop spinning, and for throttled devices.
    pub idle_s: f64,
    /// Saving the report.
    pub saving_s: f64,
}

impl TimeSpent {
    /// Returns the parts other than measuring, each with its name in sentences.
    pub fn overhead(&self) -> [(&'static str, f64); 8] {
        [
            ("starting", self.starting_s),
            ("peaks", self.peaks_s),
            ("operands", self.operands_s),
            ("preparing", self.preparing_s),
            ("choosing threads", self.threads_s),
            ("checking answers", self.checking_s),
            ("waiting for idle CPUs", self.idle_s),
            ("saving", self.saving_s),
        ]
    }

    /// Returns the seconds of the executions from which times are taken, warm-up included.
    pub fn measuring_s(&self) -> f64 {
        self.warming_up_s + self.sampling_s
    }

    /// Returns the sum of all parts.
    pub fn total_s(&self) -> f64 {
        self.parts_s().iter().sum()
    }

    /// Returns the seconds of each part.
    pub fn parts_s(&self) -> Vec<f64> {
        let overhead = self.overhead().into_iter().map(|(_, seconds)| seconds);
        overhead.chain([self.warming_up_s, self.sampling_s]).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_part_is_in_the_total_once() {
        let value = serde_json::to_value(TimeSpent::default()).unwrap();
        for name in value.as_object().unwrap().keys() {
            let one: TimeSpent = serde_json::from_value(serde_json::json!({ name.as_str(): 2.5 })).unwrap();
            assert_eq!(one.total_s(), 2.5, "{name}");
        }
        assert_eq!(value.as_object().unwrap().len(), TimeSpent::default().parts_s().len());
    }
}
