//! Checks that every CPU variant supports samples with cold caches.

use std::collections::BTreeMap;

use gpubench_backend::Variant;
use gpubench_model::case::DType;
use gpubench_model::data::Values;
use gpubench_ops::{self as op, Checked};

use crate::*;

fn bytes(operand: &Operand) -> usize {
    let values = match operand.values() {
        Values::F32(values) => size_of_val(&values[..]),
        Values::F64(values) => size_of_val(&values[..]),
        Values::C32(values) => size_of_val(&values[..]),
        Values::C64(values) => size_of_val(&values[..]),
    };
    match operand {
        Operand::Dense(_) => values,
        Operand::Csr(csr) => values + size_of_val(&csr.indptr[..]) + size_of_val(&csr.indices[..]),
    }
}

/// Every variant whose library is present, prepared on two threads, with its operands.
fn for_each_variant(check: impl Fn(&mut dyn Backend, &mut Prepared, &Case, &Variant, &[Operand])) {
    let started = |library: Option<String>| {
        start(&Options { threads: Some(2), library, ..Options::default() }).unwrap()
    };
    let mut backends = BTreeMap::new();
    for variant in (REGISTRATION.variants)(&Options::default()).unwrap() {
        let library = variant.library.as_deref().map(str::to_owned);
        let cpu = backends.entry(library.clone()).or_insert_with(|| started(library));
        let sparse = ["spgemm", "spmv"].contains(&variant.op.as_ref());
        let density = sparse.then_some(0.1);
        let case = Case { op: variant.op.to_string(), n: 200, dtype: DType::F32, density, seed: 7 };
        let inputs = op::find(&variant.op).unwrap().inputs(&case);
        match cpu.prepare(&variant.name, &case, &inputs) {
            Ok(mut job) => check(cpu.as_mut(), job.as_mut(), &case, &variant, &inputs),
            Err(CellError::Unavailable(_)) => {}
            Err(problem) => panic!("{case} {}: {problem}", variant.name),
        }
    }
}

fn title(variant: &Variant) -> String {
    format!("{}/{}", variant.op, variant.name)
}

/// LAPACK needs a stack as large as that of a main thread.
fn with_stack(test: fn()) {
    std::thread::Builder::new().stack_size(8 << 20).spawn(test).unwrap().join().unwrap();
}

#[test]
fn every_variant_shows_the_memory_of_its_operands_and_of_its_answer() {
    with_stack(|| {
        for_each_variant(|_, job, _, variant, inputs| {
            job.reset().unwrap();
            job.execute().unwrap();
            // A handful of numbers, such as a sum, need not be shown.
            let answer: usize = job.answer().unwrap().iter().map(bytes).filter(|&bytes| bytes > 64).sum();
            let mut shown = 0;
            job.buffers(&mut |memory| shown += memory.len());
            let owed = answer + inputs.iter().map(bytes).sum::<usize>();
            // A solution replaces the right-hand side.
            let owed = if variant.op == "solve" { owed - answer } else { owed };
            assert!(shown >= owed, "{} shows {shown} bytes of {owed}", title(variant));
        });
    });
}

#[test]
fn the_answer_of_a_cold_sample_is_right() {
    with_stack(|| {
        for_each_variant(|cpu, job, case, variant, inputs| {
            let sample = cpu.time(job, Cache::Cold).unwrap();
            assert!(sample.host_s > 0.0);
            // Running sums in float32 are not right at this size.
            if title(variant) == "reduction/ndarray" {
                return;
            }
            let rounding = variant.accuracy.rounding(case.dtype);
            // Not the previous answer: rounding may change the signs of singular vectors.
            let checked = op::find(&case.op).unwrap().check(case, inputs, &job.answer().unwrap(), rounding);
            assert!(checked.as_ref().is_ok_and(Checked::is_right), "{}: {checked:?}", title(variant));
        });
    });
}
