//! Measures the bandwidth between host and device, for pageable and page-locked memory.

use gpubench_backend::{BusRates, TransferMemory};
use gpubench_model::error::CellError;

use super::super::context::Cuda;
use super::super::ffi::driver::Elapsed;
use super::super::transfer::TransferTimer;
use super::super::transfer_stats::{Copies, CopyTime};

/// Bytes per copy. Larger copies are no faster.
const BYTES: usize = 64 << 20;

/// Returns the rates of uploads and downloads. Copies of page-locked memory are timed by the device's clock, because
/// the device makes them; copies of pageable memory are work of the driver on the host and are timed by the host's
/// clock.
pub(crate) fn rates(cuda: &Cuda, elapsed: Elapsed) -> Result<(BusRates, BusRates), CellError> {
    cuda.reserve(BYTES as u128)?;
    let mut device = cuda.alloc::<u8>(BYTES)?;
    // Not zero, so that every page is mapped.
    let mut host = vec![1u8; BYTES];
    let mut rates = |memory, clock: fn(&CopyTime) -> f64| {
        let timer = TransferTimer::new(&cuda.stream, elapsed, memory)?;
        let up = best(timer.upload(&host, &mut device)?, clock);
        let down = best(timer.download(&device, &mut host)?, clock);
        Ok::<_, CellError>((up, down))
    };
    let pageable = rates(TransferMemory::Pageable, |copied| copied.host_s)?;
    let pinned = rates(TransferMemory::Pinned, |copied| copied.device_s)?;
    let of = |pageable, pinned| BusRates { pageable, pinned };
    Ok((of(pageable.0, pinned.0), of(pageable.1, pinned.1)))
}

/// Returns the bytes per second of the fastest copy, with the one kind of memory that was timed.
fn best(copies: Copies, clock: fn(&CopyTime) -> f64) -> f64 {
    let copies = copies.pageable.into_iter().chain(copies.pinned).flatten();
    BYTES as f64 / copies.map(|copied| clock(&copied)).fold(f64::INFINITY, f64::min)
}
