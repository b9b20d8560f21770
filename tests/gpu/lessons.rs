//! The ops about copies and launches show the effects that they are meant to show, and leave the device intact.

use gpubench::backend::{Backend, Options, TransferMemory};
use gpubench::case::{Cache, Case, DType};
use gpubench::op;

use crate::{alone, median, samples, start_alone, start_with};

/// Host seconds of a hot execution, after checking the answer.
fn host_s(backend: &mut dyn Backend, op: &str, variant: &str, n: u64) -> f64 {
    let case = Case::square(op, n, DType::F32, 42);
    let op = op::find(op).unwrap();
    let inputs = op.inputs(&case);
    let mut job = backend.prepare(variant, &case, &mut inputs.clone()).unwrap();
    samples(backend, &mut *job, Cache::Hot, 2);
    let taken = samples(backend, &mut *job, Cache::Hot, 9);
    let rounding = gpubench::backend::Accuracy::Ieee.rounding(case.dtype);
    let checked = op.check(&case, &inputs, &job.answer().unwrap(), rounding).unwrap();
    assert!(checked.is_precise(), "{case} cuda/{variant}: {checked:?}");
    median(taken.iter().map(|sample| sample.host_s))
}

#[test]
fn a_graph_costs_less_than_its_launches_and_the_cache_less_than_the_compiler() {
    let Some((_alone, mut backend)) = start_alone() else { return };
    let mut overhead = |variant, n| host_s(&mut *backend, "overhead", variant, n);
    let [launches, graph] = ["launch", "graph"].map(|variant| overhead(variant, 100));
    assert!(graph < launches, "graph {graph:e} s, launches {launches:e} s");
    let [compiled, kept] = ["compile", "compile-cached"].map(|variant| overhead(variant, 1));
    assert!(kept < 0.5 * compiled && compiled > 1e-3, "compiled {compiled:e} s, kept {kept:e} s");
}

#[test]
fn creating_a_second_context_leaves_the_first_usable() {
    let Some((_alone, mut backend)) = start_alone() else { return };
    let before = backend.setup_counts();
    let context = host_s(&mut *backend, "overhead", "context", 2);
    assert!(context > 1e-3, "{context:e} s");
    assert!(backend.setup_counts().since(before).is_zero());
    // Launches, allocations and copies of the primary context, all checked.
    host_s(&mut *backend, "elementwise", "fused", 500);
    host_s(&mut *backend, "matmul", "cublas", 500);
}

#[test]
fn contexts_and_compilations_that_would_take_minutes_are_rejected() {
    let Some((_alone, mut backend)) = start_alone() else { return };
    for variant in ["context", "compile", "compile-cached"] {
        let case = Case::square("overhead", 1000, DType::F32, 1);
        let refused = backend.prepare(variant, &case, &mut []).err().unwrap();
        assert!(refused.to_string().contains("take minutes"), "{variant}: {refused}");
    }
}

#[test]
fn page_locked_memory_is_no_slower_and_one_copy_beats_a_hundred() {
    let _alone = alone();
    for transfer in TransferMemory::ALL {
        let Some(mut backend) = start_with(&Options { transfer, ..Options::default() }) else { return };
        for way in ["h2d", "d2h"] {
            let [pageable, pinned] = ["pageable", "pinned"]
                .map(|memory| host_s(&mut *backend, "transfer", &format!("{way}-{memory}"), 4096));
            assert!(pinned < 1.1 * pageable, "{way}: pinned {pinned:e} s, pageable {pageable:e} s");
        }
        let [once, each] =
            ["copy-once", "copy-each"].map(|variant| host_s(&mut *backend, "transfer-loop", variant, 1000));
        assert!(each > 2.0 * once, "once {once:e} s, each {each:e} s");
    }
}

#[test]
fn a_launch_per_element_is_the_worst_case() {
    let Some((_alone, mut backend)) = start_alone() else { return };
    let [each, fused] =
        ["launch-per-element", "fused"].map(|variant| host_s(&mut *backend, "host-loop", variant, 100));
    assert!(each > 50.0 * fused, "each {each:e} s, fused {fused:e} s");
}
