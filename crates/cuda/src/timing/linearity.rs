//! Whether the clocks read known durations as they are: a timer samples jobs that know for how long they ran.

use gpubench_backend::{ClockCheck, Prepared};
use gpubench_model::case::Cache;
use gpubench_model::error::CellError;

use super::super::context::Cuda;
use super::spin::Spin;
use super::timer::Timer;
use super::timer_overhead::middle;

/// Nanoseconds of the spins that check the clock, and the samples of each.
const LADDER: [(u64, u32); 4] = [(5_000, 20), (20_000, 20), (100_000, 20), (1_000_000, 5)];

/// Samples jobs of known duration exactly as any other job, with cold caches, and adds to the timer's floors what they
/// read.
pub(crate) fn checked(mut timer: Timer, cuda: &Cuda) -> Result<Timer, CellError> {
    let checks = LADDER.iter().map(|rung| check(&mut timer, cuda, *rung)).collect::<Result<_, _>>()?;
    timer.record(checks);
    Ok(timer)
}

fn check(timer: &mut Timer, cuda: &Cuda, (ns, samples): (u64, u32)) -> Result<ClockCheck, CellError> {
    let mut spin = Prepared::new(Spin::new(cuda, ns)?);
    // The first sample of a job is taken otherwise than those after it.
    timer.time(&mut *spin, Cache::Cold)?;
    let (mut spun, mut events, mut device) = (vec![], vec![], vec![]);
    for _ in 0..samples {
        let sample = timer.time(&mut *spin, Cache::Cold)?;
        spun.push(spin.spun_s(1)?);
        events.push(sample.events_s.unwrap_or(f64::NAN));
        device.push(sample.seconds());
    }
    Ok(ClockCheck { spun_s: middle(&spun), events_s: middle(&events), device_s: middle(&device) })
}
