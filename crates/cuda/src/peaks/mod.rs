//! Measures a device's peaks: memory bandwidth, large matrix products, and transfers to and from the host.
//! `docs/peaks.md` explains the values.

mod memory;
mod products;

use cudarc::driver::{CudaSlice, DeviceRepr, ValidAsZeroBits};
use gpubench_backend::{BusRates, Peaks, TransferMemory};

use super::ffi::driver::Elapsed;
use super::ffi::map::Map;
use super::timing::Timer;
use super::transfer::TransferTimer;
use super::transfer_stats::{CopyRepetitions, CopyTime};
use crate::{CellError, Cuda, KernelSource, Result, kernel_source};

/// Kernels for memory bandwidth, and for operands.
pub(super) static SOURCE: KernelSource = kernel_source!("measure/peaks");

/// Measures the peaks, in about 1.5 s where cuBLAS loads quickly. A peak that cannot be measured is left out. Fails
/// only if the device is lost.
pub(crate) fn measure(cuda: &Cuda, timer: &Timer, elapsed: Elapsed) -> Result<Peaks> {
    // Memory first, because it also brings the clocks up.
    let of_memory = unless_device_lost(cuda, memory::rates(cuda, timer))?.unwrap_or_default();
    let bus = unless_device_lost(cuda, bus_rates(cuda, elapsed))?;
    let matmul = products::rates(cuda, timer)?.into_iter().collect();
    let (upload, download): (Option<BusRates>, Option<BusRates>) = bus.unzip();
    Ok(Peaks { matmul, upload, download, ..of_memory })
}

/// Returns the result of a part, or `None` if it failed and the device still works.
fn unless_device_lost<T>(cuda: &Cuda, part: Result<T>) -> Result<Option<T>> {
    match part {
        Ok(found) => Ok(Some(found)),
        Err(lost @ CellError::DeviceLost(_)) => Err(lost),
        // A failed library call does not say whether the call or the context is broken, so this asks the context.
        Err(_) => match cuda.synchronize() {
            Err(lost @ CellError::DeviceLost(_)) => Err(lost),
            Ok(()) | Err(_) => Ok(None),
        },
    }
}

/// Allocates `len` uniform numbers in [0, 1) by the kernel `entry` for their type.
fn uniform<T>(cuda: &Cuda, entry: &str, len: usize) -> Result<CudaSlice<T>>
where
    T: DeviceRepr + ValidAsZeroBits,
{
    let mut slice = cuda.alloc::<T>(len)?;
    Map::<f32, T, 0>::load(cuda, &SOURCE, entry, len)?.run(&cuda.stream, [], &mut slice)?;
    Ok(slice)
}

/// Bytes per copy. Larger copies are no faster.
const BYTES: usize = 64 << 20;

/// Returns the rates of uploads and downloads. Copies of page-locked memory are timed by the device's clock, because
/// the device makes them; copies of pageable memory are work of the driver on the host and are timed by the host's
/// clock.
fn bus_rates(cuda: &Cuda, elapsed: Elapsed) -> Result<(BusRates, BusRates)> {
    cuda.reserve(BYTES as u128)?;
    let mut device = cuda.alloc::<u8>(BYTES)?;
    // Not zero, so that every page is mapped.
    let mut host = vec![1u8; BYTES];
    let mut rates = |memory, clock: fn(&CopyTime) -> f64| -> Result<_> {
        let timer = TransferTimer::new(&cuda.stream, elapsed, memory)?;
        let up = best(timer.upload(&host, &mut device)?, clock);
        let down = best(timer.download(&device, &mut host)?, clock);
        Ok((up, down))
    };
    let pageable = rates(TransferMemory::Pageable, |copied| copied.host_s)?;
    let pinned = rates(TransferMemory::Pinned, |copied| copied.device_s)?;
    let of = |pageable, pinned| BusRates { pageable, pinned };
    Ok((of(pageable.0, pinned.0), of(pageable.1, pinned.1)))
}

/// Returns the bytes per second of the fastest copy, with the one kind of memory that was timed.
fn best(copies: CopyRepetitions, clock: fn(&CopyTime) -> f64) -> f64 {
    let copies = copies.pageable.into_iter().chain(copies.pinned).flatten();
    BYTES as f64 / copies.map(|copied| clock(&copied)).fold(f64::INFINITY, f64::min)
}
