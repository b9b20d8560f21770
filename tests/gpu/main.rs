//! Tests that need a device. Without one they skip and print the reason; with GPUBENCH_REQUIRE=cuda they fail.

#![allow(clippy::unwrap_used, reason = "a test ends at what it did not expect")]

mod auto;
mod faults;
mod fft;
mod lessons;
mod matmul;
mod peaks;
mod phases;
mod solve;
mod sparse;
mod special_values;
mod svd;
mod timing;
mod variants;
mod verify;

use std::sync::{Mutex, MutexGuard, PoisonError};

use gpubench::backend::{self, Accuracy, Backend, Options, Prepared, Sample, Variant};
use gpubench::case::{Cache, Case, DType};
use gpubench::data::Operand;
use gpubench::error::CellError;
use gpubench::measure::stats::upper_median;
use gpubench::op;

/// Locked by each test, because tests share the device's memory pool, clocks and kernel cache.
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

/// Locks the device and starts a backend on it. Returns `None` without a device.
fn start_alone() -> Option<(MutexGuard<'static, ()>, Box<dyn Backend>)> {
    let alone = alone();
    start().map(|backend| (alone, backend))
}

fn start_with(options: &Options) -> Option<Box<dyn Backend>> {
    let started = (backend::BACKENDS.find("cuda").unwrap().start)(options);
    started.map_err(|missing| skipped("cuda", &missing.reason)).ok()
}

fn variants() -> Vec<Variant> {
    (backend::BACKENDS.find("cuda").unwrap().variants)(&Options::default()).unwrap()
}

fn case(variant: &Variant, n: u64, dtype: DType) -> Case {
    let density = op::find(&variant.op).unwrap().default_density();
    Case { density, ..Case::square(&variant.op, n, dtype, 42) }
}

/// Prepares a job of a variant. Returns `None`, and says why, if the case is not supported here.
fn prepared(
    backend: &mut dyn Backend,
    variant: &Variant,
    case: &Case,
    inputs: &[Operand],
) -> Option<Box<Prepared>> {
    match backend.prepare(&variant.name, case, &mut inputs.to_vec()) {
        Ok(job) => Some(job),
        Err(CellError::Unavailable(missing)) => {
            skipped(&format!("{case} cuda/{}", variant.name), &missing.reason);
            None
        }
        Err(error) => panic!("{case} cuda/{}: {error}", variant.name),
    }
}

/// Returns the answer of a job after an execution with each of these states of the caches.
fn answer(
    backend: &mut dyn Backend,
    variant: &str,
    case: &Case,
    inputs: &[Operand],
    caches: &[Cache],
) -> Result<Vec<Operand>, CellError> {
    let mut job = backend.prepare(variant, case, &mut inputs.to_vec())?;
    for cache in caches {
        backend.time(&mut *job, *cache)?;
    }
    job.answer()
}

/// Describes why the answer of a variant in IEEE arithmetic is wrong; `None` if it is right, or the case is not supported here.
fn fault(
    backend: &mut dyn Backend,
    variant: &str,
    case: &Case,
    inputs: &[Operand],
    caches: &[Cache],
) -> Option<String> {
    let cell = format!("{case} cuda/{variant}");
    let answer = match answer(backend, variant, case, inputs, caches) {
        Ok(answer) => answer,
        Err(CellError::Unavailable(missing)) => {
            skipped(&cell, &missing.reason);
            return None;
        }
        Err(error) => return Some(format!("{cell}: {error}")),
    };
    let rounding = Accuracy::Ieee.rounding(case.dtype);
    let checked = op::find(&case.op).unwrap().check(case, inputs, &answer, rounding).unwrap();
    (!checked.is_precise()).then(|| format!("{cell}: error {:e}, bound {:e}", checked.value, checked.bound))
}

#[track_caller]
fn assert_none(faults: &[String]) {
    assert!(faults.is_empty(), "{} wrong:\n{}", faults.len(), faults.join("\n"));
}

fn samples(backend: &mut dyn Backend, job: &mut Prepared, cache: Cache, count: usize) -> Vec<Sample> {
    (0..count).map(|_| backend.time(job, cache).unwrap()).collect()
}

/// Takes samples after a few that are not counted.
fn steady(backend: &mut dyn Backend, job: &mut Prepared, cache: Cache) -> Vec<Sample> {
    samples(backend, job, cache, 5);
    samples(backend, job, cache, 21)
}

fn median(values: impl IntoIterator<Item = f64>) -> f64 {
    upper_median(&mut values.into_iter().collect::<Vec<f64>>()).unwrap()
}

/// Locks the device, which other processes then use. Returns `None` without a device.
fn alone_with_device() -> Option<MutexGuard<'static, ()>> {
    start_alone().map(|(alone, _)| alone)
}

/// Returns the free bytes of device memory, from the error of a case that cannot fit.
fn free_bytes(backend: &mut dyn Backend) -> u128 {
    let case = Case::square("elementwise", 2_000_000, DType::F64, 1);
    match backend.prepare("fused", &case, &mut []).err() {
        Some(CellError::OutOfMemory { place: "device", free, .. }) => free,
        other => panic!("{other:?}"),
    }
}
