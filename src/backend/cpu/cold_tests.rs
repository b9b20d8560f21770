//! What every CPU variant owes to a sample with cold caches.

use super::*;
use crate::case::DType;
use crate::data::Values;
use crate::op;

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
fn for_each_variant(check: impl Fn(&mut dyn Backend, &mut dyn Job, &str, &[Operand])) {
    let mut cpu = start(&Options { threads: Some(2), ..Options::default() }).unwrap();
    for variant in (REGISTRATION.variants)(&Options::default()).unwrap() {
        let sparse = ["spgemm", "spmv"].contains(&variant.op.as_ref());
        let density = sparse.then_some(0.1);
        let case = Case { op: variant.op.to_string(), n: 200, dtype: DType::F32, density, seed: 7 };
        let inputs = op::find(&variant.op).unwrap().inputs(&case);
        match cpu.prepare(&variant.name, &case, &inputs) {
            Ok(mut job) => {
                check(cpu.as_mut(), job.as_mut(), &format!("{}/{}", variant.op, variant.name), &inputs);
            }
            Err(CellError::Unavailable(_)) => {}
            Err(problem) => panic!("{case} {}: {problem}", variant.name),
        }
    }
}

/// LAPACK asks for a stack as large as a process's first one.
fn with_stack(test: fn()) {
    std::thread::Builder::new().stack_size(8 << 20).spawn(test).unwrap().join().unwrap();
}

#[test]
fn every_variant_shows_the_memory_of_its_operands_and_of_its_answer() {
    with_stack(|| {
        for_each_variant(|_, job, name, inputs| {
            job.reset().unwrap();
            job.execute().unwrap();
            // A handful of numbers, such as a sum, need not be shown.
            let answer: usize = job.answer().unwrap().iter().map(bytes).filter(|&bytes| bytes > 64).sum();
            let mut shown = 0;
            job.buffers(&mut |memory| shown += memory.len());
            let owed = answer + inputs.iter().map(bytes).sum::<usize>();
            // A solution lies where the right-hand side did.
            let owed = if name.starts_with("solve") { owed - answer } else { owed };
            assert!(shown >= owed, "{name} shows {shown} bytes of {owed}");
        });
    });
}

#[test]
fn cold_samples_leave_every_answer_as_it_was() {
    with_stack(|| {
        for_each_variant(|cpu, job, name, _| {
            job.reset().unwrap();
            job.execute().unwrap();
            let before = job.answer().unwrap();
            let sample = cpu.time(job, Cache::Cold).unwrap();
            let after = job.answer().unwrap();
            assert!(sample.host_s > 0.0);
            assert_eq!(before.len(), after.len(), "{name}");
            for (before, after) in before.iter().zip(&after) {
                assert_eq!(bytes(before), bytes(after), "{name}");
                if let (Values::F32(before), Values::F32(after)) = (before.values(), after.values()) {
                    let apart = before.iter().zip(after).map(|(x, y)| (x - y).abs()).fold(0.0, f32::max);
                    let largest = before.iter().fold(0.0f32, |most, x| most.max(x.abs()));
                    assert!(apart <= 1e-2 * largest, "{name}: {apart} of {largest}");
                }
            }
        });
    });
}
