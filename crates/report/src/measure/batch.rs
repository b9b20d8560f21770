//! Defines a batch of samples of one prepared job: the request and its result.

use serde::{Deserialize, Serialize};
use serde_with_macros::skip_serializing_none;

use crate::{Conditions, Sample, SetupCounts};

/// Limits of a warm-up.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct WarmUp {
    /// Minimum number of executions, as far as `max_s` allows.
    pub executions: u32,
    /// Minimum seconds: clocks take tens of milliseconds to rise, and thread pools to wake.
    pub min_s: f64,
    /// Seconds after which sampling begins although times still fall.
    pub max_s: f64,
}

/// A request for samples.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Batch {
    /// Warm-up before the first sample; `None` when the job was sampled just before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub warm_up: Option<WarmUp>,
    /// Samples to take.
    pub samples: u32,
    /// Seconds after which no further sample begins.
    pub max_s: f64,
}

impl Batch {
    /// Returns the rest of the batch after `executions` of the warm-up, which took `seconds`.
    pub fn warmed(self, executions: u32, seconds: f64) -> Batch {
        let warm_up = self.warm_up.map(|warm_up| WarmUp {
            executions: warm_up.executions.saturating_sub(executions),
            min_s: (warm_up.min_s - seconds).max(0.0),
            max_s: (warm_up.max_s - seconds).max(0.0),
        });
        Batch { warm_up, ..self }
    }
}

/// Result of a batch.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct BatchResult {
    /// The samples, in the order they were taken.
    pub samples: Vec<Sample>,
    /// Executions spent on warming up.
    pub warmups: u32,
    /// Seconds spent on warming up.
    pub warmup_s: f64,
    /// True if times had stopped falling when sampling began.
    pub steady: bool,
    /// Samples discarded because the device's clock was throttled.
    #[serde(default)]
    pub discarded: u32,
    /// Seconds of sampling, including the work around each sample, without warm-up and pauses.
    pub spent_s: f64,
    /// Allocations, plans and compilations during sampling; should be zero.
    pub setup_while_sampling: SetupCounts,
    /// Reason that no execution with an altered operand was checked, in the first batch of a job.
    pub unaltered: Option<String>,
    /// The machine before the warm-up.
    pub before: Option<Conditions>,
    /// The machine after the last sample.
    pub after: Option<Conditions>,
}
