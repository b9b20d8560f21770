//! Measures the timer overhead when the backend starts: the clocks' readings around nothing.

use gpubench_backend::{Job, TimerOverhead};
use gpubench_model::case::Cache;
use gpubench_model::error::CellError;
use gpubench_model::measure::stats::median;

use super::super::context::Cuda;
use super::event_overhead::EventOverhead;
use super::spin::Spin;
use super::timing_rig::{Reading, TimingRig};

/// Number and nanoseconds of the spins that bring an idle device to its working clock, which takes tens of
/// milliseconds.
const WARM_UP: (u32, u64) = (10, 10_000_000);
/// Readings per value.
const READINGS: u32 = 30;
/// Nanoseconds of the spins that determine the events' constant.
const EVENT_PAIR_NS: [u64; 3] = [3_000, 10_000, 30_000];
/// Readings per spin.
const EVENT_PAIR_READINGS: u32 = 80;
/// Nanoseconds of the spins, and their number in a batch, that determine the time between executions.
const GAP_SPINS: (u64, u32) = (5_000, 16);
/// Attempts before a blocking kernel that times out is an error; the host may have been busy once.
const MAX_ATTEMPTS: u32 = 3;
/// Measures the timer overhead except the clock checks, behind a blocking kernel where possible.
pub(crate) fn measure(
    rig: &mut TimingRig,
    blocking: bool,
) -> Result<(TimerOverhead, EventOverhead), CellError> {
    let cuda = rig.cuda.clone();
    let mut warm_up = Spin::new(&cuda, WARM_UP.1)?;
    (0..WARM_UP.0).try_for_each(|_| warm_up.execute())?;
    cuda.synchronize()?;

    let kernels = rig.kernels.clone();
    let mut readings = Readings { rig, blocking };
    let cold_s = readings.event_pair_s(&cuda, Cache::Cold)?;
    let hot_s = readings.event_pair_s(&cuda, Cache::Hot)?;
    // Without a blocking kernel there are no batches.
    let between_s = if blocking { readings.gap_s(&cuda, hot_s)? } else { 0.0 };
    let clock_s = median_reading(|| Ok(readings.read((0, 0), &mut || Ok(()))?.events_s))?;
    let mut empty = || kernels.empty(&cuda.stream);
    let empty_kernel_s = median_reading(|| Ok(readings.read((1, 1), &mut empty)?.events_s))?;
    let launch_sync_s = median_reading(|| readings.rig.time_until_idle(&mut empty))?;
    let overhead = TimerOverhead {
        clock_s,
        empty_kernel_s: Some(empty_kernel_s),
        launch_sync_s: Some(launch_sync_s),
        event_constant_s: Some(cold_s),
        ..TimerOverhead::default()
    };
    Ok((overhead, EventOverhead { cold_s, hot_s, between_s }))
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
        work: &mut dyn FnMut() -> Result<(), CellError>,
    ) -> Result<Reading, CellError> {
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

    /// Returns the seconds that two events read beyond the duration that the kernel between them reports: the
    /// intercept of event time against duration, whose slope is 1.
    fn event_pair_s(&mut self, cuda: &Cuda, cache: Cache) -> Result<f64, CellError> {
        let lead_in = u32::from(cache == Cache::Hot);
        let mut excess = Vec::new();
        for ns in EVENT_PAIR_NS {
            let mut spin = Spin::new(cuda, ns)?;
            for _ in 0..EVENT_PAIR_READINGS {
                self.rig.prepare_caches(cache)?;
                let events_s = self.read((lead_in, 1), &mut || spin.execute())?.events_s;
                excess.push(events_s - spin.spun_s(1)?);
            }
        }
        Ok(median_or_nan(&excess).max(0.0))
    }

    /// Returns the seconds from the end of one kernel to the start of the next when both are queued.
    fn gap_s(&mut self, cuda: &Cuda, pair_s: f64) -> Result<f64, CellError> {
        let (ns, count) = GAP_SPINS;
        let mut spin = Spin::new(cuda, ns)?;
        let gap = median_reading(|| {
            let events_s = self.read((1, count), &mut || spin.execute())?.events_s;
            Ok((events_s - pair_s - spin.spun_s(count)?) / f64::from(count - 1))
        })?;
        Ok(gap.max(0.0))
    }
}

/// Returns the median of [`READINGS`] readings.
fn median_reading(mut read: impl FnMut() -> Result<f64, CellError>) -> Result<f64, CellError> {
    Ok(median_or_nan(&(0..READINGS).map(|_| read()).collect::<Result<Vec<f64>, _>>()?))
}

/// Returns the median, or NaN without readings.
pub(super) fn median_or_nan(readings: &[f64]) -> f64 {
    median(readings).unwrap_or(f64::NAN)
}
