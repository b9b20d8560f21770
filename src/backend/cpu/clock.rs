//! One timed execution on the CPU: the host's clock around it, and how often the system took a processor away.

use std::time::Instant;

use crate::backend::{Floors, Job, Sample};
use crate::error::CellError;

/// Executions shorter than this are timed several at once when the caches are hot.
const SHORT_S: f64 = 20e-6;
/// Seconds that such a batch takes, about, and executions it has at most.
const BATCH_S: f64 = 100e-6;
const MOST_IN_BATCH: f64 = 64.0;
/// Readings from which the clock's floor is taken.
const READINGS: usize = 1001;

/// Executes `job`, which has been reset, once between two readings of the clock.
pub fn once(job: &mut dyn Job) -> Result<Sample, CellError> {
    timed(job, 1)
}

/// Resets and executes with hot caches: right after other executions, and the mean of several where one is short.
pub fn back_to_back(job: &mut dyn Job) -> Result<Sample, CellError> {
    job.reset()?;
    let single = once(job)?;
    if single.host_s >= SHORT_S || job.resets() {
        return Ok(single);
    }
    let count = (BATCH_S / single.host_s.max(1e-9)).ceil().clamp(2.0, MOST_IN_BATCH);
    timed(job, count as u32)
}

fn timed(job: &mut dyn Job, count: u32) -> Result<Sample, CellError> {
    let switches = involuntary_switches();
    let start = Instant::now();
    for _ in 0..count {
        job.execute()?;
    }
    let host_s = start.elapsed().as_secs_f64() / f64::from(count);
    let switches = switches.zip(involuntary_switches()).map(|(before, after)| after.saturating_sub(before));
    Ok(Sample { switches, ..Sample::of_host(host_s) })
}

/// What two readings of the clock with nothing between them are apart: the median of many.
pub fn floors() -> Floors {
    let mut apart: Vec<f64> = (0..READINGS)
        .map(|_| {
            let start = Instant::now();
            start.elapsed().as_secs_f64()
        })
        .collect();
    apart.sort_by(f64::total_cmp);
    Floors { clock_s: apart[READINGS / 2], ..Floors::default() }
}

/// Times the system took a processor away from any thread of the process.
fn involuntary_switches() -> Option<u64> {
    // SAFETY: an all-zero `rusage` is a valid place for the system to write to.
    let (status, usage) = unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        (libc::getrusage(libc::RUSAGE_SELF, &raw mut usage), usage)
    };
    (status == 0).then(|| u64::try_from(usage.ru_nivcsw).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Operand;
    use std::time::Duration;

    /// Sleeps, and counts its executions.
    struct Sleeper {
        nap: Duration,
        executions: u32,
        resets: bool,
    }

    impl Job for Sleeper {
        fn resets(&self) -> bool {
            self.resets
        }

        fn execute(&mut self) -> Result<(), CellError> {
            self.executions += 1;
            if !self.nap.is_zero() {
                std::thread::sleep(self.nap);
            }
            Ok(())
        }

        fn answer(&mut self) -> Result<Vec<Operand>, CellError> {
            Ok(vec![])
        }
    }

    #[test]
    fn short_executions_are_batched_and_long_or_reset_ones_are_not() {
        let executions = |nap, resets| {
            let mut job = Sleeper { nap, executions: 0, resets };
            let sample = back_to_back(&mut job).unwrap();
            assert!(sample.host_s >= nap.as_secs_f64() && sample.switches.is_some());
            job.executions
        };
        assert!(executions(Duration::ZERO, false) > 2);
        assert_eq!(executions(Duration::ZERO, true), 1);
        assert_eq!(executions(Duration::from_millis(1), false), 1);
    }

    #[test]
    fn the_clock_has_a_floor_far_below_a_microsecond() {
        assert!(floors().clock_s < 5e-6);
    }
}
