//! What all fuzz targets share: the functions that they call, and the changes that they make.

#[path = "../../tests/fuzz/inputs/mod.rs"]
pub mod inputs;
#[path = "../../tests/fuzz/mutate.rs"]
mod mutate;

use libfuzzer_sys::fuzzer_mutate;
use mutate::Random;

/// Changes the first `size` bytes of `data`, by libFuzzer's own changes or by those of the test, and returns the new size.
pub fn mutate(data: &mut [u8], size: usize, max_size: usize, seed: u32, is_json: bool) -> usize {
    if seed.is_multiple_of(2) {
        return fuzzer_mutate(data, size, max_size);
    }
    let changed = mutate::mutated(&data[..size], is_json, &mut Random(seed.into()));
    let size = changed.len().min(max_size);
    data[..size].copy_from_slice(&changed[..size]);
    size
}
