//! Every CPU variant's answer stays below half of its bound.

use std::collections::BTreeMap;

use gpubench_model::case::DType;
use gpubench_ops as op;

use crate::*;

/// Sizes at which an op's variants are judged.
type Sizes = fn(&str) -> &'static [u64];

/// Returns the problems of every available variant's answers, and prints how close each comes to its bound.
#[expect(clippy::print_stderr, reason = "the figures of docs/checks.md")]
fn faults(sizes: Sizes, dtypes: &[DType]) -> Vec<String> {
    let started = |library: Option<String>| {
        start(&Options { threads: Some(2), library, ..Options::default() }).unwrap()
    };
    let (mut backends, mut faults) = (BTreeMap::new(), vec![]);
    for variant in (REGISTRATION.variants)(&Options::default()).unwrap() {
        let library = variant.library.as_deref().map(str::to_owned);
        let cpu = backends.entry(library.clone()).or_insert_with(|| started(library));
        let op = op::find(&variant.op).unwrap();
        // One running sum in float32 is not a right answer; another test covers it.
        if (variant.op.as_ref(), variant.name.as_ref()) == ("reduction", "ndarray") {
            continue;
        }
        for (&n, &dtype) in sizes(op.name()).iter().flat_map(|n| dtypes.iter().map(move |dtype| (n, dtype))) {
            let case = Case { op: op.name().into(), n, dtype, density: op.default_density(), seed: 42 };
            let inputs = op.inputs(&case);
            let mut job = match cpu.prepare(&variant.name, &case, &mut inputs.clone()) {
                Ok(job) => job,
                Err(CellError::Unavailable(_)) => continue,
                Err(problem) => panic!("{case} {}: {problem}", variant.name),
            };
            cpu.time(job.as_mut(), Cache::Hot).unwrap();
            let rounding = variant.accuracy.rounding(dtype);
            let checked = op.check(&case, &inputs, &job.answer().unwrap(), rounding).unwrap();
            let line = format!("{case} {}: {:.2e} of {:.2e}", variant.name, checked.value, checked.bound);
            eprintln!("{:.3} {line}", checked.value / checked.bound);
            if checked.value > 0.5 * checked.bound {
                faults.push(line);
            }
        }
    }
    faults
}

fn assert_room_to_spare(sizes: Sizes, dtypes: &'static [DType]) {
    let run = move || {
        let faults = faults(sizes, dtypes);
        assert!(faults.is_empty(), "{} near their bounds:\n{}", faults.len(), faults.join("\n"));
    };
    // LAPACK needs a stack as large as that of a main thread.
    std::thread::Builder::new().stack_size(8 << 20).spawn(run).unwrap().join().unwrap();
}

#[test]
fn every_variant_stays_below_half_of_its_bound() {
    let sizes: Sizes = |op| match op {
        "overhead" => &[],
        "host-loop" => &[10],
        "svd" => &[1, 2, 31, 100, 200],
        _ => &[1, 2, 31, 100, 500],
    };
    assert_room_to_spare(sizes, DType::ALL);
}

#[test]
#[ignore = "some minutes: every size of the article"]
fn every_variant_stays_below_half_of_its_bound_at_the_articles_sizes() {
    let sizes: Sizes = |op| match op {
        "matmul" | "elementwise" | "sin" | "reduction" => &[100, 500, 1000, 5000, 10000],
        "transfer-loop" => &[1000],
        "fft" | "solve" | "spgemm" | "spmv" | "svd" => &[100, 500, 512, 1024, 2048],
        _ => &[],
    };
    assert_room_to_spare(sizes, &[DType::F32]);
}

#[test]
fn running_sums_in_float32_are_incorrect_and_those_in_float64_are_not() {
    let mut cpu = start(&Options { threads: Some(1), ..Options::default() }).unwrap();
    let reduction = op::find("reduction").unwrap();
    for (n, dtype, is_right) in [(1000, DType::F32, false), (2000, DType::F32, false), (31, DType::F32, true)]
    {
        let case = Case { op: "reduction".into(), n, dtype, density: None, seed: 42 };
        let inputs = reduction.inputs(&case);
        let mut job = cpu.prepare("ndarray", &case, &mut inputs.clone()).unwrap();
        cpu.time(job.as_mut(), Cache::Hot).unwrap();
        let rounding = gpubench_backend::Accuracy::Ieee.rounding(dtype);
        let checked = reduction.check(&case, &inputs, &job.answer().unwrap(), rounding).unwrap();
        assert_eq!(checked.is_right(), is_right, "{case}: {checked:?}");
    }
}
