//! The program of every fuzz target: its name is that of the target.

#![no_main]

use std::sync::LazyLock;

use gpubench_fuzz::inputs::{Formats, TARGETS, Target};
use gpubench_fuzz::mutate;
use libfuzzer_sys::{fuzz_mutator, fuzz_target};

static TARGET: LazyLock<&Target> = LazyLock::new(|| {
    TARGETS.iter().find(|target| target.name == env!("CARGO_BIN_NAME")).expect("the program has the name of a target")
});

fuzz_target!(|data: &[u8]| (TARGET.read)(data, Formats::one_for(data)));

fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    mutate(data, size, max_size, seed, TARGET.is_json)
});
