//! Refuses times that no execution can have had. Only external workers are not trusted with their clocks.

use gpubench_backend::Sample;
use gpubench_model::measure::batch::BatchResult;
use gpubench_model::report::Clock;
use gpubench_ops as op;

use super::PlannedCell;

/// FLOP and bytes per second that no machine of today reaches. What this machine can reach is checked when a cell ends, as it
/// is for every worker.
const MAX_FLOP_RATE: f64 = 1e18;
const MAX_BYTE_RATE: f64 = 1e15;
/// Relative and absolute tolerance between the worker's clock and that of this process.
const TOLERANCE: f64 = 0.01;
const TOLERANCE_S: f64 = 1e-3;

/// Returns why the samples of a batch that took `took_s` cannot be true; `None` if they may be.
pub(crate) fn implausible(
    planned: &PlannedCell,
    (clock, result): (Clock, &BatchResult),
    took_s: f64,
) -> Option<String> {
    let positive = |seconds: f64| seconds.is_finite() && seconds > 0.0;
    let is_time = |sample: &Sample| positive(sample.host_s) && sample.device_s.is_none_or(positive);
    if let Some(sample) = result.samples.iter().find(|sample| !is_time(sample)) {
        return Some(format!("a time is not above 0: {:e} s", sample.device_s.unwrap_or(sample.host_s)));
    }
    if clock == Clock::DeviceEvents && result.samples.iter().any(|sample| sample.device_s.is_none()) {
        return Some("a sample by the device's clock has no device_s".into());
    }
    let claimed_s = result.warmup_s + result.samples.iter().map(|sample| sample.host_s).sum::<f64>();
    // Written so that NaN is refused too.
    if !(claimed_s <= took_s * (1.0 + TOLERANCE) + TOLERANCE_S) {
        return Some(format!("its times add up to {claimed_s:.3} s, but only {took_s:.3} s have passed"));
    }
    let case = &planned.cell.case;
    let work = op::find(&case.op).map(|op| op.work(case)).unwrap_or_default();
    let least_s = (work.flop / MAX_FLOP_RATE).max(work.bytes / MAX_BYTE_RATE);
    let shortest = result.samples.iter().map(|sample| sample.device_s.unwrap_or(sample.host_s));
    let shortest_s = shortest.fold(f64::INFINITY, f64::min);
    (shortest_s < least_s)
        .then(|| format!("a time of {shortest_s:.1e} s is less than any hardware allows ({least_s:.1e} s)"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::executor::planned;

    fn batch(times: &[f64]) -> BatchResult {
        let samples = times.iter().map(|seconds| Sample::of_host(*seconds)).collect();
        BatchResult { samples, ..BatchResult::default() }
    }

    fn verdict(times: &[f64], took_s: f64) -> Option<String> {
        implausible(&planned(1000, "a"), (Clock::Host, &batch(times)), took_s)
    }

    #[test]
    fn times_must_be_positive_and_have_passed() {
        assert_eq!(verdict(&[1e-3, 2e-3], 3.1e-3), None);
        for wrong in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert!(verdict(&[1e-3, wrong], 1e9).unwrap().contains("not above 0"), "{wrong}");
        }
        assert!(verdict(&[1.0, 1.0], 1.5).unwrap().contains("only 1.500 s have passed"));
        let endless = BatchResult { warmup_s: f64::NAN, ..batch(&[1e-3]) };
        assert!(implausible(&planned(1000, "a"), (Clock::Host, &endless), 1.0).is_some());
    }

    #[test]
    fn a_time_below_what_any_hardware_allows_is_refused() {
        // Eight megabytes of float32 operands and answers in less than 8 ns.
        assert!(verdict(&[1e-9], 1.0).unwrap().contains("less than any hardware allows"));
        assert_eq!(verdict(&[1e-6], 1.0), None);
    }

    #[test]
    fn the_device_s_clock_needs_its_times() {
        let verdict = implausible(&planned(10, "a"), (Clock::DeviceEvents, &batch(&[1e-3])), 1.0);
        assert!(verdict.unwrap().contains("device_s"));
    }
}
