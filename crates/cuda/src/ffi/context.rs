//! A second context on a device, created and destroyed; the primary one is current before and after.

use std::ffi::c_uint;
use std::sync::Arc;

use cudarc::driver::sys::{self, CUcontext, CUdevice, CUresult};
use cudarc::driver::{CudaContext, DriverError, result};

/// `cuCtxCreate_v2`. Every driver since CUDA 4 has it; the bindings for CUDA 13 know only its successor, which drivers
/// before 12.5 lack.
type Create = unsafe extern "C" fn(*mut CUcontext, c_uint, CUdevice) -> CUresult;

/// Creates contexts beside a primary one.
pub(crate) struct SecondContext {
    primary: Arc<CudaContext>,
    create: Create,
}

impl SecondContext {
    /// What creates them on the device of `primary`; `None` on a driver without the call.
    pub(crate) fn of(primary: &Arc<CudaContext>) -> Option<SecondContext> {
        // SAFETY: there is a context, so the driver has been loaded and the bindings find it.
        let driver = unsafe { sys::culib() };
        // SAFETY: the signature is that of cuda.h; the driver is never unloaded.
        let create: Create = *unsafe { driver.get(b"cuCtxCreate_v2") }.ok()?;
        Some(SecondContext { primary: Arc::clone(primary), create })
    }

    /// Creates a context, which becomes current, and destroys it. Whatever fails, the primary context is current on
    /// return, unless that call fails too.
    pub(crate) fn create_and_destroy(&self) -> Result<(), DriverError> {
        let mut second = std::ptr::null_mut();
        // SAFETY: `second` is writable, no flag is set, and the device is that of a living context.
        let created = unsafe { (self.create)(&raw mut second, 0, self.primary.cu_device()) }.result();
        // SAFETY: the context was just created, nothing uses it, and it is destroyed once.
        let destroyed = created.and_then(|()| unsafe { sys::cuCtxDestroy_v2(second) }.result());
        // Not left to the driver's stack of contexts, from which a destruction that fails takes nothing.
        // SAFETY: the primary context lives as long as `self` holds it.
        let restored = unsafe { result::ctx::set_current(self.primary.cu_ctx()) };
        destroyed.and(restored)
    }
}
