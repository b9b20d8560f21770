//! Copies, compile times, memory use and conditions that the device reports around the timed work.

use gpubench::backend::{self, Backend, DevicePhases, HostMemory, Options, Transfer, TransferMemory};
use gpubench::case::{Cache, Case, DType};
use gpubench::op;

use crate::{alone, median, skipped, start_alone, start_with};

/// The phases while a job was prepared, and from then until its answer was downloaded. Checks the answer.
fn phases(backend: &mut dyn Backend, variant: &str, case: &Case) -> [DevicePhases; 2] {
    let op = op::find(&case.op).unwrap();
    let inputs = op.inputs(case);
    backend.phases();
    let mut job = backend.prepare(variant, case, &mut inputs.clone()).unwrap();
    let preparing = backend.phases();
    backend.time(&mut *job, Cache::Cold).unwrap();
    let answer = job.answer().unwrap();
    let after = backend.phases();
    let rounding = backend::Accuracy::Ieee.rounding(case.dtype);
    assert!(op.check(case, &inputs, &answer, rounding).unwrap().is_precise(), "{case} cuda/{variant}");
    [preparing, after]
}

fn assert_plausible(transfer: &Transfer, bytes: u64, memory: HostMemory) {
    assert_eq!((transfer.bytes, transfer.memory), (bytes, memory));
    assert_eq!(transfer.host_s.len(), transfer.device_s.len(), "{transfer:?}");
    assert!(transfer.host_s.len() >= 2, "{transfer:?}");
    for (&host, &device) in transfer.host_s.iter().zip(&transfer.device_s) {
        assert!(device > 0.0 && device <= 1.01 * host + 2e-6, "{transfer:?}");
        // No bus or host memory is that fast, so the copy would not have been waited for.
        assert!(bytes as f64 / host < 1e12, "{transfer:?}");
        assert!(host < 10.0, "{transfer:?}");
    }
}

/// The sum of all repetitions by the host's clock.
fn spent_s(copies: &[Option<&Transfer>]) -> f64 {
    copies.iter().flatten().flat_map(|copy| &copy.host_s).sum()
}

#[test]
fn copies_and_memory_use_are_reported_for_each_kind_of_host_memory() {
    let _alone = alone();
    const N: u64 = 1500;
    for memory in TransferMemory::ALL {
        let Some(mut backend) = start_with(&Options { transfer: memory, ..Options::default() }) else {
            return;
        };
        // A smaller case first and last: page-locked memory must grow, and then serve smaller copies.
        for n in [31, N, 31] {
            let case = Case::square("matmul", n, DType::F32, 7);
            let [preparing, after] = phases(&mut *backend, "cublas", &case);
            let matrix = n * n * 4;
            let (upload, pinned) = (preparing.upload.as_ref().unwrap(), preparing.pinned_upload.as_ref());
            assert_plausible(upload, 2 * matrix, memory.main());
            assert_plausible(after.download.as_ref().unwrap(), matrix, memory.main());
            assert!(preparing.compile_and_copy_s >= spent_s(&[Some(upload), pinned]));
            assert_eq!((preparing.compile, after.upload), (None, None));
            let is_both = memory == TransferMemory::Both;
            let found = [pinned, after.pinned_download.as_ref()];
            assert_eq!(found.map(|copy| copy.is_some()), [is_both; 2], "{memory:?}");
            for (copy, bytes) in found.into_iter().zip([2 * matrix, matrix]) {
                copy.inspect(|copy| assert_plausible(copy, bytes, HostMemory::Pinned));
            }
            let peak = preparing.peak_device_bytes.unwrap();
            assert!((3 * matrix..1 << 30).contains(&peak), "{peak} bytes at N = {n}");
        }
    }
}

#[test]
#[expect(clippy::print_stderr, reason = "the rates of both kinds of memory are worth reading")]
fn pinned_copies_of_64_mib_next_to_pageable_ones_are_not_slower_than_half() {
    let Some((_alone, mut backend)) = start_alone() else { return };
    let case = Case::square("matmul", 4096, DType::F32, 7);
    // The answer is checked in there, after the copies of both kinds.
    let [preparing, after] = phases(&mut *backend, "cublas", &case);
    let pairs = [(preparing.upload, preparing.pinned_upload), (after.download, after.pinned_download)];
    for (pageable, pinned) in pairs {
        let (pageable, pinned) = (pageable.unwrap(), pinned.unwrap());
        assert_eq!((pageable.memory, pinned.memory), (HostMemory::Pageable, HostMemory::Pinned));
        assert_eq!(pageable.bytes, pinned.bytes);
        let [slow, fast] = [&pageable, &pinned].map(|copy| median(copy.host_s.iter().copied()));
        let gb_s = |seconds: f64| pageable.bytes as f64 / seconds / 1e9;
        eprintln!("{} bytes: pageable {:.1} GB/s, pinned {:.1} GB/s", pageable.bytes, gb_s(slow), gb_s(fast));
        assert!(fast < 2.0 * slow, "pinned {fast:e} s, pageable {slow:e} s");
    }
}

#[test]
fn every_job_that_uses_a_kernel_reports_its_compile_time() {
    let _alone = alone();
    let case = Case::square("elementwise", 100, DType::F32, 7);
    // The second backend finds the kernel in the cache on disk, and still reports its compile time.
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
fn device_conditions_are_reported_and_an_idle_device_has_no_other_processes() {
    let Some((_alone, mut backend)) = start_alone() else { return };
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
    let look = median((0..21).map(|_| {
        let start = std::time::Instant::now();
        backend.conditions();
        start.elapsed().as_secs_f64()
    }));
    eprintln!("a look at the device: {:.3} ms; {description}", look * 1e3);
}
