//! A batch of samples of one prepared job, as it is asked for and as it is answered.

use serde::{Deserialize, Serialize};

use crate::{Conditions, Sample, SetupCounts};

/// How to warm a job up.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct WarmUp {
    /// Executions, at least, as far as `most_s` allows.
    pub executions: u32,
    /// Seconds, at least: clocks take tens of milliseconds to rise, thread pools to wake.
    pub least_s: f64,
    /// Seconds after which sampling begins though times still fall.
    pub most_s: f64,
}

/// What to do in one go.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Batch {
    /// Warm-up before the first sample; `None` when the job was sampled just before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub warm_up: Option<WarmUp>,
    /// Samples to take.
    pub samples: u32,
    /// Seconds after which no further sample is begun.
    pub most_s: f64,
}

impl Batch {
    /// What is left of the batch after so many executions of the warm-up, which took that many seconds.
    pub fn warmed(self, executions: u32, seconds: f64) -> Batch {
        let warm_up = self.warm_up.map(|warm_up| WarmUp {
            executions: warm_up.executions.saturating_sub(executions),
            least_s: (warm_up.least_s - seconds).max(0.0),
            most_s: (warm_up.most_s - seconds).max(0.0),
        });
        Batch { warm_up, ..self }
    }
}

/// What a batch yields.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Taken {
    /// The samples, in the order they were taken.
    pub samples: Vec<Sample>,
    /// Executions spent on warming up.
    pub warmups: u32,
    /// Seconds spent on that.
    pub warmup_s: f64,
    /// Whether times had stopped falling when sampling began.
    pub steady: bool,
    /// Samples not counted because the device's clock was held down.
    #[serde(default)]
    pub discarded: u32,
    /// Seconds that sampling took, all that is done around each sample included, warm-up and pauses not.
    pub spent_s: f64,
    /// Allocations, plans and compilations that happened while samples were taken; zero when all is well.
    pub setup_while_sampling: SetupCounts,
    /// The machine before the warm-up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<Conditions>,
    /// The machine after the last sample.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<Conditions>,
}
