//! Measures the peak rates of the CPUs: memory bandwidth with all threads, and large matrix products. `docs/peaks.md`
//! explains the figures.

mod lines;
mod memory;
mod products;

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use gpubench_backend::Peaks;
use gpubench_backend::host::memory::free_host_bytes;
use gpubench_backend::host::processors;
use gpubench_backend::host::user_cache::file_identity;
use gpubench_backend::host::wait_idle;
use gpubench_report::case::DType;
use serde_json::{Value, json};

use crate::libs::blas::BlasLibrary;
use crate::ops::variants::AvailableVariant;
use crate::simd;

/// Maximum seconds per bandwidth figure and implementation, not counting the first and the last pass.
const MEMORY_S: f64 = 0.1;
/// Maximum seconds for the products of one variant in one element type, not counting two executions per size.
const PRODUCTS_S: f64 = 0.1;

/// Two times agree if they differ by at most this share.
const AGREEMENT: f64 = 0.02;

/// Measures this worker's peaks in less than a second: the products of its `library` in `dtypes`, or, in the worker
/// without a library, memory and all other products. Figures that cannot be measured are omitted.
pub(crate) fn measure(
    threads: usize,
    kernels: &[AvailableVariant],
    library: Option<&str>,
    dtypes: &[DType],
) -> Peaks {
    let of_memory = if library.is_none() {
        let free = free_host_bytes().and_then(|bytes| u64::try_from(bytes).ok());
        memory::rates(processors::last_level_cache_bytes(), free, MEMORY_S)
    } else {
        Peaks::default()
    };
    // Complex products are compared with the rate of their parts.
    let matmul = dtypes
        .iter()
        .filter(|dtype| !dtype.is_complex())
        .filter_map(|dtype| Some((dtype.name().to_owned(), product(threads, kernels, library, *dtype)?)));
    Peaks { matmul: matmul.collect(), ..of_memory }
}

/// Returns the highest rate of a product by any default variant of this worker's `library`.
fn product(threads: usize, kernels: &[AvailableVariant], library: Option<&str>, dtype: DType) -> Option<f64> {
    let is_own = |listed: &&AvailableVariant| {
        let variant = &listed.variant;
        variant.op == "matmul" && variant.default && variant.library.as_deref() == library
    };
    let rates = kernels.iter().filter(is_own).filter_map(|kernel| {
        // Threads that the previous product left spinning for more work would slow this one.
        wait_idle::wait();
        products::rate(threads, kernel, dtype, PRODUCTS_S).ok()
    });
    rates.max_by(f64::total_cmp)
}

/// Returns what the figures depend on besides the host: the threads, the instructions, the element types, and the files of
/// the libraries. Libraries that the loader would find by name are represented by the loader's own list.
pub(crate) fn depend_on(
    threads: usize,
    libraries: &[Arc<BlasLibrary>],
    interleaved: &[usize],
    dtypes: &[DType],
) -> Value {
    let preferred = libraries.iter().filter(|library| library.is_preferred());
    let files = preferred.flat_map(|library| library.files()).filter(|path| path.is_absolute());
    let files: Vec<[String; 2]> =
        files.map(|path| [path.display().to_string(), file_identity(path)]).collect();
    json!({
        "threads": threads,
        "rayon_threads": rayon::current_num_threads(),
        "simd": simd::widest(),
        "dtypes": dtypes,
        "memory_interleaved_over_nodes": interleaved,
        "libraries": files,
        "loader": file_identity(Path::new("/etc/ld.so.cache")),
    })
}

/// Returns the shortest time of `measure`, which is repeated until the two shortest agree within 2 % or, after at least
/// two repetitions, `seconds` have passed.
pub(crate) fn shortest_s<E>(seconds: f64, mut measure: impl FnMut() -> Result<f64, E>) -> Result<f64, E> {
    let begun = Instant::now();
    let (mut shortest, mut second) = (measure()?, f64::INFINITY);
    loop {
        let next = measure()?;
        second = second.min(shortest.max(next));
        shortest = shortest.min(next);
        if second <= (1.0 + AGREEMENT) * shortest || begun.elapsed().as_secs_f64() >= seconds {
            return Ok(shortest);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the shortest of `times`, and how many of them were needed.
    fn needed(seconds: f64, times: &[f64]) -> (f64, usize) {
        let mut count = 0;
        let shortest = shortest_s(seconds, || {
            count += 1;
            times.get(count - 1).copied().ok_or("too many repetitions")
        });
        (shortest.unwrap(), count)
    }

    #[test]
    fn repetitions_end_when_the_two_shortest_agree_in_any_order() {
        assert_eq!(needed(60.0, &[1.0, 1.01, 0.5]), (1.0, 2));
        assert_eq!(needed(60.0, &[1.01, 1.0, 0.5]), (1.0, 2));
        assert_eq!(needed(60.0, &[1.5, 1.2, 1.0, 1.4, 1.01, 0.5]), (1.0, 5));
        assert_eq!(needed(60.0, &[1.0, 1.5, 1.2, 1.01, 0.5]), (1.0, 4));
    }

    #[test]
    fn without_time_there_are_two_repetitions() {
        assert_eq!(needed(0.0, &[2.0, 1.0, 0.5]), (1.0, 2));
    }
}
