//! What is timed after another variant finds the vector registers as it would in a program of its own.

use gpubench_host::vector_registers;
use gpubench_model::case::DType;
use gpubench_ops as op;

use crate::*;

/// Returns whether a thread of the pool, or this one, has upper halves in use.
fn some_in_use() -> bool {
    let of_pool = rayon::broadcast(|_| vector_registers::are_in_use());
    of_pool.into_iter().chain([vector_registers::are_in_use()]).any(|in_use| in_use == Some(true))
}

#[test]
#[expect(clippy::print_stderr, reason = "names the variants that leave them in use")]
fn every_variant_is_timed_with_clear_vector_registers() {
    let mut cpu = start(&Options { threads: Some(2), ..Options::default() }).unwrap();
    for variant in (REGISTRATION.variants)(&Options::default()).unwrap() {
        let op = op::find(&variant.op).unwrap();
        let case =
            Case { op: op.name().into(), n: 200, dtype: DType::F32, density: op.default_density(), seed: 42 };
        let mut inputs = op.inputs(&case);
        let Ok(mut job) = cpu.prepare(&variant.name, &case, &mut inputs) else { continue };
        cpu.settle();
        assert!(!some_in_use(), "{}/{} finds them in use", variant.op, variant.name);
        cpu.time(&mut job, Cache::Hot).unwrap();
        if some_in_use() {
            eprintln!("{}/{} leaves them in use", variant.op, variant.name);
        }
    }
}
