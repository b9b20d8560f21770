//! Chooses among the algorithms of a library's routine by timing them.

use std::time::Instant;

use gpubench_model::error::CellError;

use super::super::context::Cuda;

/// Timings of an algorithm, of which the least counts.
const TIMINGS: usize = 3;

/// Returns the index of the algorithm with the least time by the host's clock; `None` if the library refuses every one. `execute` runs
/// an algorithm, or only enqueues it; a timing takes `runs` of these.
///
/// # Errors
/// The device fails.
pub(super) fn fastest<A>(
    cuda: &Cuda,
    runs: usize,
    algorithms: &[A],
    mut execute: impl FnMut(&A) -> Result<(), CellError>,
) -> Result<Option<usize>, CellError> {
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
