//! The peaks of a real device are complete and plausible, and measuring them frees its memory.

use std::time::Instant;

use crate::{alone, free_bytes, start, start_alone};

#[test]
#[expect(clippy::print_stderr, reason = "the figures are worth reading")]
fn every_peak_is_measured_and_plausible_and_memory_is_freed() {
    let Some((_alone, mut backend)) = start_alone() else { return };
    let before = free_bytes(&mut *backend);
    let mut runs = vec![];
    for _ in 0..2 {
        let begun = Instant::now();
        let peaks = backend.peaks().unwrap().expect("a device has peaks");
        eprintln!("{:.2} s: {peaks:?}", begun.elapsed().as_secs_f64());
        assert_eq!(peaks.clone().plausible(), Some(peaks.clone()));
        runs.push((peaks, begun.elapsed().as_secs_f64(), free_bytes(&mut *backend)));
    }
    let (first, _, after_first) = &runs[0];
    let (second, second_s, after_second) = &runs[1];

    let [read, copy, triad] = [first.read, first.copy, first.triad].map(Option::unwrap);
    for (what, rate) in [("read", read), ("copy", copy), ("triad", triad)] {
        assert!((1e10..2e13).contains(&rate), "{what}: {rate:e}");
    }
    // Writing is no faster than reading, and at most half as fast.
    assert!(copy <= 1.1 * read && copy >= 0.5 * read, "{first:?}");
    assert!(triad <= 1.1 * read && triad >= 0.5 * read, "{first:?}");

    let product = |word: &str| first.matmul.get(word).copied().unwrap_or(0.0);
    for word in ["f32", "f64", "tf32", "f16", "bf16"] {
        assert!((1e10..1e16).contains(&product(word)), "{word}: {first:?}");
    }
    assert!(product("f16") > product("f32") && product("bf16") > product("f32"), "{first:?}");
    assert!(product("tf32") > 0.9 * product("f32"), "{first:?}");

    for rates in [first.upload.unwrap(), first.download.unwrap()] {
        assert!(rates.pinned > 1e9 && rates.pageable > 1e8, "{first:?}");
        assert!(rates.pinned >= 0.9 * rates.pageable && rates.pinned < read, "{first:?}");
    }

    // The second measurement finds all libraries loaded and all kernels compiled.
    assert!(*second_s < 3.0, "peaks take {second_s} s");
    let apart = (second.read.unwrap() / read - 1.0).abs();
    assert!(apart < 0.05, "reads differ by {apart}: {first:?} {second:?}");
    // Only the code of libraries and kernels remains; the arrays had gigabytes.
    assert!(before.saturating_sub(*after_first) < 1 << 30, "{before} bytes were free, {after_first} are");
    assert!(after_first.abs_diff(*after_second) < 64 << 20, "{after_first}, then {after_second} bytes");
}

#[test]
fn the_state_that_peaks_depend_on_is_the_same_at_every_start() {
    let _alone = alone();
    let Some(first) = start().map(|backend| backend.peaks_depend_on()) else { return };
    let Some(second) = start().map(|backend| backend.peaks_depend_on()) else { return };
    assert_eq!(first, second);
    let state = first.unwrap();
    for key in ["name", "pci_bus_id", "cuda_version", "memory_bytes", "cublas"] {
        assert!(!state[key].is_null(), "{key}: {state}");
    }
}
