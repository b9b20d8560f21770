//! Measures the timer overhead when the backend starts: the clocks' readings around nothing.
//!
//! The constant of the events is measured as the adapters for Python do (`device_clock.py`): with a kernel that spins for a number of
//! cycles and touches no memory, whose cycles per second two long spins determine. A kernel that stores its duration makes the
//! constant 0.2 to 0.3 µs larger on an H200, and device times shorter by as much.

use gpubench_backend::{Job, TimerOverhead};
use gpubench_report::case::Cache;
use gpubench_report::measure::stats::median;

use super::spin::Spin;
use super::timing_rig::{DeviceReading, TimingRig};
use crate::{CellError, Cuda, Result};

/// Number and nanoseconds of the spins that bring an idle device to its working clock, which takes tens of
/// milliseconds.
const WARM_UP: (u32, u64) = (10, 10_000_000);
/// Readings per value.
const READINGS: u32 = 30;
/// Cycles of the two spins that determine the cycles per second, and the readings of each.
const RATE_CYCLES: ([i64; 2], u32) = ([1_000_000, 20_000_000], 5);
/// Seconds of the spins that determine the events' constant.
const EVENT_PAIR_S: [f64; 3] = [3e-6, 10e-6, 30e-6];
/// Readings per spin.
const EVENT_PAIR_READINGS: u32 = 40;
/// Seconds of the spins, and their number in a batch, that determine the time between executions.
const GAP_SPINS: (f64, u32) = (5e-6, 16);
/// Standard deviation of the constant between processes on one H200, of gpubench and of the adapters alike: 0.05 to 0.08 µs in ten
/// starts of each.
const BETWEEN_PROCESSES_S: f64 = 0.07e-6;
/// Attempts before a blocking kernel that times out is an error; the host may have been busy once.
const MAX_ATTEMPTS: u32 = 3;
/// A corrected reading keeps at least this share of the raw one.
const MIN_SHARE: f64 = 0.1;

/// Seconds in a reading beyond the work itself, measured with kernels that touch no memory.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct EventOverhead {
    /// Two events and the launch between them, after the caches were flushed or after an execution of the same work.
    pub(crate) pair_s: f64,
    /// From the end of one execution to the start of the next, both queued.
    pub(crate) between_s: f64,
    /// Cycles of a multiprocessor per second, of which the durations of these kernels are made.
    pub(crate) cycles_per_s: f64,
}

impl EventOverhead {
    /// Returns the raw and corrected seconds per execution, for `events_s` read around `repeats` executions.
    pub(crate) fn corrected(&self, events_s: f64, repeats: u32) -> (f64, f64) {
        let repeats = f64::from(repeats.max(1));
        let raw = events_s / repeats;
        let corrected = (events_s - self.pair_s - (repeats - 1.0) * self.between_s) / repeats;
        (raw, corrected.max(MIN_SHARE * raw))
    }
}

/// Measures the timer overhead except the clock checks, behind a blocking kernel where possible.
pub(crate) fn measure(rig: &mut TimingRig, blocking: bool) -> Result<(TimerOverhead, EventOverhead)> {
    let cuda = rig.cuda.clone();
    let mut warm_up = Spin::new(&cuda, WARM_UP.1)?;
    (0..WARM_UP.0).try_for_each(|_| warm_up.execute())?;
    cuda.synchronize()?;

    let kernels = rig.kernels.clone();
    let mut readings = Readings { rig, blocking };
    let cycles_per_s = readings.cycles_per_s(&cuda)?;
    let (pair_s, range_s) = readings.event_pair_s(&cuda, cycles_per_s)?;
    // Without a blocking kernel there are no batches.
    let between_s = if blocking { readings.gap_s(&cuda, cycles_per_s, pair_s)? } else { 0.0 };
    let clock_s = median_reading(|| Ok(readings.read((0, 0), &mut || Ok(()))?.events_s))?;
    let mut empty = || kernels.empty(&cuda.stream);
    let empty_kernel_s = median_reading(|| Ok(readings.read((1, 1), &mut empty)?.events_s))?;
    let launch_sync_s = median_reading(|| readings.rig.time_until_idle(&mut empty))?;
    let overhead = TimerOverhead {
        clock_s,
        empty_kernel_s: Some(empty_kernel_s),
        launch_sync_s: Some(launch_sync_s),
        event_constant_s: Some(pair_s),
        event_uncertainty_s: Some(range_s.hypot(BETWEEN_PROCESSES_S)),
        ..TimerOverhead::default()
    };
    Ok((overhead, EventOverhead { pair_s, between_s, cycles_per_s }))
}

struct Readings<'a> {
    rig: &'a mut TimingRig,
    blocking: bool,
}

impl Readings<'_> {
    /// Returns the events' reading around `repeats` executions of the work after `lead_in` others.
    fn read(
        &mut self,
        (lead_in, repeats): (u32, u32),
        work: &mut dyn FnMut() -> Result<()>,
    ) -> Result<DeviceReading> {
        if !self.blocking {
            let mut once = || (0..repeats).try_for_each(|_| work());
            return Ok(self.rig.time_both_clocks(&mut once)?.1);
        }
        for _ in 0..MAX_ATTEMPTS {
            if let Some(reading) = self.rig.time_blocked(lead_in, repeats, work)? {
                return Ok(reading);
            }
        }
        let reason = "the blocking kernel timed out after a quarter of a second";
        Err(CellError::Failed(reason.into()))
    }

    /// Returns the cycles that the device counts per second, from two spins, so that what events add cancels out.
    fn cycles_per_s(&mut self, cuda: &Cuda) -> Result<f64> {
        let ([few, many], readings) = RATE_CYCLES;
        let kernels = self.rig.kernels.clone();
        let [few_s, many_s] = [few, many].map(|cycles| {
            let mut work = || kernels.spin_cycles(&cuda.stream, cycles);
            median_of(readings, || Ok(self.rig.time_both_clocks(&mut work)?.1.events_s))
        });
        Ok((many - few) as f64 / (many_s? - few_s?))
    }

    /// Returns the seconds that two events read beyond the duration of the spin between them, after a flush of the caches as after
    /// another spin, and half the range of this figure over spins of different lengths after either.
    fn event_pair_s(&mut self, cuda: &Cuda, cycles_per_s: f64) -> Result<(f64, f64)> {
        let kernels = self.rig.kernels.clone();
        let mut excess = Vec::new();
        for (cache, seconds) in Cache::ALL.iter().flat_map(|cache| EVENT_PAIR_S.map(|s| (*cache, s))) {
            let lead_in = u32::from(cache == Cache::Hot);
            let cycles = (seconds * cycles_per_s) as i64;
            let mut work = || kernels.spin_cycles(&cuda.stream, cycles);
            let read = median_of(EVENT_PAIR_READINGS, || {
                self.rig.prepare_caches(cache)?;
                Ok(self.read((lead_in, 1), &mut work)?.events_s)
            })?;
            excess.push(read - seconds);
        }
        let [lowest, highest] = [f64::min, f64::max].map(|end| excess.iter().copied().fold(excess[0], end));
        Ok((median_or_nan(&excess).max(0.0), (highest - lowest) / 2.0))
    }

    /// Returns the seconds from the end of one kernel to the start of the next when both are queued.
    fn gap_s(&mut self, cuda: &Cuda, cycles_per_s: f64, pair_s: f64) -> Result<f64> {
        let (seconds, count) = GAP_SPINS;
        let kernels = self.rig.kernels.clone();
        let mut work = || kernels.spin_cycles(&cuda.stream, (seconds * cycles_per_s) as i64);
        let read = median_reading(|| Ok(self.read((1, count), &mut work)?.events_s))?;
        Ok(((read - pair_s - f64::from(count) * seconds) / f64::from(count - 1)).max(0.0))
    }
}

/// Returns the median of [`READINGS`] readings.
fn median_reading(read: impl FnMut() -> Result<f64>) -> Result<f64> {
    median_of(READINGS, read)
}

/// Returns the median of `count` readings.
fn median_of(count: u32, mut read: impl FnMut() -> Result<f64>) -> Result<f64> {
    Ok(median_or_nan(&(0..count).map(|_| read()).collect::<Result<Vec<f64>, _>>()?))
}

/// Returns the median, or NaN without readings.
pub(super) fn median_or_nan(readings: &[f64]) -> f64 {
    median(readings).unwrap_or(f64::NAN)
}

#[cfg(test)]
mod tests {
    use super::*;

    const OVERHEAD: EventOverhead = EventOverhead { pair_s: 3e-6, between_s: 1e-6, cycles_per_s: 2e9 };

    #[test]
    fn a_reading_loses_each_gap_and_the_constant_once_and_keeps_at_least_a_tenth() {
        let batch_s = 3e-6 + 20.0 * 5e-6 + 19.0 * 1e-6;
        for (events_s, repeats, corrected_s) in
            [(13e-6, 1, 10e-6), (batch_s, 20, 5e-6), (2.5e-6, 1, 0.25e-6), (0.0, 0, 0.0)]
        {
            let (raw, corrected) = OVERHEAD.corrected(events_s, repeats);
            assert!((raw - events_s / f64::from(repeats.max(1))).abs() < 1e-12, "{raw}");
            assert!((corrected - corrected_s).abs() < 1e-12, "{corrected} instead of {corrected_s}");
        }
    }
}
