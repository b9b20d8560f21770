//! Driver calls that need `unsafe`: uninitialised memory, memory pools, elapsed time and device queries.
//!
//! API: <https://docs.nvidia.com/cuda/cuda-driver-api/>.

use std::ffi::{c_int, c_uint, c_void};
use std::sync::Arc;

use cudarc::driver::sys::{self, CUdevice, CUdevice_attribute, CUmemPool_attribute, CUresult};
use cudarc::driver::{CudaContext, CudaEvent, CudaSlice, CudaStream, DeviceRepr, DriverError, result};

use super::status::Status;

/// Opens a context on a device, without per-slice event tracking.
///
/// With tracking, every slice argument of a launch would add an event wait and an event record to the timed work.
pub(crate) fn context(ordinal: usize) -> Result<Arc<CudaContext>, DriverError> {
    let ctx = CudaContext::new(ordinal)?;
    // SAFETY: the backend has one stream, so work is ordered by it and nothing needs events; no slice exists yet.
    unsafe { ctx.disable_event_tracking() };
    Ok(ctx)
}

/// Allocates `len` uninitialised elements; the caller writes all of them before it reads any.
pub(crate) fn alloc_unset<T: DeviceRepr>(
    stream: &Arc<CudaStream>,
    len: usize,
) -> Result<CudaSlice<T>, DriverError> {
    // SAFETY: device memory has no invalid bit patterns for `DeviceRepr` types made of numbers, and every caller within this backend
    // writes what it reads; the rest of a workspace is read by nothing.
    unsafe { stream.alloc(len) }
}

/// Keeps freed memory in the pool between jobs, so that allocation is fast.
pub(crate) fn keep_pool_memory(device: CUdevice) -> Result<(), DriverError> {
    let mut threshold = u64::MAX;
    let pool = default_pool(device)?;
    // SAFETY: the pool is the device's own and the attribute is a 64-bit integer.
    unsafe {
        result::mem_pool::set_attribute(
            pool,
            CUmemPool_attribute::CU_MEMPOOL_ATTR_RELEASE_THRESHOLD,
            (&raw mut threshold).cast::<c_void>(),
        )
    }
}

/// Returns the pool's unused memory to the system.
pub(crate) fn trim_pool(device: CUdevice) -> Result<(), DriverError> {
    let pool = default_pool(device)?;
    // SAFETY: the pool is the device's own.
    unsafe { result::mem_pool::trim_to(pool, 0) }
}

fn default_pool(device: CUdevice) -> Result<sys::CUmemoryPool, DriverError> {
    let mut pool = std::ptr::null_mut();
    // SAFETY: `pool` is writable; an unknown device is an error value.
    unsafe { sys::cuDeviceGetDefaultMemPool(&raw mut pool, device) }.result()?;
    Ok(pool)
}

/// Returns the bytes of the pool in use now.
pub(crate) fn pool_bytes(device: CUdevice) -> Result<u64, DriverError> {
    pool_figure(device, CUmemPool_attribute::CU_MEMPOOL_ATTR_USED_MEM_CURRENT)
}

/// Returns the peak bytes of the pool in use since [`reset_pool_peak`].
pub(crate) fn pool_peak(device: CUdevice) -> Result<u64, DriverError> {
    pool_figure(device, CUmemPool_attribute::CU_MEMPOOL_ATTR_USED_MEM_HIGH)
}

/// Resets the pool's peak to the present use.
pub(crate) fn reset_pool_peak(device: CUdevice) -> Result<(), DriverError> {
    let mut zero = 0u64;
    let pool = default_pool(device)?;
    // SAFETY: the pool is the device's own and the attribute is a 64-bit integer, for which only 0 may be set.
    unsafe {
        result::mem_pool::set_attribute(
            pool,
            CUmemPool_attribute::CU_MEMPOOL_ATTR_USED_MEM_HIGH,
            (&raw mut zero).cast::<c_void>(),
        )
    }
}

fn pool_figure(device: CUdevice, attribute: CUmemPool_attribute) -> Result<u64, DriverError> {
    let mut bytes = 0u64;
    let pool = default_pool(device)?;
    // SAFETY: the pool is the device's own, and both callers name an attribute that is a 64-bit integer.
    unsafe { result::mem_pool::get_attribute(pool, attribute, (&raw mut bytes).cast::<c_void>()) }?;
    Ok(bytes)
}

/// The driver call for the time between two recorded and completed events.
#[derive(Clone, Copy)]
pub(crate) struct Elapsed(unsafe extern "C" fn(*mut f32, sys::CUevent, sys::CUevent) -> u32);

impl Elapsed {
    /// Looks up the call in the driver; drivers before 12.8 have only its old name.
    pub(crate) fn find(libcuda: &libloading::Library) -> Option<Elapsed> {
        ["cuEventElapsedTime_v2", "cuEventElapsedTime"].iter().find_map(|name| {
            // SAFETY: both names have this signature (cuda.h); the driver is never unloaded.
            unsafe { libcuda.get(name.as_bytes()) }.ok().map(|found| Elapsed(*found))
        })
    }

    /// Returns the milliseconds from `start` to `end`, both completed.
    pub(crate) fn milliseconds(&self, start: &CudaEvent, end: &CudaEvent) -> Result<f32, Status> {
        let mut elapsed = 0.0;
        // SAFETY: both events are alive and `elapsed` is writable; unfinished events are an error value.
        Status::driver(unsafe { (self.0)(&raw mut elapsed, start.cu_event(), end.cu_event()) })?;
        Ok(elapsed)
    }
}

/// Looks up a driver call of type `F`, whose status is a number instead of an enum of the bindings. The first calls into
/// a driver use it, because a driver that is broken, newer or a substitute shows there.
///
/// # Safety
/// `F` is the call's type in cuda.h, with `u32` for `CUresult`.
unsafe fn find<F: Copy>(name: &str) -> Result<F, Status> {
    // SAFETY: the caller's promise. The loader has opened the driver, so the bindings find it, and it stays loaded.
    let found = unsafe { sys::culib().get::<F>(name.as_bytes()) };
    found.map(|call| *call).map_err(|_| Status::from(CUresult::CUDA_ERROR_NOT_FOUND))
}

/// Starts CUDA. The driver must be loaded.
pub(crate) fn init() -> Result<(), Status> {
    // SAFETY: the type is cuda.h's.
    let call = unsafe { find::<unsafe extern "C" fn(c_uint) -> u32>("cuInit") }?;
    // SAFETY: no flag is set, as the call requires.
    Status::driver(unsafe { call(0) })
}

/// Returns the number of devices, after [`init`].
pub(crate) fn device_count() -> Result<i32, Status> {
    let mut count = 0;
    // SAFETY: the type is cuda.h's.
    let call = unsafe { find::<unsafe extern "C" fn(*mut c_int) -> u32>("cuDeviceGetCount") }?;
    // SAFETY: `count` is writable.
    Status::driver(unsafe { call(&raw mut count) })?;
    Ok(count)
}

/// Returns the device of this number, after [`init`].
pub(crate) fn device(ordinal: i32) -> Result<CUdevice, Status> {
    let mut device = 0;
    // SAFETY: the type is cuda.h's.
    let call = unsafe { find::<unsafe extern "C" fn(*mut CUdevice, c_int) -> u32>("cuDeviceGet") }?;
    // SAFETY: `device` is writable; an unknown ordinal is an error value.
    Status::driver(unsafe { call(&raw mut device, ordinal) })?;
    Ok(device)
}

/// Returns a device's name. A driver may fill the buffer without a terminator, which the bindings do not expect.
pub(crate) fn name(device: CUdevice) -> Result<String, Status> {
    let mut text = [0u8; 256];
    // SAFETY: at most 256 bytes are written.
    unsafe { sys::cuDeviceGetName(text.as_mut_ptr().cast(), 256, device) }.result()?;
    Ok(until_zero(&text))
}

/// Returns the text before the first zero byte, or all of it.
fn until_zero(text: &[u8]) -> String {
    String::from_utf8_lossy(text.split(|byte| *byte == 0).next().unwrap_or_default()).into_owned()
}

/// Returns an attribute of a device.
pub(crate) fn attribute(device: CUdevice, attribute: CUdevice_attribute) -> Result<i32, DriverError> {
    // SAFETY: an unknown device or attribute is an error value.
    unsafe { result::device::get_attribute(device, attribute) }
}

/// Returns the bytes of a device's memory.
pub(crate) fn memory_bytes(device: CUdevice) -> Result<usize, DriverError> {
    // SAFETY: an unknown device is an error value.
    unsafe { result::device::total_mem(device) }
}

/// Returns the free bytes of the current context's device, or 0 if the driver does not report them.
pub(crate) fn free_bytes() -> u128 {
    // SAFETY: opens and closes the driver, whose initialisers have no preconditions. The call below panics without it.
    let has_driver = unsafe { sys::is_culib_present() };
    if !has_driver {
        return 0;
    }
    result::mem_get_info().map_or(0, |(free, _total)| free as u128)
}

/// Returns the driver's CUDA version, such as 13000 for 13.0. The driver must be loaded.
pub(crate) fn version() -> Result<i32, Status> {
    let mut version = 0;
    // SAFETY: the type is cuda.h's.
    let call = unsafe { find::<unsafe extern "C" fn(*mut c_int) -> u32>("cuDriverGetVersion") }?;
    // SAFETY: `version` is writable.
    Status::driver(unsafe { call(&raw mut version) })?;
    Ok(version)
}

/// Returns the PCI address of a device, such as `0000:04:00.0`.
pub(crate) fn pci_bus_id(device: CUdevice) -> Result<String, Status> {
    let mut text = [0u8; 32];
    // SAFETY: at most 32 bytes are written, terminator included.
    unsafe { sys::cuDeviceGetPCIBusId(text.as_mut_ptr().cast(), 32, device) }.result()?;
    Ok(until_zero(&text))
}
