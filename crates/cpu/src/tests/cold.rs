//! Checks that every CPU variant supports samples with cold caches.

use gpubench_model::data::Values;
use gpubench_ops::{self as op, Checked};

use super::{for_each_variant, title, with_stack};
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
