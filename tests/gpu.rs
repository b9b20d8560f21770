//! Every CUDA variant is right at awkward sizes and sets nothing up while it is sampled; work of known duration is
//! reported as it was. Needs a GPU.

#![allow(clippy::unwrap_used, reason = "a test ends at what it did not expect")]

use std::time::Instant;

use gpubench::backend::cuda::{SPIN, SPIN_AND_WAIT, SPIN_OP};
use gpubench::backend::{self, Backend, Job, Options, Sample, Variant};
use gpubench::case::{Cache, Case, DType};
use gpubench::error::CellError;
use gpubench::op;

const SIZES: [u64; 7] = [1, 2, 31, 100, 101, 333, 512];

/// A size at which grid-stride loops go round, for the ops that only read and write.
const LARGE: u64 = 3001;
const STREAMING: [&str; 3] = ["elementwise", "sin", "reduction"];

fn required() -> bool {
    std::env::var("GPUBENCH_REQUIRE").is_ok_and(|list| list.split(',').any(|word| word == "cuda"))
}

#[expect(clippy::print_stderr, reason = "a skipped test says why")]
fn skipped(what: &str, why: &str) {
    assert!(!required(), "{what}: {why}");
    eprintln!("skipped: {what}: {why}");
}

fn start() -> Option<Box<dyn Backend>> {
    let started = (backend::find("cuda").unwrap().start)(&Options::default());
    started.map_err(|missing| skipped("cuda", &missing.reason)).ok()
}

fn variants() -> Vec<Variant> {
    (backend::find("cuda").unwrap().variants)(&Options::default()).unwrap()
}

fn case(variant: &Variant, n: u64, dtype: DType) -> Case {
    let density = op::find(&variant.op).unwrap().default_density();
    Case { op: variant.op.to_string(), n, dtype, density, seed: 42 }
}

/// Every case of every variant.
fn cells() -> Vec<(Variant, Case)> {
    let mut cells = Vec::new();
    for variant in variants() {
        let large = STREAMING.contains(&&*variant.op).then_some(LARGE);
        for n in SIZES.into_iter().chain(large) {
            cells.extend(variant.dtypes.iter().map(|dtype| (variant.clone(), case(&variant, n, *dtype))));
        }
    }
    cells
}

/// Why the variant is wrong in this case; `None` when it is right.
fn fault(backend: &mut dyn Backend, variant: &Variant, case: &Case) -> Result<Option<String>, CellError> {
    let op = op::find(&case.op).unwrap();
    let inputs = op.inputs(case);
    let mut job = backend.prepare(&variant.name, case, &inputs)?;
    // More than once: a job must leave itself ready for the next execution.
    for cache in [Cache::Cold, Cache::Hot, Cache::Cold, Cache::Hot] {
        let sample = backend.time(&mut *job, cache)?;
        let (device, host) = (sample.device_s.unwrap_or(f64::NAN), sample.host_s);
        // The two clocks may have seen executions of their own.
        if !(device > 0.0 && device <= 1.5 * host) {
            return Ok(Some(format!(
                "{cache}: {device} s on the device do not go with {host} s on the host"
            )));
        }
    }
    let checked = op.check(case, &inputs, &job.answer()?, variant.accuracy.rounding(case.dtype))?;
    Ok((!checked.is_right()).then(|| format!("error {:e}, bound {:e}", checked.value, checked.bound)))
}

fn samples(backend: &mut dyn Backend, job: &mut dyn Job, cache: Cache, count: usize) -> Vec<Sample> {
    (0..count).map(|_| backend.time(job, cache).unwrap()).collect()
}

/// Samples after a few that are not counted.
fn steady(backend: &mut dyn Backend, job: &mut dyn Job, cache: Cache) -> Vec<Sample> {
    samples(backend, job, cache, 5);
    samples(backend, job, cache, 21)
}

fn median(values: impl IntoIterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.into_iter().collect();
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// A job that spins for so many nanoseconds.
fn spinning(backend: &mut dyn Backend, variant: &str, ns: u64) -> Box<dyn Job> {
    let case = Case { op: SPIN_OP.into(), n: ns, dtype: DType::F64, density: None, seed: 1 };
    backend.prepare(variant, &case, &[]).unwrap()
}

/// Seconds that its last execution span, by its own timer.
fn spun_s(job: &mut dyn Job) -> f64 {
    job.answer().unwrap()[0].dense_slice::<f64>().unwrap()[0]
}

/// What a time may be off: 2 %, or 0.3 us where that is more.
fn is_near(device_s: f64, spun_s: f64) -> bool {
    (device_s - spun_s).abs() <= f64::max(0.02 * spun_s, 0.3e-6)
}

#[test]
fn every_variant_is_right_at_every_size() {
    let Some(mut backend) = start() else { return };
    let mut faults = Vec::new();
    for (variant, case) in cells() {
        let cell = format!("{case} cuda/{}", variant.name);
        match fault(&mut *backend, &variant, &case) {
            Ok(None) => {}
            Ok(Some(fault)) => faults.push(format!("{cell}: {fault}")),
            Err(CellError::Unavailable(missing)) => skipped(&cell, &missing.reason),
            Err(error) => faults.push(format!("{cell}: {error}")),
        }
    }
    assert!(faults.is_empty(), "{} wrong:\n{}", faults.len(), faults.join("\n"));
}

#[test]
fn sampling_allocates_plans_and_compiles_nothing() {
    let Some(mut backend) = start() else { return };
    for variant in variants() {
        for dtype in variant.dtypes.iter() {
            let case = case(&variant, 100, *dtype);
            let inputs = op::find(&case.op).unwrap().inputs(&case);
            let mut job = match backend.prepare(&variant.name, &case, &inputs) {
                Ok(job) => job,
                Err(CellError::Unavailable(missing)) => {
                    skipped(&format!("{case} cuda/{}", variant.name), &missing.reason);
                    continue;
                }
                Err(error) => panic!("{case} cuda/{}: {error}", variant.name),
            };
            let before = backend.setup_counts();
            assert!(before.allocations > 0, "{case} cuda/{}: nothing was counted", variant.name);
            for cache in Cache::ALL {
                samples(&mut *backend, &mut *job, cache, 10);
                let during = backend.setup_counts().since(before);
                assert!(during.is_zero(), "{case} cuda/{} {cache}: {during:?}", variant.name);
            }
        }
    }
}

#[test]
fn a_case_beyond_the_devices_memory_is_refused_with_the_figures() {
    let Some(mut backend) = start() else { return };
    for (op, variant) in
        [("matmul", "cublas"), ("elementwise", "fused"), ("sin", "fused"), ("reduction", "one-pass")]
    {
        let case = Case { op: op.into(), n: 2_000_000, dtype: DType::F64, density: None, seed: 1 };
        match backend.prepare(variant, &case, &[]).err() {
            Some(CellError::OutOfMemory { place: "device", needed, free }) => {
                assert!(needed > free && free > 0)
            }
            other => panic!("{op}: {other:?}"),
        }
    }
}

#[test]
fn an_ordinal_beyond_the_devices_is_refused_with_their_count() {
    if start().is_none() {
        return;
    }
    let options = Options { device: 4096, ..Options::default() };
    let missing = (backend::find("cuda").unwrap().start)(&options).err().unwrap();
    assert!(missing.reason.contains("no CUDA device 4096"), "{}", missing.reason);
    assert!(missing.fix.is_some());
}

#[test]
fn a_device_describes_itself_fully() {
    let Some(backend) = start() else { return };
    let description = backend.describe();
    for (key, value) in description.as_object().unwrap() {
        // Absent on drivers without /proc, such as WSL's.
        assert!(!value.is_null() || key == "driver_version", "{key} is missing: {description}");
    }
}

#[test]
fn work_of_known_duration_is_reported_as_it_was_cold_and_hot() {
    let Some(mut backend) = start() else { return };
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
    assert!(faults.is_empty(), "{}\n{:?}\n{}", faults.join("\n"), backend.floors(), backend.describe());
}

#[test]
fn the_floors_are_measured_at_start_and_agree_with_known_durations() {
    let Some(backend) = start() else { return };
    let floors = backend.floors().unwrap();
    let constant = floors.event_constant_s.unwrap();
    assert!(constant > 0.0 && constant < 20e-6, "{floors:?}");
    assert!(floors.clock_s > 0.0 && floors.clock_s <= floors.empty_kernel_s.unwrap(), "{floors:?}");
    assert!(floors.launch_sync_s.unwrap() > 0.0, "{floors:?}");
    assert_eq!(floors.checks.len(), 4);
    assert!(floors.checks.iter().all(|check| is_near(check.device_s, check.spun_s)), "{floors:?}");
}

#[test]
fn the_clock_of_the_multiprocessors_is_counted_around_each_sample() {
    let Some(mut backend) = start() else { return };
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
fn what_fits_in_the_cache_is_faster_hot_than_cold() {
    let Some(mut backend) = start() else { return };
    let case = Case { op: "elementwise".into(), n: 1000, dtype: DType::F32, density: None, seed: 42 };
    let inputs = op::find(&case.op).unwrap().inputs(&case);
    let mut job = backend.prepare("fused", &case, &inputs).unwrap();
    let [cold, hot] = Cache::ALL.map(|cache| {
        median(steady(&mut *backend, &mut *job, cache).iter().map(|sample| sample.device_s.unwrap()))
    });
    assert!(hot < 0.9 * cold, "hot {hot:e} s, cold {cold:e} s");
}

#[test]
fn a_job_that_waits_unannounced_voids_one_hold_and_is_timed_without() {
    let Some(mut backend) = start() else { return };
    let timing = |backend: &dyn Backend, key: &str| backend.describe()["timing"][key].clone();
    let before = timing(&*backend, "holds_timed_out").as_u64().unwrap();
    let mut job = spinning(&mut *backend, SPIN_AND_WAIT, 5_000);
    let begun = Instant::now();
    let taken = samples(&mut *backend, &mut *job, Cache::Cold, 30);
    let took = begun.elapsed().as_secs_f64();
    assert_eq!(timing(&*backend, "holds_timed_out"), before + 1);
    assert!(took < 1.0, "{took} s for 30 samples");
    assert!(taken.iter().all(|sample| sample.device_s.is_some_and(|s| s > 4e-6 && s < 1e-3)), "{taken:?}");
    assert_eq!(timing(&*backend, "holding"), true, "other jobs are still held back");

    let mut other = spinning(&mut *backend, SPIN, 5_000);
    let device = median(steady(&mut *backend, &mut *other, Cache::Cold).iter().map(|s| s.device_s.unwrap()));
    assert!(is_near(device, spun_s(&mut *other)), "{device:e} s");
}

#[test]
fn a_new_job_at_the_place_of_an_old_one_is_learnt_anew() {
    let Some(mut backend) = start() else { return };
    for ns in [2_000, 3_000_000, 2_000] {
        let mut job = spinning(&mut *backend, SPIN, ns);
        let taken = steady(&mut *backend, &mut *job, Cache::Hot);
        let device = median(taken.iter().map(|sample| sample.device_s.unwrap()));
        assert!(is_near(device, spun_s(&mut *job)), "{ns} ns: {device:e} s");
    }
}
