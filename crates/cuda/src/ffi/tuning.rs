//! Choices that depend on the device: starts and grids of launches, the division of on-chip memory, and the fastest of a
//! library's algorithms.

use std::time::Instant;

use cudarc::driver::CudaFunction;
use cudarc::driver::sys::CUfunction_attribute::CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT;

use super::launch::{BLOCK, LaunchShape, Start};
use crate::{Cuda, Result, driver};

/// The first compute capability with [`Start::Early`].
const FIRST_WITH_EARLY: i32 = 90;

/// Returns the earliest start that the device supports for a kernel that waits for the one before it.
pub fn earliest_start(cuda: &Cuda) -> Start {
    let early = cuda.capability().is_some_and(|chip| chip >= FIRST_WITH_EARLY);
    if early { Start::Early } else { Start::InOrder }
}

/// Returns the blocks for a grid-stride loop over `items`, one per thread and step: enough to fill the device.
pub fn grid(cuda: &Cuda, items: usize) -> u32 {
    const BLOCKS_PER_MULTIPROCESSOR: u32 = 32;
    let blocks = u32::try_from(items.div_ceil(BLOCK as usize)).unwrap_or(u32::MAX);
    blocks.clamp(1, cuda.multiprocessors().saturating_mul(BLOCKS_PER_MULTIPROCESSOR))
}

/// Returns the most blocks of that shape that the whole device can run at the same time, which is the largest
/// cooperative grid. Returns 0 if the device does not support cooperative launches.
///
/// # Errors
/// The driver rejects the shape.
pub fn resident_blocks(cuda: &Cuda, function: &CudaFunction, threads: u32, shared: u32) -> Result<u32> {
    if !cuda.launches_cooperatively() {
        return Ok(0);
    }
    Ok(blocks_per_multiprocessor(function, threads, shared)?.saturating_mul(cuda.multiprocessors()))
}

/// Returns the most blocks of that shape that a multiprocessor can run at the same time.
fn blocks_per_multiprocessor(function: &CudaFunction, threads: u32, shared: u32) -> Result<u32> {
    function
        .occupancy_max_active_blocks_per_multiprocessor(threads, shared as usize, None)
        .map_err(driver("cuOccupancyMaxActiveBlocksPerMultiprocessor"))
}

/// Divides the memory of a multiprocessor into L1 cache and shared memory in the same way for two kernels that follow
/// each other. The driver's own choice for each may differ, and the second kernel then waits for the change.
///
/// Requests as much shared memory as the kernel that needs more. If each has at most one block per multiprocessor and the
/// second may start early, it requests the sum: then blocks of both run at the same time.
///
/// # Errors
/// The driver rejects a shape.
pub fn divide_equally(cuda: &Cuda, kernels: [(&CudaFunction, LaunchShape); 2]) -> Result<()> {
    /// What the driver takes per block besides its dynamic shared memory.
    const RESERVED: u32 = 1024;
    let (available, multiprocessors) = (cuda.shared_memory_per_multiprocessor(), cuda.multiprocessors());
    let needs = |(function, shape): (&CudaFunction, LaunchShape)| -> Result<u32> {
        let resident = blocks_per_multiprocessor(function, shape.threads, shape.shared)?;
        Ok(shape.grid.0.div_ceil(multiprocessors).min(resident) * (shape.shared + RESERVED))
    };
    let [first, second] = kernels;
    let needed = [needs(first)?, needs(second)?];
    let at_the_same_time =
        second.1.start == Start::Early && kernels.iter().all(|(_, shape)| shape.grid.0 <= multiprocessors);
    let needed = if at_the_same_time { needed[0] + needed[1] } else { needed[0].max(needed[1]) };
    for (function, _) in kernels {
        function
            .set_attribute(CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, percent(needed, available))
            .map_err(driver("cuFuncSetAttribute"))?;
    }
    Ok(())
}

/// Returns how many percent of `whole` are at least `part`, and 100 where there is not enough.
fn percent(part: u32, whole: u32) -> i32 {
    if part >= whole { 100 } else { (100 * part).div_ceil(whole).cast_signed() }
}

/// Timings of an algorithm, of which the least counts.
const TIMINGS: usize = 3;

/// Returns the index of the algorithm with the least time by the host's clock; `None` if the library refuses every one. `execute` runs
/// an algorithm, or only enqueues it; a timing takes `runs` of these.
pub(crate) fn fastest<A>(
    cuda: &Cuda,
    runs: usize,
    algorithms: &[A],
    mut execute: impl FnMut(&A) -> Result<()>,
) -> Result<Option<usize>> {
    let mut best = (f64::INFINITY, None);
    for (index, algorithm) in algorithms.iter().enumerate() {
        // An algorithm that is refused is out; a fault of the device shows when it is waited for.
        if execute(algorithm).is_err() {
            continue;
        }
        cuda.synchronize()?;
        for _ in 0..TIMINGS {
            let begun = Instant::now();
            for _ in 0..runs {
                execute(algorithm)?;
            }
            cuda.synchronize()?;
            let seconds = begun.elapsed().as_secs_f64();
            if seconds < best.0 {
                best = (seconds, Some(index));
            }
        }
    }
    Ok(best.1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_percentage_is_enough_and_at_most_everything() {
        assert_eq!(
            [0, 1, 2334, 2335, 233_472, 300_000].map(|part| percent(part, 233_472)),
            [0, 1, 1, 2, 100, 100]
        );
        assert_eq!(percent(5, 0), 100);
    }
}
