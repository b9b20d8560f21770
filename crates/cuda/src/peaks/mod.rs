//! The most that a device does: its memory, large matrix products, and the way to the host. `docs/limits.md` explains
//! the figures.

mod bus;
mod memory;
mod products;

use cudarc::driver::{CudaSlice, DeviceRepr, ValidAsZeroBits};
use gpubench_backend::{BusRates, Peaks};
use gpubench_model::error::CellError;

use super::context::Cuda;
use super::ffi::driver::Elapsed;
use super::ffi::launch::Map;
use super::kernels::{KernelSource, kernel_source};
use super::timing::Timer;

/// Kernels for memory, and operands.
pub(super) static SOURCE: KernelSource = kernel_source!("peaks");

/// Measures them, in about a second and a half where cuBLAS loads quickly; what cannot be measured is left out.
///
/// # Errors
/// A lost device alone.
pub(crate) fn measure(cuda: &Cuda, timer: &Timer, elapsed: Elapsed) -> Result<Peaks, CellError> {
    // First the memory, which also brings the clocks up.
    let of_memory = softly(cuda, memory::rates(cuda, timer))?.unwrap_or_default();
    let bus = softly(cuda, bus::rates(cuda, elapsed))?;
    let matmul = products::rates(cuda, timer)?.into_iter().collect();
    let (upload, download): (Option<BusRates>, Option<BusRates>) = bus.unzip();
    Ok(Peaks { matmul, upload, download, ..of_memory })
}

/// What a part came to; `None` where it failed and the device is still there.
fn softly<T>(cuda: &Cuda, part: Result<T, CellError>) -> Result<Option<T>, CellError> {
    match part {
        Ok(found) => Ok(Some(found)),
        Err(lost @ CellError::DeviceLost(_)) => Err(lost),
        // A library that fails does not tell a refused call from a dead context; the context does.
        Err(_) => match cuda.synchronize() {
            Err(lost @ CellError::DeviceLost(_)) => Err(lost),
            Ok(()) | Err(_) => Ok(None),
        },
    }
}

/// Allocates `len` numbers of [0, 1) by the kernel `entry`, which makes them of that type.
fn uniform<T>(cuda: &Cuda, entry: &str, len: usize) -> Result<CudaSlice<T>, CellError>
where
    T: DeviceRepr + ValidAsZeroBits,
{
    let mut slice = cuda.alloc::<T>(len)?;
    Map::<f32, T, 0>::load(cuda, &SOURCE, entry, len)?.run(&cuda.stream, [], &mut slice)?;
    Ok(slice)
}
