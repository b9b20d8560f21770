//! Warm-up and sampling of one prepared job.

use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use crate::backend::{Backend, Job, Sample, SetupCounts};
use crate::error::CellError;

/// How many samples to take, and for how long at most.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Sampling {
    /// Executions before the first sample, at least.
    pub warmup: u32,
    /// Warm-up lasts at least this long, in seconds, so that clocks and thread pools are awake.
    pub warmup_s: f64,
    /// Samples to take.
    pub samples: u32,
    /// Sampling stops after this many seconds, but not before `min_samples`.
    pub cap_s: f64,
    /// Samples taken whatever the cap.
    pub min_samples: u32,
}

impl Default for Sampling {
    fn default() -> Self {
        Sampling { warmup: 3, warmup_s: 0.05, samples: 30, cap_s: 2.0, min_samples: 5 }
    }
}

/// What sampling yields.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Taken {
    /// The samples, in the order they were taken.
    pub samples: Vec<Sample>,
    /// Executions spent on warming up.
    pub warmups: u32,
    /// Allocations, plans and compilations that happened while samples were taken; zero when all is well.
    pub setup_while_sampling: SetupCounts,
}

/// Warms `job` up, then samples it.
pub fn sample(backend: &mut dyn Backend, job: &mut dyn Job, how: &Sampling) -> Result<Taken, CellError> {
    backend.settle();
    let warmups = warm_up(backend, job, how)?;
    let before = backend.setup_counts();
    let mut samples = Vec::with_capacity(how.samples as usize);
    let end = Instant::now() + Duration::from_secs_f64(how.cap_s);
    let least = how.min_samples.min(how.samples) as usize;
    while samples.len() < how.samples as usize && (samples.len() < least || Instant::now() < end) {
        samples.push(backend.time(job)?);
    }
    Ok(Taken { samples, warmups, setup_while_sampling: backend.setup_counts().since(before) })
}

/// Executes until both the count and the time are reached; at most as long as sampling itself may take.
fn warm_up(backend: &mut dyn Backend, job: &mut dyn Job, how: &Sampling) -> Result<u32, CellError> {
    let start = Instant::now();
    let mut done = 0;
    while done < how.warmup || (how.warmup > 0 && start.elapsed().as_secs_f64() < how.warmup_s) {
        backend.time(job)?;
        done += 1;
        if start.elapsed().as_secs_f64() > how.cap_s {
            break;
        }
    }
    Ok(done)
}
