//! Refuses times that no execution can have had. Only external workers are not trusted with their clocks.

use gpubench_backend::Sample;
use gpubench_ops as op;
use gpubench_report::Side;
use gpubench_report::case::Case;
use gpubench_report::measure::batch::BatchResult;
use gpubench_report::measure::stats::median;
use gpubench_report::report::{Clock, Phases};

/// FLOP and bytes per second that no machine of today reaches. The end of each cell checks what this machine can reach.
const MAX_FLOP_RATE: f64 = 1e18;
const MAX_BYTE_RATE: f64 = 1e15;
/// Relative and absolute tolerance between the worker's clock and that of this process.
const TOLERANCE: f64 = 0.01;
const TOLERANCE_S: f64 = 1e-3;
/// Most that the median device time exceeds the median host time, which contains it; the two may be of different executions.
const MAX_DEVICE_SHARE: f64 = 1.25;

/// Returns why the samples of a batch of `asked` that took `took_s` cannot be true; `None` if they may be.
pub(crate) fn implausible(
    (case, side): (&Case, Side),
    asked: u32,
    (clock, result): (Clock, &BatchResult),
    took_s: f64,
) -> Option<String> {
    let samples = &result.samples;
    let positive = |seconds: f64| seconds.is_finite() && seconds > 0.0;
    let is_time = |sample: &Sample| positive(sample.host_s) && sample.device_s.is_none_or(positive);
    if samples.len() > asked as usize {
        return Some(format!("it sent {} samples, but {asked} were requested", samples.len()));
    }
    if let Some(sample) = samples.iter().find(|sample| !is_time(sample)) {
        return Some(format!("a time is not above 0: {:e} s", sample.device_s.unwrap_or(sample.host_s)));
    }
    if let Some(reason) = contradiction(clock, side, samples) {
        return Some(reason.into());
    }
    let parts = [("warmup_s", result.warmup_s), ("spent_s", result.spent_s)];
    if let Some((name, seconds)) = parts.into_iter().find(|(_, seconds)| !is_duration(*seconds)) {
        return Some(format!("its {name} is {seconds:e}, which is no time"));
    }
    let sum = |seconds: fn(&Sample) -> f64| samples.iter().map(seconds).sum::<f64>();
    let sampled_s = sum(|sample| sample.host_s).max(sum(|sample| sample.device_s.unwrap_or(0.0)));
    if let Some(reason) = too_long(result.warmup_s + sampled_s.max(result.spent_s), took_s) {
        return Some(reason);
    }
    let work = op::find(&case.op).map(|op| op.work(case)).unwrap_or_default();
    let least_s = (work.flop / MAX_FLOP_RATE).max(work.bytes / MAX_BYTE_RATE);
    let shortest = samples.iter().map(|sample| sample.device_s.unwrap_or(sample.host_s));
    let shortest_s = shortest.fold(f64::INFINITY, f64::min);
    if device_exceeds_host(samples) {
        return Some("its device_s is more than its host_s, which contains the device's work".into());
    }
    (shortest_s < least_s)
        .then(|| format!("a time of {shortest_s:.1e} s is less than any hardware allows ({least_s:.1e} s)"))
}

/// Returns why samples with device times or without them do not belong to this clock and side; `None` if they do.
fn contradiction(clock: Clock, side: Side, samples: &[Sample]) -> Option<&'static str> {
    match clock {
        Clock::Simulated => Some("its clock is simulated"),
        Clock::DeviceEvents if samples.iter().any(|sample| sample.device_s.is_none()) => {
            Some("a sample by the device's clock has no device_s")
        }
        Clock::DeviceEvents if side == Side::Cpu => Some(
            "its clock is device-events, but the variant's side is cpu: reply with clock host and without device_s",
        ),
        Clock::Host if samples.iter().any(|sample| sample.device_s.is_some()) => {
            Some("a sample by the host's clock has device_s: omit it, or reply with clock device-events")
        }
        Clock::DeviceEvents | Clock::Host => None,
    }
}

fn device_exceeds_host(samples: &[Sample]) -> bool {
    let device: Vec<f64> = samples.iter().filter_map(|sample| sample.device_s).collect();
    let host: Vec<f64> = samples.iter().map(|sample| sample.host_s).collect();
    median(&device).zip(median(&host)).is_some_and(|(device_s, host_s)| device_s > MAX_DEVICE_SHARE * host_s)
}

/// Returns why the phases of a preparation that took `took_s` cannot be true; `None` if they may be.
pub(crate) fn implausible_phases(phases: &Phases, took_s: f64) -> Option<String> {
    let Phases { inputs_s, prepare_s, first_s, download_s, check_s, threads_s, verify_s, .. } = *phases;
    let parts = [inputs_s, prepare_s, first_s, download_s, check_s, threads_s, verify_s];
    match parts.into_iter().find(|seconds| !is_duration(*seconds)) {
        Some(seconds) => Some(format!("a phase took {seconds:e} s, which is no time")),
        None => too_long(parts.iter().sum(), took_s),
    }
}

fn is_duration(seconds: f64) -> bool {
    seconds.is_finite() && seconds >= 0.0
}

/// Returns the complaint about times that add up to more than has passed.
fn too_long(claimed_s: f64, took_s: f64) -> Option<String> {
    // Written so that NaN is refused too.
    let has_passed = claimed_s <= took_s * (1.0 + TOLERANCE) + TOLERANCE_S;
    (!has_passed).then(|| format!("its times add up to {claimed_s:.3} s, but only {took_s:.3} s have passed"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::executor::planned;

    fn case(n: u64) -> Case {
        planned(n, "a").cell.case
    }

    fn batch(times: &[f64]) -> BatchResult {
        let samples = times.iter().map(|seconds| Sample::of_host(*seconds)).collect();
        BatchResult { samples, ..BatchResult::default() }
    }

    fn verdict(times: &[f64], took_s: f64) -> Option<String> {
        implausible((&case(1000), Side::Cpu), 2, (Clock::Host, &batch(times)), took_s)
    }

    #[test]
    fn times_must_be_positive_and_have_passed() {
        assert_eq!(verdict(&[1e-3, 2e-3], 3.1e-3), None);
        for wrong in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert!(verdict(&[1e-3, wrong], 1e9).unwrap().contains("not above 0"), "{wrong}");
        }
        assert!(verdict(&[1.0, 1.0], 1.5).unwrap().contains("only 1.500 s have passed"));
        for warmup_s in [f64::NAN, -10.0] {
            let result = BatchResult { warmup_s, ..batch(&[1e-3]) };
            let found = implausible((&case(1000), Side::Cpu), 1, (Clock::Host, &result), 1.0).unwrap();
            assert!(found.contains("warmup_s"), "{found}");
        }
        assert!(verdict(&[1e-3; 3], 1.0).unwrap().contains("3 samples, but 2"));
    }

    #[test]
    fn a_time_below_what_any_hardware_allows_is_refused() {
        // Eight megabytes of float32 operands and answers in less than 8 ns.
        assert!(verdict(&[1e-9], 1.0).unwrap().contains("less than any hardware allows"));
        assert_eq!(verdict(&[1e-6], 1.0), None);
    }

    #[test]
    fn device_times_belong_to_the_device_s_clock_and_the_gpu() {
        let verdict = |clock, side, device_s| {
            let samples = vec![Sample { device_s, ..Sample::of_host(1e-3) }];
            let batch = BatchResult { samples, ..BatchResult::default() };
            implausible((&case(10), side), 1, (clock, &batch), 10.0)
        };
        let (host, device) = (Clock::Host, Clock::DeviceEvents);
        for (clock, side, device_s, reason) in [
            (host, Side::Cpu, None, None),
            (host, Side::Gpu, None, None),
            (host, Side::Cpu, Some(1e-9), Some("omit it")),
            (host, Side::Gpu, Some(1e-4), Some("omit it")),
            (device, Side::Gpu, Some(1e-4), None),
            (device, Side::Gpu, Some(1.1e-3), None),
            (device, Side::Gpu, Some(2e-3), Some("more than its host_s")),
            (device, Side::Gpu, None, Some("no device_s")),
            (device, Side::Cpu, Some(1e-4), Some("side is cpu")),
            (Clock::Simulated, Side::Gpu, None, Some("simulated")),
        ] {
            let found = verdict(clock, side, device_s);
            assert_eq!(found.is_some(), reason.is_some(), "{clock:?} {side:?} {device_s:?}: {found:?}");
            assert!(found.unwrap_or_default().contains(reason.unwrap_or_default()), "{clock:?} {side:?}");
        }
    }

    #[test]
    fn phases_are_times_that_have_passed() {
        let verdict = |first_s| implausible_phases(&Phases { first_s, ..Phases::default() }, 1.0);
        assert_eq!(verdict(0.5), None);
        for wrong in [-0.5, f64::NAN, 2.0] {
            assert!(verdict(wrong).is_some(), "{wrong}");
        }
    }
}
