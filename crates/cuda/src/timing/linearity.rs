//! Checks the clocks against jobs of known duration: the timer samples spins of a known number of cycles.

use gpubench_backend::{ClockCheck, Prepared};
use gpubench_model::case::Cache;
use gpubench_model::error::CellError;

use super::super::context::Cuda;
use super::spin::CycleSpin;
use super::timer::Timer;
use super::timer_overhead::median_or_nan;

/// Duration of each spin in seconds, and its number of samples.
const CHECKS: [(f64, u32); 4] = [(5e-6, 20), (20e-6, 20), (100e-6, 20), (1e-3, 5)];

/// Samples jobs of known duration with cold caches, exactly like other jobs, and adds the results to the timer
/// overhead.
pub(crate) fn check_clock_linearity(mut timer: Timer, cuda: &Cuda) -> Result<Timer, CellError> {
    let checks = CHECKS.iter().map(|spin| check(&mut timer, cuda, *spin)).collect::<Result<_, _>>()?;
    timer.record(checks);
    Ok(timer)
}

fn check(timer: &mut Timer, cuda: &Cuda, (spun_s, samples): (f64, u32)) -> Result<ClockCheck, CellError> {
    let cycles = (spun_s * timer.cycles_per_s()) as i64;
    let mut spin = Prepared::new(CycleSpin::new(cuda, cycles)?);
    // The first sample of a job is taken differently from the following ones.
    timer.time(&mut *spin, Cache::Cold)?;
    let (mut events, mut device) = (vec![], vec![]);
    for _ in 0..samples {
        let sample = timer.time(&mut *spin, Cache::Cold)?;
        events.push(sample.events_s.unwrap_or(f64::NAN));
        device.push(sample.seconds());
    }
    Ok(ClockCheck { spun_s, events_s: median_or_nan(&events), device_s: median_or_nan(&device) })
}
