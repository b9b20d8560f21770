//! Checks the clocks against jobs of known duration: the timer samples spins that report how long they ran.

use gpubench_backend::{ClockCheck, Prepared};
use gpubench_model::case::Cache;
use gpubench_model::error::CellError;

use super::super::context::Cuda;
use super::spin::Spin;
use super::timer::Timer;
use super::timer_overhead::median_or_nan;

/// Duration of each spin in nanoseconds, and its number of samples.
const CHECKS: [(u64, u32); 4] = [(5_000, 20), (20_000, 20), (100_000, 20), (1_000_000, 5)];

/// Samples jobs of known duration with cold caches, exactly like other jobs, and adds the results to the timer
/// overhead.
pub(crate) fn check_clock_linearity(mut timer: Timer, cuda: &Cuda) -> Result<Timer, CellError> {
    let checks = CHECKS.iter().map(|spin| check(&mut timer, cuda, *spin)).collect::<Result<_, _>>()?;
    timer.record(checks);
    Ok(timer)
}

fn check(timer: &mut Timer, cuda: &Cuda, (ns, samples): (u64, u32)) -> Result<ClockCheck, CellError> {
    let mut spin = Prepared::new(Spin::new(cuda, ns)?);
    // The first sample of a job is taken differently from the following ones.
    timer.time(&mut *spin, Cache::Cold)?;
    let (mut spun, mut events, mut device) = (vec![], vec![], vec![]);
    for _ in 0..samples {
        let sample = timer.time(&mut *spin, Cache::Cold)?;
        spun.push(spin.spun_s(1)?);
        events.push(sample.events_s.unwrap_or(f64::NAN));
        device.push(sample.seconds());
    }
    Ok(ClockCheck {
        spun_s: median_or_nan(&spun),
        events_s: median_or_nan(&events),
        device_s: median_or_nan(&device),
    })
}
