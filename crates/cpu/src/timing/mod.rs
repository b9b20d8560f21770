//! Takes samples: times executions by the host clock, counts their context switches and page faults, and sets the state
//! of caches and CPUs before them.

use std::time::Instant;

use crate::CellResult;
use gpubench_backend::host::usage::Usage;
use gpubench_backend::{Job, PageFaults, Sample, TimerOverhead};
use gpubench_report::measure::stats::median;

#[cfg(target_arch = "x86_64")]
pub(crate) mod flush;
pub(crate) mod flush_by_reading;
pub(crate) mod pin;
pub(crate) mod thread_speed;

/// Other CPUs have flush instructions that the system must permit, or none.
#[cfg(not(target_arch = "x86_64"))]
pub(crate) mod flush {
    pub(crate) fn flush(_: &dyn super::Job) -> bool {
        false
    }
}

/// With hot caches, executions shorter than this are timed in batches.
const SHORT_S: f64 = 20e-6;
/// Approximate seconds per batch.
const BATCH_S: f64 = 100e-6;
/// Maximum number of executions in a batch.
const MAX_BATCH: f64 = 64.0;
/// Number of readings for the timer overhead.
const READINGS: usize = 1001;

/// Resets the job and executes it with hot caches, immediately after another execution. A short execution is timed as
/// the mean of a batch, unless the job `resets` its operands.
pub(crate) fn back_to_back(job: &mut dyn Job, resets: bool) -> CellResult<Sample> {
    job.reset()?;
    let single = timed(job, 1)?;
    if single.host_s >= SHORT_S || resets {
        return Ok(single);
    }
    let count = (BATCH_S / single.host_s.max(1e-9)).ceil().clamp(2.0, MAX_BATCH);
    timed(job, count as u32)
}

/// Executes `job` `count` times between two readings of the clock. The caller has reset the job.
pub(crate) fn timed(job: &mut dyn Job, count: u32) -> CellResult<Sample> {
    let before = Usage::now();
    let start = Instant::now();
    for _ in 0..count {
        job.execute()?;
    }
    let host_s = start.elapsed().as_secs_f64() / f64::from(count);
    let sample = Sample::of_host(host_s);
    let Some((before, after)) = before.zip(Usage::now()) else { return Ok(sample) };
    let each =
        |faults: fn(&Usage) -> u64| faults(&after).saturating_sub(faults(&before)) as f64 / f64::from(count);
    let page_faults = PageFaults { minor: each(|usage| usage.minor), major: each(|usage| usage.major) };
    let switches = after.context_switches.saturating_sub(before.context_switches);
    Ok(Sample { context_switches: Some(switches), page_faults: Some(page_faults), ..sample })
}

/// Returns the median time between two clock readings with nothing between them.
pub(crate) fn timer_overhead() -> TimerOverhead {
    let apart: [f64; READINGS] = std::array::from_fn(|_| Instant::now().elapsed().as_secs_f64());
    TimerOverhead { clock_s: median(&apart).unwrap_or(f64::NAN), ..TimerOverhead::default() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpubench_report::data::Operand;
    use std::time::Duration;

    struct Calling<F>(F);

    impl<F: FnMut()> Job for Calling<F> {
        fn execute(&mut self) -> CellResult<()> {
            (self.0)();
            Ok(())
        }

        fn answer(&mut self) -> CellResult<Vec<Operand>> {
            Ok(vec![])
        }
    }

    #[test]
    fn short_executions_are_batched_and_long_or_reset_ones_are_not() {
        let executions = |nap: Duration, resets| {
            let mut executions = 0;
            let work = || {
                executions += 1;
                if !nap.is_zero() {
                    std::thread::sleep(nap);
                }
            };
            let sample = back_to_back(&mut Calling(work), resets).unwrap();
            assert!(sample.host_s >= nap.as_secs_f64() && sample.context_switches.is_some());
            executions
        };
        assert!(executions(Duration::ZERO, false) > 2);
        assert_eq!(executions(Duration::ZERO, true), 1);
        assert_eq!(executions(Duration::from_millis(1), false), 1);
    }

    #[test]
    fn page_faults_are_counted_per_execution() {
        // Beyond 32 MiB, glibc maps new memory for each allocation. Other tests cause faults too, so this is a lower bound.
        let mut touching = Calling(|| _ = std::hint::black_box(vec![1u8; 64 << 20]));
        for count in [1, 4] {
            let faults = timed(&mut touching, count).unwrap().page_faults.unwrap();
            assert!(faults.minor >= 1.0, "{faults:?}");
        }
    }

    #[test]
    fn the_timer_overhead_is_far_below_a_microsecond() {
        assert!(timer_overhead().clock_s < 5e-6);
    }
}
