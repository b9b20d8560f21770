//! Bytes a second between host and device, from and to both kinds of host memory. Knows no kernel.

use gpubench_backend::{BusRates, HostMemory};
use gpubench_model::error::CellError;

use super::super::context::Cuda;
use super::super::ffi::driver::Elapsed;
use super::super::meters::Copied;
use super::super::transfer::Mover;

/// Bytes of a copy: beyond this the rate no longer grows.
const BYTES: usize = 64 << 20;

/// Rates of uploads and of downloads. Page-locked memory is the device's to read and write, and its copies are timed
/// by the device's clock; the driver's work on other memory is the host's, and so is the clock.
pub(crate) fn rates(cuda: &Cuda, elapsed: Elapsed) -> Result<(BusRates, BusRates), CellError> {
    cuda.reserve(BYTES as u128)?;
    let mut device = cuda.alloc::<u8>(BYTES)?;
    // Not zero, so that every page of it is there.
    let mut host = vec![1u8; BYTES];
    let mut rates = |memory, clock: fn(&Copied) -> f64| {
        let mover = Mover::new(&cuda.stream, elapsed, memory)?;
        let up = best(&mover.upload(&host, &mut device)?, clock);
        let down = best(&mover.download(&device, &mut host)?, clock);
        Ok::<_, CellError>((up, down))
    };
    let pageable = rates(HostMemory::Pageable, |copied| copied.host_s)?;
    let pinned = rates(HostMemory::Pinned, |copied| copied.device_s)?;
    let of = |pageable, pinned| BusRates { pageable, pinned };
    Ok((of(pageable.0, pinned.0), of(pageable.1, pinned.1)))
}

/// Bytes a second of the shortest copy.
fn best(copies: &[Copied], clock: fn(&Copied) -> f64) -> f64 {
    BYTES as f64 / copies.iter().map(clock).fold(f64::INFINITY, f64::min)
}
