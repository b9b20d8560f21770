//! The timer reports work of known duration correctly, and samples have the cache state that they claim.

use gpubench::backend::cuda::{SPIN, SPIN_AND_WAIT, SPIN_OP};
use gpubench::backend::{Backend, Prepared};
use gpubench::case::{Cache, Case, DType};
use gpubench::op;

use crate::{alone, case, median, prepared, samples, start, start_alone, steady, variants};

/// Prepares a job that spins for `ns` nanoseconds.
fn spinning(backend: &mut dyn Backend, variant: &str, ns: u64) -> Box<Prepared> {
    let case = Case::square(SPIN_OP, ns, DType::F64, 1);
    backend.prepare(variant, &case, &mut []).unwrap()
}

/// Seconds that the job's last execution ran, by its own timer.
fn spun_s(job: &mut Prepared) -> f64 {
    job.answer().unwrap()[0].dense_slice::<f64>().unwrap()[0]
}

/// Returns whether the time is within 2 %, or 0.6 us if that is more: a spin that stores how long it ran takes 0.2 to 0.3 us more.
fn is_near(device_s: f64, spun_s: f64) -> bool {
    (device_s - spun_s).abs() <= f64::max(0.02 * spun_s, 0.6e-6)
}

#[test]
fn work_of_known_duration_is_reported_as_it_was_cold_and_hot() {
    let Some((_alone, mut backend)) = start_alone() else { return };
    let mut faults = Vec::new();
    for (us, cache) in [5, 20, 100, 1000].into_iter().flat_map(|us| Cache::ALL.map(|cache| (us, cache))) {
        let mut job = spinning(&mut *backend, SPIN, 1000 * us);
        samples(&mut *backend, &mut *job, cache, 5);
        let mut pairs = Vec::new();
        for _ in 0..21 {
            let sample = backend.time(&mut *job, cache).unwrap();
            pairs.push((sample, spun_s(&mut *job)));
        }
        let device = median(pairs.iter().map(|(sample, _)| sample.device_s.unwrap()));
        let events = median(pairs.iter().map(|(sample, _)| sample.events_s.unwrap()));
        let spun = median(pairs.iter().map(|(_, spun)| *spun));
        if !is_near(device, spun) {
            faults.push(format!("{cache}: span {spun:e} s, events {events:e} s, device {device:e} s"));
        }
    }
    assert!(
        faults.is_empty(),
        "{}\n{:?}\n{}",
        faults.join("\n"),
        backend.timer_overhead(),
        backend.describe()
    );
}

#[test]
fn the_timer_overhead_is_measured_at_start_and_agrees_with_known_durations() {
    let _alone = alone();
    let Some(backend) = start() else { return };
    let timer_overhead = backend.timer_overhead().unwrap();
    let constant = timer_overhead.event_constant_s.unwrap();
    assert!(constant > 0.0 && constant < 20e-6, "{timer_overhead:?}");
    assert!(
        timer_overhead.clock_s > 0.0 && timer_overhead.clock_s <= timer_overhead.empty_kernel_s.unwrap(),
        "{timer_overhead:?}"
    );
    assert!(timer_overhead.launch_sync_s.unwrap() > 0.0, "{timer_overhead:?}");
    assert_eq!(timer_overhead.checks.len(), 4);
    assert!(
        timer_overhead.checks.iter().all(|check| is_near(check.device_s, check.spun_s)),
        "{timer_overhead:?}"
    );
}

/// Ops with kernels that are launched as a graph, and sizes at which the work of nearly all of their variants takes longer
/// than to launch it and to learn of its end.
const LONG: [(&str, u64); 9] = [
    ("matmul", 1000),
    ("elementwise", 4000),
    ("sin", 4000),
    ("reduction", 4000),
    ("fft", 1000),
    ("solve", 1000),
    ("spgemm", 1000),
    ("spmv", 4000),
    ("svd", 32),
];

#[test]
fn a_host_time_covers_the_work() {
    let Some((_alone, mut backend)) = start_alone() else { return };
    let (mut faults, mut by_word) = (Vec::new(), false);
    let cells = LONG.into_iter().flat_map(|(op, n)| {
        variants().into_iter().filter(move |variant| variant.op == op).map(move |variant| (variant, n))
    });
    for (variant, n) in cells {
        let case = case(&variant, n, *variant.dtypes.iter().next().unwrap());
        let inputs = op::find(&variant.op).unwrap().inputs(&case);
        let Some(mut job) = prepared(&mut *backend, &variant, &case, &inputs) else { continue };
        let taken = steady(&mut *backend, &mut *job, Cache::Hot);
        let device: Option<Vec<f64>> = taken.iter().map(|sample| sample.device_s).collect();
        by_word |= taken.iter().any(|sample| sample.ended_by_word == Some(true));
        let (Some(device), host) = (device, median(taken.iter().map(|sample| sample.host_s))) else {
            continue;
        };
        let device = median(device);
        // Long work may run at different clocks in the two executions.
        if host < 0.97 * device {
            faults.push(format!("{case} cuda/{}: {host:e} s for {device:e} s of work", variant.name));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    assert!(by_word, "no host time ended with the word of a graph");
}

#[test]
fn the_clock_of_the_multiprocessors_is_counted_around_each_sample() {
    let Some((_alone, mut backend)) = start_alone() else { return };
    for cache in Cache::ALL {
        let mut job = spinning(&mut *backend, SPIN, 50_000);
        let taken = steady(&mut *backend, &mut *job, cache);
        let clocks: Vec<f64> = taken.iter().filter_map(|sample| sample.sm_mhz).collect();
        assert!(clocks.len() > taken.len() / 2, "{cache}: {clocks:?}");
        let middle = median(clocks.iter().copied());
        assert!(middle > 500.0 && middle < 3000.0, "{cache}: {clocks:?}");
        let apart = clocks.iter().filter(|mhz| (**mhz / middle - 1.0).abs() > 0.05).count();
        assert!(apart <= clocks.len() / 10, "{cache}: {clocks:?}");
    }
}

#[test]
fn data_that_fits_in_the_cache_is_faster_hot_than_cold() {
    let Some((_alone, mut backend)) = start_alone() else { return };
    // Sines and cosines hide part of the reading; sums hide none.
    for (op, variant, n, at_most) in
        [("elementwise", "fused", 1000, 0.98), ("reduction", "one-pass", 2000, 0.9)]
    {
        let case = Case::square(op, n, DType::F32, 42);
        let inputs = op::find(op).unwrap().inputs(&case);
        let mut job = backend.prepare(variant, &case, &mut inputs.clone()).unwrap();
        let [cold, hot] = Cache::ALL.map(|cache| {
            median(steady(&mut *backend, &mut *job, cache).iter().map(|sample| sample.device_s.unwrap()))
        });
        assert!(hot < at_most * cold, "{op}: hot {hot:e} s, cold {cold:e} s");
    }
}

#[test]
fn a_job_that_waits_unannounced_times_out_once_and_is_then_timed_unblocked() {
    let Some((_alone, mut backend)) = start_alone() else { return };
    let timing = |backend: &dyn Backend, key: &str| backend.describe()["timing"][key].clone();
    let before = timing(&*backend, "blocking_kernel_timeouts").as_u64().unwrap();
    let mut job = spinning(&mut *backend, SPIN_AND_WAIT, 5_000);
    let taken = samples(&mut *backend, &mut *job, Cache::Cold, 30);
    assert_eq!(timing(&*backend, "blocking_kernel_timeouts"), before + 1);
    assert!(taken.iter().all(|sample| sample.device_s.is_some_and(|s| s > 4e-6 && s < 1e-3)), "{taken:?}");
    assert_eq!(timing(&*backend, "blocking_kernel"), true, "other jobs are still blocked");

    let mut other = spinning(&mut *backend, SPIN, 5_000);
    let device = median(steady(&mut *backend, &mut *other, Cache::Cold).iter().map(|s| s.device_s.unwrap()));
    assert!(is_near(device, spun_s(&mut *other)), "{device:e} s");
}

#[test]
fn a_new_job_at_the_address_of_an_old_one_starts_without_history() {
    let Some((_alone, mut backend)) = start_alone() else { return };
    for ns in [2_000, 3_000_000, 2_000] {
        let mut job = spinning(&mut *backend, SPIN, ns);
        let taken = steady(&mut *backend, &mut *job, Cache::Hot);
        let device = median(taken.iter().map(|sample| sample.device_s.unwrap()));
        assert!(is_near(device, spun_s(&mut *job)), "{ns} ns: {device:e} s");
    }
}
