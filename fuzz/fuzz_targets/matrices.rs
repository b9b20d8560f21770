#![no_main]

use gpubench_fuzz::inputs::{self, Formats};
use gpubench_fuzz::mutate;
use libfuzzer_sys::{fuzz_mutator, fuzz_target};

fuzz_target!(|data: &[u8]| inputs::matrices::read(data, Formats::one_for(data)));

fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    mutate(data, size, max_size, seed, false)
});
