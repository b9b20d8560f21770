//! Measures a device's peaks: memory bandwidth, large matrix products, and transfers to and from the host.
//! `docs/peaks.md` explains the values.

mod bus;
mod memory;
mod products;

use cudarc::driver::{CudaSlice, DeviceRepr, ValidAsZeroBits};
use gpubench_backend::{BusRates, Peaks};
use gpubench_model::error::CellError;

use super::context::Cuda;
use super::ffi::driver::Elapsed;
use super::ffi::map::Map;
use super::kernels::{KernelSource, kernel_source};
use super::timing::Timer;

/// Kernels for memory bandwidth, and for operands.
pub(super) static SOURCE: KernelSource = kernel_source!("peaks");

/// Measures the peaks, in about 1.5 s where cuBLAS loads quickly. A peak that cannot be measured is left out.
///
/// # Errors
/// Only a lost device.
pub(crate) fn measure(cuda: &Cuda, timer: &Timer, elapsed: Elapsed) -> Result<Peaks, CellError> {
    // Memory first, because it also brings the clocks up.
    let of_memory = unless_device_lost(cuda, memory::rates(cuda, timer))?.unwrap_or_default();
    let bus = unless_device_lost(cuda, bus::rates(cuda, elapsed))?;
    let matmul = products::rates(cuda, timer)?.into_iter().collect();
    let (upload, download): (Option<BusRates>, Option<BusRates>) = bus.unzip();
    Ok(Peaks { matmul, upload, download, ..of_memory })
}

/// Returns the result of a part, or `None` if it failed and the device still works.
fn unless_device_lost<T>(cuda: &Cuda, part: Result<T, CellError>) -> Result<Option<T>, CellError> {
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
fn uniform<T>(cuda: &Cuda, entry: &str, len: usize) -> Result<CudaSlice<T>, CellError>
where
    T: DeviceRepr + ValidAsZeroBits,
{
    let mut slice = cuda.alloc::<T>(len)?;
    Map::<f32, T, 0>::load(cuda, &SOURCE, entry, len)?.run(&cuda.stream, [], &mut slice)?;
    Ok(slice)
}
