//! Warms a prepared job up and takes a batch of samples of it.

use gpubench_report::case::Cache;
use gpubench_report::error::CellError;
use gpubench_report::measure::batch::{Batch, BatchResult, WarmUp};
use gpubench_report::measure::stats;

use crate::{Backend, Prepared, Sample};

/// Maximum number of warm-up times that are compared.
const WINDOW: usize = 256;
/// Relative gain of the later half of a warm-up over the earlier up to which the times count as steady.
const STEADY_TOLERANCE: f64 = 0.02;
/// Pause after a throttled sample, in seconds; it grows by half with each that follows, up to [`MAX_PAUSE_S`].
const PAUSE_S: f64 = 0.05;
const MAX_PAUSE_S: f64 = 0.5;
/// Total seconds of pauses for one job, after which a low clock counts as the device's steady state.
const MAX_TOTAL_PAUSE_S: f64 = 2.0;

/// Warms `job` up and samples it, as `batch` specifies.
///
/// A throttled sample is discarded, counted, and followed by a pause. If the device stays throttled, its samples are kept
/// and marked.
pub fn take(
    backend: &mut dyn Backend,
    job: &mut Prepared,
    cache: Cache,
    batch: &Batch,
    pauses: &mut Pauses,
) -> Result<BatchResult, CellError> {
    let mut result = BatchResult { steady: true, ..BatchResult::default() };
    if let Some(warm_up) = &batch.warm_up {
        result.before = Some(backend.conditions());
        backend.settle();
        warm(backend, job, cache, warm_up, &mut result)?;
    }
    let counts = backend.setup_counts();
    let (start, paused_s) = (backend.now_s(), pauses.total_s);
    while result.samples.len() < batch.samples as usize
        && (result.samples.is_empty() || backend.now_s() - start < batch.max_s)
    {
        let sample = backend.time(job, cache)?;
        match pauses.after(&sample) {
            Some(seconds) => {
                result.discarded += 1;
                backend.pause(seconds);
            }
            None => result.samples.push(sample),
        }
    }
    result.spent_s = (backend.now_s() - start - (pauses.total_s - paused_s)).max(0.0);
    result.setup_while_sampling = backend.setup_counts().since(counts);
    result.after = Some(backend.conditions());
    Ok(result)
}

/// Executes until the minimum count and time are reached and times no longer fall, or until the time runs out.
fn warm(
    backend: &mut dyn Backend,
    job: &mut Prepared,
    cache: Cache,
    how: &WarmUp,
    result: &mut BatchResult,
) -> Result<(), CellError> {
    let start = backend.now_s();
    let mut times = Vec::new();
    loop {
        let spent = backend.now_s() - start;
        result.steady = is_steady(&times);
        let enough = result.warmups >= how.executions && spent >= how.min_s && result.steady;
        if enough || (spent >= how.max_s && result.warmups >= how.executions.min(1)) {
            result.warmup_s = spent;
            return Ok(());
        }
        times.push(backend.time(job, cache)?.seconds());
        result.warmups += 1;
    }
}

/// Returns whether the later half of the last times is as slow as the earlier half, within [`STEADY_TOLERANCE`] or their
/// scatter. Fewer than six times count as steady.
fn is_steady(times: &[f64]) -> bool {
    let recent = &times[times.len().saturating_sub(WINDOW)..];
    if recent.len() < 6 {
        return true;
    }
    let (earlier, later) = recent.split_at(recent.len() / 2);
    let (Some(earlier), Some(later)) = (stats::Summary::of(earlier), stats::Summary::of(later)) else {
        return true;
    };
    let fall = earlier.median - later.median;
    fall <= STEADY_TOLERANCE * later.median || fall <= 2.0 * later.mad
}

/// Decides which samples of a job are discarded, and how long the device rests after each.
#[derive(Clone, Debug, Default)]
pub struct Pauses {
    next_s: f64,
    total_s: f64,
}

impl Pauses {
    /// Returns the pause after a sample that is discarded; `None` for one that is kept.
    fn after(&mut self, sample: &Sample) -> Option<f64> {
        if !sample.throttled || self.total_s >= MAX_TOTAL_PAUSE_S {
            self.next_s = 0.0;
            return None;
        }
        let pause = if self.next_s == 0.0 { PAUSE_S } else { self.next_s };
        self.next_s = (1.5 * pause).min(MAX_PAUSE_S);
        self.total_s += pause;
        Some(pause)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn falling_times_are_not_steady_and_scattered_ones_are() {
        let falling: Vec<f64> = (0..20).map(|k| 2.0 - 0.05 * f64::from(k)).collect();
        assert!(!is_steady(&falling));
        let scattered: Vec<f64> = (0..20).map(|k| if k % 2 == 0 { 1.0 } else { 1.5 }).collect();
        assert!(is_steady(&scattered) && is_steady(&[]) && is_steady(&[3.0, 2.0, 1.0]));
        let rising: Vec<f64> = (0..20).map(|k| 1.0 + 0.05 * f64::from(k)).collect();
        assert!(is_steady(&rising), "a device that heats up will not get faster by waiting");
    }

    #[test]
    fn pauses_grow_and_end_when_the_device_stays_throttled() {
        let low = Sample { throttled: true, ..Sample::of_host(1.0) };
        let mut pauses = Pauses::default();
        let mut waits = vec![];
        while let Some(wait) = pauses.after(&low) {
            waits.push(wait);
            assert!(waits.len() < 100);
        }
        assert_eq!(waits[0], PAUSE_S);
        assert!(
            waits.windows(2).all(|pair| pair[0] <= pair[1]) && waits.iter().sum::<f64>() >= MAX_TOTAL_PAUSE_S
        );
        assert_eq!(pauses.after(&low), None);
        assert_eq!(Pauses::default().after(&Sample::of_host(1.0)), None);
    }
}
