//! Every CUDA variant is right at awkward sizes and sets nothing up while it is sampled. Needs a GPU.

#![allow(clippy::unwrap_used, reason = "a test ends at what it did not expect")]

use std::sync::{Mutex, MutexGuard, PoisonError};

use gpubench::backend::{self, Backend, DevicePhases, HostMemory, Options, Transfer, Variant};
use gpubench::case::{Cache, Case, DType};
use gpubench::error::CellError;
use gpubench::op;

const SIZES: [u64; 7] = [1, 2, 31, 100, 101, 333, 512];

/// A size at which grid-stride loops go round, for the ops that only read and write.
const LARGE: u64 = 3001;
const STREAMING: [&str; 3] = ["elementwise", "sin", "reduction"];

/// Held by each test: they share the device's memory pool, its clocks and the cache of kernels.
static DEVICE: Mutex<()> = Mutex::new(());

fn alone() -> MutexGuard<'static, ()> {
    DEVICE.lock().unwrap_or_else(PoisonError::into_inner)
}

fn required() -> bool {
    std::env::var("GPUBENCH_REQUIRE").is_ok_and(|list| list.split(',').any(|word| word == "cuda"))
}

#[expect(clippy::print_stderr, reason = "a skipped test says why")]
fn skipped(what: &str, why: &str) {
    assert!(!required(), "{what}: {why}");
    eprintln!("skipped: {what}: {why}");
}

fn start() -> Option<Box<dyn Backend>> {
    start_with(&Options::default())
}

fn start_with(options: &Options) -> Option<Box<dyn Backend>> {
    let started = (backend::find("cuda").unwrap().start)(options);
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
    for _ in 0..3 {
        let sample = backend.time(&mut *job, Cache::Cold)?;
        let device = sample.device_s.unwrap_or(f64::NAN);
        if !(device > 0.0 && device <= sample.host_s) {
            return Ok(Some(format!("the device's {device} s lie outside the host's {} s", sample.host_s)));
        }
    }
    let checked = op.check(case, &inputs, &job.answer()?, variant.accuracy.rounding(case.dtype))?;
    Ok((!checked.is_right()).then(|| format!("error {:e}, bound {:e}", checked.value, checked.bound)))
}

#[test]
fn every_variant_is_right_at_every_size() {
    let _alone = alone();
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
    let _alone = alone();
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
            for _ in 0..10 {
                backend.time(&mut *job, Cache::Cold).unwrap();
            }
            let during = backend.setup_counts().since(before);
            assert!(during.is_zero(), "{case} cuda/{}: {during:?}", variant.name);
        }
    }
}

#[test]
fn a_case_beyond_the_devices_memory_is_refused_with_the_figures() {
    let _alone = alone();
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
    let _alone = alone();
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
    let _alone = alone();
    let Some(backend) = start() else { return };
    let description = backend.describe();
    for (key, value) in description.as_object().unwrap() {
        // Absent on drivers without /proc, such as WSL's.
        assert!(!value.is_null() || key == "driver_version", "{key} is missing: {description}");
    }
}

/// What the device did while a job was prepared, and from then until its answer had come; the answer is right.
fn phases(backend: &mut dyn Backend, variant: &str, case: &Case) -> [DevicePhases; 2] {
    let op = op::find(&case.op).unwrap();
    let inputs = op.inputs(case);
    backend.phases();
    let mut job = backend.prepare(variant, case, &inputs).unwrap();
    let preparing = backend.phases();
    backend.time(&mut *job, Cache::Cold).unwrap();
    let answer = job.answer().unwrap();
    let after = backend.phases();
    let rounding = backend::Accuracy::Ieee.rounding(case.dtype);
    assert!(op.check(case, &inputs, &answer, rounding).unwrap().is_right(), "{case} cuda/{variant}");
    [preparing, after]
}

fn assert_plausible(transfer: &Transfer, bytes: u64, memory: HostMemory) {
    assert_eq!((transfer.bytes, transfer.memory), (bytes, memory));
    assert_eq!(transfer.host_s.len(), transfer.device_s.len(), "{transfer:?}");
    assert!(transfer.host_s.len() >= 2, "{transfer:?}");
    for (&host, &device) in transfer.host_s.iter().zip(&transfer.device_s) {
        assert!(device > 0.0 && device <= 1.01 * host + 2e-6, "{transfer:?}");
        // No bus and no memory of a host is that fast: a copy that ends sooner was not waited for.
        assert!(bytes as f64 / host < 1e12, "{transfer:?}");
        assert!(host < 10.0, "{transfer:?}");
    }
}

#[test]
fn copies_and_memory_of_a_job_are_told_for_both_kinds_of_host_memory() {
    let _alone = alone();
    const N: u64 = 1500;
    for memory in [HostMemory::Pageable, HostMemory::Pinned] {
        let Some(mut backend) = start_with(&Options { transfer: memory, ..Options::default() }) else {
            return;
        };
        // A smaller case first, and again last: page-locked memory must grow, and then serve smaller copies.
        for n in [31, N, 31] {
            let case = Case { op: "matmul".into(), n, dtype: DType::F32, density: None, seed: 7 };
            let [preparing, after] = phases(&mut *backend, "cublas", &case);
            let matrix = n * n * 4;
            let upload = preparing.upload.unwrap();
            assert_plausible(&upload, 2 * matrix, memory);
            assert_plausible(&after.download.unwrap(), matrix, memory);
            assert!(preparing.compile_and_copy_s >= upload.host_s.iter().sum::<f64>());
            assert_eq!((preparing.compile, after.upload), (None, None));
            let peak = preparing.peak_device_bytes.unwrap();
            assert!((3 * matrix..1 << 30).contains(&peak), "{peak} bytes at N = {n}");
        }
    }
}

#[test]
fn compiling_is_told_to_every_job_that_uses_the_kernel() {
    let _alone = alone();
    let case = Case { op: "elementwise".into(), n: 100, dtype: DType::F32, density: None, seed: 7 };
    // The second backend finds the kernel in the cache on disk, and still knows what compiling it took.
    for _ in 0..2 {
        let ahead = Options { ops: vec!["elementwise".into()], ..Options::default() };
        let Some(mut backend) = start_with(&ahead) else { return };
        let [first, _] = phases(&mut *backend, "fused", &case);
        let [second, _] = phases(&mut *backend, "fused", &case);
        let compile = second.compile.unwrap();
        assert_eq!(first.compile, Some(compile));
        let cold = compile.cold_s.unwrap();
        assert!(cold > 1e-3 && cold < 60.0, "{compile:?}");
        if !std::env::var("GPUBENCH_KERNEL_CACHE").is_ok_and(|value| value == "off") {
            let cached =
                compile.cached_s.expect("set HOME or XDG_CACHE_HOME to a folder that can be written");
            assert!(cached > 0.0 && cached < cold, "{compile:?}");
        }
    }
}

#[test]
#[expect(clippy::print_stderr, reason = "the time that a look costs is worth reading")]
fn the_state_of_the_device_is_told_and_nobody_else_is_seen_on_an_idle_one() {
    let _alone = alone();
    let Some(mut backend) = start() else { return };
    let description = backend.describe();
    assert!(description["context_s"].as_f64().unwrap() > 0.0, "{description}");
    let nvml = description["nvml"].as_str().unwrap();
    if nvml.starts_with("not available") {
        return skipped("conditions", nvml);
    }
    let seen = backend.conditions();
    assert!(seen.sm_mhz.is_some_and(|mhz| (100.0..5000.0).contains(&mhz)), "{seen:?}");
    assert!(seen.memory_mhz.is_some_and(|mhz| (100.0..20_000.0).contains(&mhz)), "{seen:?}");
    assert!(seen.power_w.is_some_and(|watts| (1.0..2000.0).contains(&watts)), "{seen:?}");
    assert!(seen.temperature_c.is_some_and(|degrees| (0.0..120.0).contains(&degrees)), "{seen:?}");
    assert!(seen.others.is_empty(), "{seen:?}");
    let mut looks: Vec<f64> = (0..21)
        .map(|_| {
            let start = std::time::Instant::now();
            backend.conditions();
            start.elapsed().as_secs_f64()
        })
        .collect();
    looks.sort_by(f64::total_cmp);
    eprintln!("a look at the device: {:.3} ms; {description}", looks[10] * 1e3);
    assert!(looks[10] < 20e-3, "a look at the device takes {} s", looks[10]);
}
