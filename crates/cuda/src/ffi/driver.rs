//! Driver calls that need `unsafe`: uninitialised memory, elapsed time, device queries, and a second context.
//!
//! API: <https://docs.nvidia.com/cuda/cuda-driver-api/>.

use std::ffi::{c_int, c_uint};
use std::sync::Arc;

use cudarc::driver::sys::{self, CUcontext, CUdevice, CUdevice_attribute, CUresult};
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

pub(crate) fn device_count() -> Result<i32, Status> {
    number("cuDeviceGetCount")
}

/// Returns the number that a driver call reports.
fn number(name: &str) -> Result<i32, Status> {
    let mut number = 0;
    // SAFETY: the type is that of both calls in cuda.h.
    let call = unsafe { find::<unsafe extern "C" fn(*mut c_int) -> u32>(name) }?;
    // SAFETY: `number` is writable.
    Status::driver(unsafe { call(&raw mut number) })?;
    Ok(number)
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

pub(crate) fn attribute(device: CUdevice, attribute: CUdevice_attribute) -> Result<i32, DriverError> {
    // SAFETY: an unknown device or attribute is an error value.
    unsafe { result::device::get_attribute(device, attribute) }
}

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
    number("cuDriverGetVersion")
}

/// Returns the PCI address of a device, such as `0000:04:00.0`.
pub(crate) fn pci_bus_id(device: CUdevice) -> Result<String, Status> {
    let mut text = [0u8; 32];
    // SAFETY: at most 32 bytes are written, terminator included.
    unsafe { sys::cuDeviceGetPCIBusId(text.as_mut_ptr().cast(), 32, device) }.result()?;
    Ok(until_zero(&text))
}

/// `cuCtxCreate_v2`. Every driver since CUDA 4 has it. The bindings for CUDA 13 have only its successor, which
/// drivers before 12.5 lack.
type CreateContext = unsafe extern "C" fn(*mut CUcontext, c_uint, CUdevice) -> u32;

/// Creates contexts in addition to the primary one.
pub(crate) struct SecondContext {
    primary: Arc<CudaContext>,
    create: CreateContext,
}

impl SecondContext {
    /// Looks up the call for the device of `primary`. Returns `None` on a driver without it.
    pub(crate) fn of(primary: &Arc<CudaContext>) -> Option<SecondContext> {
        // SAFETY: there is a context, so the driver has been loaded and the bindings find it.
        let driver = unsafe { sys::culib() };
        // SAFETY: the signature is that of cuda.h; the driver is never unloaded.
        let create: CreateContext = *unsafe { driver.get(b"cuCtxCreate_v2") }.ok()?;
        Some(SecondContext { primary: Arc::clone(primary), create })
    }

    /// Creates a context, which becomes current, and destroys it. The primary context is current on return even after
    /// an error, unless setting it fails too.
    pub(crate) fn create_and_destroy(&self) -> Result<(), Status> {
        let mut second = std::ptr::null_mut();
        // SAFETY: `second` is writable, no flag is set, and the device is that of a living context.
        let created = Status::driver(unsafe { (self.create)(&raw mut second, 0, self.primary.cu_device()) });
        // SAFETY: the context was just created, nothing uses it, and it is destroyed once.
        let destroyed =
            created.and_then(|()| unsafe { sys::cuCtxDestroy_v2(second) }.result().map_err(Status::from));
        // Set explicitly, because the driver's stack of contexts is wrong after a failed destruction.
        // SAFETY: the primary context lives as long as `self` holds it.
        let restored = unsafe { result::ctx::set_current(self.primary.cu_ctx()) };
        destroyed.and(restored.map_err(Status::from))
    }
}
