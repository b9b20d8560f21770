//! Measures the peak rates of the CPUs: memory bandwidth with all threads, and large matrix products. `docs/peaks.md`
//! explains the figures.

mod line;
mod lines;
mod memory;
mod products;
mod repeat;
mod streaming;

use std::path::Path;
use std::sync::Arc;

use gpubench_backend::Peaks;
use gpubench_host::memory::free_host_bytes;
use gpubench_host::processors;
use gpubench_host::user_cache::file_identity;
use gpubench_host::wait_idle;
use gpubench_model::case::DType;
use serde_json::{Value, json};

use crate::context::Cpu;
use crate::libs::blas::Library;
use crate::ops::available::AvailableVariant;
use crate::simd;

/// Maximum seconds per bandwidth figure and implementation, not counting the first and the last pass.
const MEMORY_S: f64 = 0.1;
/// Maximum seconds for the products of one variant in one element type, not counting two executions per size.
const PRODUCTS_S: f64 = 0.1;

/// Measures this worker's peaks in less than a second: the products of its `library` in `dtypes`, or, in the worker
/// without a library, memory and all other products. Figures that cannot be measured are omitted.
pub(crate) fn measure(
    cpu: &Cpu,
    kernels: &[AvailableVariant],
    library: Option<&str>,
    dtypes: &[DType],
) -> Peaks {
    let of_memory = if library.is_none() { memory_rates() } else { Peaks::default() };
    let matmul = dtypes
        .iter()
        .filter_map(|dtype| Some((dtype.name().to_owned(), product(cpu, kernels, library, *dtype)?)));
    Peaks { matmul: matmul.collect(), ..of_memory }
}

fn memory_rates() -> Peaks {
    let free = free_host_bytes().and_then(|bytes| u64::try_from(bytes).ok());
    memory::rates(processors::last_level_cache_bytes(), free, MEMORY_S)
}

/// Returns the highest rate of a product by any default variant of this worker's `library`.
fn product(cpu: &Cpu, kernels: &[AvailableVariant], library: Option<&str>, dtype: DType) -> Option<f64> {
    let is_own = |listed: &&AvailableVariant| {
        let variant = &listed.variant;
        variant.op == "matmul" && variant.default && variant.library.as_deref() == library
    };
    let rates = kernels.iter().filter(is_own).filter_map(|kernel| {
        // Threads that the previous product left spinning for more work would slow this one.
        wait_idle::wait();
        products::rate(cpu, kernel, dtype, PRODUCTS_S).ok()
    });
    rates.max_by(f64::total_cmp)
}

/// Returns what the figures depend on besides the host: the threads, the instructions, the element types, and the files of
/// the libraries.
/// Libraries that the loader would find by name are represented by the loader's own list.
pub(crate) fn depend_on(
    cpu: &Cpu,
    libraries: &[Arc<Library>],
    interleaved: &[usize],
    dtypes: &[DType],
) -> Value {
    let preferred = libraries.iter().filter(|library| library.is_preferred());
    let files = preferred.flat_map(|library| library.files()).filter(|path| path.is_absolute());
    let files: Vec<[String; 2]> =
        files.map(|path| [path.display().to_string(), file_identity(path)]).collect();
    json!({
        "threads": cpu.threads,
        "rayon_threads": rayon::current_num_threads(),
        "simd": simd::widest(),
        "dtypes": dtypes,
        "memory_interleaved_over_nodes": interleaved,
        "libraries": files,
        "loader": file_identity(Path::new("/etc/ld.so.cache")),
    })
}
