//! Every CUDA variant is right at odd sizes and sets nothing up while it is sampled.

use std::env;
use std::time::SystemTime;

use gpubench::backend::{self, Backend, Options, Prepared, Variant};
use gpubench::case::{Cache, Case, DType};
use gpubench::data::generator::Stream;
use gpubench::error::CellError;
use gpubench::op;
use gpubench::shape::Shape;

use crate::fft::has_primes_up_to;
use crate::{alone, assert_none, case, prepared, samples, skipped, start, start_alone, variants};

const SIZES: [u64; 7] = [1, 2, 31, 100, 101, 333, 512];

/// A size at which reductions loop over several tiles per block, for the ops that only read and write.
const LARGE: u64 = 3001;
const STREAMING: [&str; 4] = ["elementwise", "sin", "reduction", "transfer"];
/// Sizes at which `moments_of_few` reduces an array in float32, with and without a second pack per lane and a remainder,
/// and the next one.
const TINY: [u64; 5] = [3, 11, 12, 16, 17];

/// Returns the sizes at which an op is tested. For `overhead` a size counts contexts or compilations, and for
/// `host-loop` its square counts launches.
fn sizes(op: &str) -> Vec<u64> {
    match op {
        "overhead" => vec![1, 2, 3],
        "host-loop" => vec![1, 2, 31, 100],
        op => {
            let tiny = TINY.into_iter().filter(|_| op == "reduction");
            SIZES.into_iter().chain(tiny).chain(STREAMING.contains(&op).then_some(LARGE)).collect()
        }
    }
}

/// The largest sizes of svd's `jacobi`, and of solve's `cholesky` in batches.
const LARGEST_OF_JACOBI: u64 = 64;
const LARGEST_IN_BATCHES: u64 = 64;

/// Returns whether a variant supports this size in full precision: fft's `hermitian` rejects prime factors above 43, svd's
/// `jacobi` large matrices, and cuSOLVER's Jacobi method loses digits as matrices grow.
fn does(variant: &Variant, n: u64) -> bool {
    let largest = match &*variant.name {
        "gesvdj" => 32,
        "jacobi" => LARGEST_OF_JACOBI,
        _ => u64::MAX,
    };
    if n > largest {
        return false;
    }
    variant.name != "hermitian" || has_primes_up_to(n, 43)
}

/// Returns every case of every variant.
fn cells() -> Vec<(Variant, Case)> {
    let mut cells = Vec::new();
    for variant in variants() {
        for n in sizes(&variant.op).into_iter().filter(|&n| does(&variant, n)) {
            cells.extend(variant.dtypes.iter().map(|dtype| (variant.clone(), case(&variant, n, *dtype))));
        }
    }
    let is_work = |case: &Case| op::find(&case.op).is_some_and(|op| op.nothing_to_compute(case).is_none());
    cells.retain(|(_, case)| is_work(case));
    cells
}

/// Describes how the device's and the host's times of a job disagree; `None` when they agree.
///
/// The two clocks may time different executions, so one disagreement can be chance: only a repeated one counts.
fn clocks_disagree(
    backend: &mut dyn Backend,
    job: &mut Prepared,
    cache: Cache,
) -> Result<Option<String>, CellError> {
    let mut disagreement = None;
    for _ in 0..3 {
        let sample = backend.time(job, cache)?;
        let (device, host) = (sample.device_s, sample.host_s);
        let agree = match device {
            None => job.traits.is_host_work && host > 0.0,
            Some(device) => device > 0.0 && device <= 1.5 * host,
        };
        if agree {
            return Ok(None);
        }
        disagreement =
            Some(format!("{cache}: {device:?} s on the device do not go with {host} s on the host"));
    }
    Ok(disagreement)
}

/// Describes why the variant is wrong in this case; `None` when it is right.
fn fault(backend: &mut dyn Backend, variant: &Variant, case: &Case) -> Result<Option<String>, CellError> {
    let op = op::find(&case.op).unwrap();
    let inputs = op.inputs(case);
    let mut job = backend.prepare(&variant.name, case, &mut inputs.clone())?;
    // Twice, because a job must be ready for the next execution.
    for cache in [Cache::Cold, Cache::Hot, Cache::Cold, Cache::Hot] {
        if let Some(disagreement) = clocks_disagree(backend, &mut *job, cache)? {
            return Ok(Some(disagreement));
        }
    }
    let checked = op.check(case, &inputs, &job.answer()?, variant.accuracy.rounding(case.dtype))?;
    Ok((!checked.is_precise()).then(|| format!("error {:e}, bound {:e}", checked.value, checked.bound)))
}

#[test]
fn every_variant_is_right_at_every_size() {
    let Some((_alone, mut backend)) = start_alone() else { return };
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
    assert_none(&faults);
}

/// Returns shapes of an op, as a report writes them: single rows and columns, both orders of sides, batches, layouts, odd sides, and
/// sides beyond a block of threads.
fn shapes(op: &str) -> &'static [&'static str] {
    match op {
        "matmul" => &[
            r#"{"m":1,"n":70,"k":33}"#,
            r#"{"m":70,"n":1,"k":33,"layout":"tn"}"#,
            r#"{"m":129,"n":65,"k":257,"layout":"nt"}"#,
            r#"{"m":512,"n":64,"k":1000,"layout":"tt"}"#,
            r#"{"m":5,"n":7,"k":3,"batch":1000,"layout":"tn"}"#,
            r#"{"m":64,"n":32,"k":48,"batch":17,"layout":"nt"}"#,
        ],
        "elementwise" | "sin" => {
            &[r#"{"rows":1,"cols":100003}"#, r#"{"rows":3001,"cols":7}"#, r#"{"rows":64,"cols":1000}"#]
        }
        "reduction" => &[
            r#"{"rows":1,"cols":100003}"#,
            r#"{"rows":3001,"cols":7}"#,
            r#"{"rows":1,"cols":1,"axis":0}"#,
            r#"{"rows":1,"cols":1,"axis":1}"#,
            r#"{"rows":33,"cols":7,"axis":0}"#,
            r#"{"rows":33,"cols":7,"axis":1}"#,
            r#"{"rows":100003,"cols":1,"axis":0}"#,
            r#"{"rows":100003,"cols":2,"axis":1}"#,
            r#"{"rows":100003,"cols":32,"axis":0}"#,
            r#"{"rows":100003,"cols":32,"axis":1}"#,
            r#"{"rows":100003,"cols":5,"axis":0}"#,
            r#"{"rows":1001,"cols":511,"axis":1}"#,
            r#"{"rows":1001,"cols":512,"axis":1}"#,
            r#"{"rows":1001,"cols":513,"axis":1}"#,
            r#"{"rows":1001,"cols":514,"axis":0}"#,
            r#"{"rows":3,"cols":100003,"axis":0}"#,
            r#"{"rows":3,"cols":100003,"axis":1}"#,
            r#"{"rows":3,"cols":1000000,"axis":1}"#,
            r#"{"rows":3000,"cols":4000,"axis":0}"#,
        ],
        "fft" => &[
            r#"{"nx":1000}"#,
            r#"{"nx":1,"ny":9}"#,
            r#"{"nx":9,"ny":1,"batch":3}"#,
            r#"{"nx":8,"batch":1001}"#,
            r#"{"nx":333,"batch":7}"#,
            r#"{"nx":100,"ny":33}"#,
            r#"{"nx":4,"ny":130,"batch":5}"#,
            r#"{"nx":5,"ny":6,"nz":7,"batch":11}"#,
            r#"{"nx":32,"ny":2,"nz":200}"#,
        ],
        "solve" => &[
            r#"{"n":100,"rhs":3}"#,
            r#"{"n":1,"rhs":5,"batch":3}"#,
            r#"{"n":8,"batch":1000}"#,
            r#"{"n":33,"rhs":7,"batch":11}"#,
            r#"{"n":64,"rhs":2,"batch":20}"#,
            r#"{"n":200,"batch":3}"#,
        ],
        "spgemm" => &[
            r#"{"m":1,"n":700,"k":3000}"#,
            r#"{"m":3001,"n":1,"k":700}"#,
            r#"{"m":20000,"n":7,"k":1000}"#,
            r#"{"m":7,"n":20000,"k":1000}"#,
            r#"{"m":129,"n":65,"k":257}"#,
        ],
        "spmv" => &[
            r#"{"m":1,"n":100003}"#,
            r#"{"m":100003,"n":1}"#,
            r#"{"m":100003,"n":70}"#,
            r#"{"m":70,"n":100003}"#,
            r#"{"m":129,"n":65}"#,
        ],
        "svd" => &[
            r#"{"m":300,"n":7}"#,
            r#"{"m":7,"n":300}"#,
            r#"{"m":32,"n":16}"#,
            r#"{"m":1,"n":9,"batch":2}"#,
            r#"{"m":8,"n":8,"batch":1000}"#,
            r#"{"m":32,"n":17,"batch":5}"#,
            r#"{"m":5,"n":32,"batch":6}"#,
            r#"{"m":64,"n":64,"batch":20}"#,
            r#"{"m":50,"n":3,"batch":7}"#,
            r#"{"m":100,"n":40,"batch":3}"#,
        ],
        _ => &[],
    }
}

#[test]
fn every_variant_that_takes_shapes_is_right_at_each() {
    let Some((_alone, mut backend)) = start_alone() else { return };
    let (mut faults, mut tried) = (Vec::new(), 0);
    for variant in variants() {
        for shape in shapes(&variant.op) {
            let shape: Shape = serde_json::from_str(shape).unwrap();
            let n = shape.largest();
            let shaped = |dtype| Case { shape: Some(shape.clone()), ..case(&variant, n, dtype) };
            for case in variant.dtypes.iter().map(|dtype| shaped(*dtype)) {
                let is_beyond = variant.name == "cholesky" && n > LARGEST_IN_BATCHES;
                if !variant.shapes.have(&case) || !does(&variant, n) || is_beyond {
                    continue;
                }
                tried += 1;
                let cell = format!("{case} {shape} cuda/{}", variant.name);
                match fault(&mut *backend, &variant, &case) {
                    Ok(None) => {}
                    Ok(Some(fault)) => faults.push(format!("{cell}: {fault}")),
                    Err(CellError::Unavailable(_)) if variant.name == "three-pass" => {}
                    Err(error) => faults.push(format!("{cell}: {error}")),
                }
            }
        }
    }
    assert!(tried > 100, "{tried} cells have a shape");
    assert!(faults.is_empty(), "{} wrong:\n{}", faults.len(), faults.join("\n"));
}

/// Returns sizes up to 1024 drawn at random for an op, as many small ones as large ones: with uniform logarithms.
fn random_sizes(seed: u64, op: u64) -> impl Iterator<Item = u64> {
    let stream = Stream::new(seed, op);
    (0..40).map(move |index| 1024f64.powf(stream.uniform(index)).round() as u64)
}

#[test]
fn auto_is_right_at_forty_random_sizes_of_each_op() {
    let Some((_alone, mut backend)) = start_alone() else { return };
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap();
    let seed = env::var("GPUBENCH_TEST_SEED").map_or(now.as_secs(), |seed| seed.parse().unwrap());
    let mut faults = Vec::new();
    for (number, variant) in variants().into_iter().filter(|variant| variant.name == "auto").enumerate() {
        for n in random_sizes(seed, number as u64) {
            for dtype in variant.dtypes.iter() {
                let case = case(&variant, n, *dtype);
                let found =
                    fault(&mut *backend, &variant, &case).unwrap_or_else(|error| Some(error.to_string()));
                faults.extend(found.map(|fault| format!("{case}: {fault}")));
            }
        }
    }
    assert!(faults.is_empty(), "wrong with GPUBENCH_TEST_SEED={seed}:\n{}", faults.join("\n"));
}

/// Checks two jobs of different sizes that exist together and execute alternately.
fn alternately(backend: &mut dyn Backend, variant: &Variant, dtype: DType) -> Result<(), CellError> {
    let both = if variant.name == "jacobi" { [LARGEST_OF_JACOBI, 7] } else { [1024, 100] };
    let cases = both.map(|n| case(variant, n, dtype));
    let op = op::find(&variant.op).unwrap();
    let inputs = cases.each_ref().map(|case| op.inputs(case));
    let mut jobs = Vec::new();
    for (case, inputs) in cases.iter().zip(&inputs) {
        jobs.push(backend.prepare(&variant.name, case, &mut inputs.to_vec())?);
    }
    for cache in [Cache::Hot, Cache::Cold] {
        for job in &mut jobs {
            backend.time(&mut **job, cache)?;
        }
    }
    for ((job, case), inputs) in jobs.iter_mut().zip(&cases).zip(&inputs) {
        let checked = op.check(case, inputs, &job.answer()?, variant.accuracy.rounding(dtype))?;
        assert!(checked.is_precise(), "{case} cuda/{}: error {:e}", variant.name, checked.value);
    }
    Ok(())
}

#[test]
fn jobs_of_different_sizes_do_not_affect_each_other() {
    let Some((_alone, mut backend)) = start_alone() else { return };
    for variant in variants().iter().filter(|v| sizes(&v.op).contains(&512) && v.name != "gesvdj") {
        for dtype in variant.dtypes.iter() {
            match alternately(&mut *backend, variant, *dtype) {
                Ok(()) => {}
                Err(CellError::Unavailable(missing)) => skipped(&variant.name, &missing.reason),
                Err(error) => panic!("{}/{} {dtype}: {error}", variant.op, variant.name),
            }
        }
    }
}

#[test]
fn sampling_allocates_plans_and_compiles_nothing() {
    let Some((_alone, mut backend)) = start_alone() else { return };
    for variant in variants() {
        for dtype in variant.dtypes.iter() {
            let supported = sizes(&variant.op).into_iter().filter(|n| *n <= 100 && does(&variant, *n));
            let most = supported.max().unwrap();
            let case = case(&variant, most, *dtype);
            let inputs = op::find(&case.op).unwrap().inputs(&case);
            let Some(mut job) = prepared(&mut *backend, &variant, &case, &inputs) else { continue };
            // The first executions load code and record launches; a run has judged and warmed up by then.
            samples(&mut *backend, &mut *job, Cache::Hot, 4);
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
fn a_case_that_exceeds_device_memory_is_rejected_with_both_sizes() {
    let Some((_alone, mut backend)) = start_alone() else { return };
    for (op, variant) in
        [("matmul", "cublas"), ("elementwise", "fused"), ("sin", "fused"), ("reduction", "one-pass")]
    {
        let case = Case::square(op, 2_000_000, DType::F64, 1);
        match backend.prepare(variant, &case, &mut []).err() {
            Some(CellError::OutOfMemory { place: "device", needed: Some(needed), free }) => {
                assert!(needed > free && free > 0)
            }
            other => panic!("{op}: {other:?}"),
        }
    }
}

#[test]
fn an_invalid_device_number_is_rejected_with_the_number_of_devices() {
    let _alone = alone();
    if start().is_none() {
        return;
    }
    let options = Options { device: 4096, ..Options::default() };
    let missing = (backend::BACKENDS.find("cuda").unwrap().start)(&options).err().unwrap();
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
