//! Exclusive use of the device under test, and helpers that run jobs on it.

use std::sync::{Mutex, MutexGuard, PoisonError};

use gpubench::backend::{self, Backend, Options, Prepared, Sample, Variant};
use gpubench::case::{Cache, Case, DType};
use gpubench::data::Operand;
use gpubench::error::CellError;
use gpubench::measure::stats::upper_median;
use gpubench::op;

/// Locked by each test, because tests share the device's memory pool, clocks and kernel cache.
pub(crate) static DEVICE: Mutex<()> = Mutex::new(());

pub(crate) fn alone() -> MutexGuard<'static, ()> {
    DEVICE.lock().unwrap_or_else(PoisonError::into_inner)
}

pub(crate) fn required() -> bool {
    std::env::var("GPUBENCH_REQUIRE").is_ok_and(|list| list.split(',').any(|word| word == "cuda"))
}

#[expect(clippy::print_stderr, reason = "a skipped test says why")]
pub(crate) fn skipped(what: &str, why: &str) {
    assert!(!required(), "{what}: {why}");
    eprintln!("skipped: {what}: {why}");
}

pub(crate) fn start() -> Option<Box<dyn Backend>> {
    start_with(&Options::default())
}

/// Locks the device and starts a backend on it. Returns `None` without a device.
pub(crate) fn start_alone() -> Option<(MutexGuard<'static, ()>, Box<dyn Backend>)> {
    let alone = alone();
    start().map(|backend| (alone, backend))
}

pub(crate) fn start_with(options: &Options) -> Option<Box<dyn Backend>> {
    let started = (backend::BACKENDS.find("cuda").unwrap().start)(options);
    started.map_err(|missing| skipped("cuda", &missing.reason)).ok()
}

pub(crate) fn variants() -> Vec<Variant> {
    (backend::BACKENDS.find("cuda").unwrap().variants)(&Options::default()).unwrap()
}

pub(crate) fn case(variant: &Variant, n: u64, dtype: DType) -> Case {
    let density = op::find(&variant.op).unwrap().default_density();
    Case { op: variant.op.to_string(), n, dtype, density, seed: 42 }
}

/// Prepares a job of a variant. Returns `None`, and says why, if the case is not supported here.
pub(crate) fn prepared(
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

pub(crate) fn samples(
    backend: &mut dyn Backend,
    job: &mut Prepared,
    cache: Cache,
    count: usize,
) -> Vec<Sample> {
    (0..count).map(|_| backend.time(job, cache).unwrap()).collect()
}

/// Takes samples after a few that are not counted.
pub(crate) fn steady(backend: &mut dyn Backend, job: &mut Prepared, cache: Cache) -> Vec<Sample> {
    samples(backend, job, cache, 5);
    samples(backend, job, cache, 21)
}

pub(crate) fn median(values: impl IntoIterator<Item = f64>) -> f64 {
    upper_median(&mut values.into_iter().collect::<Vec<f64>>()).unwrap()
}
