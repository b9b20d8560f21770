//! Creates and destroys a second context on a device. The primary context is current before and after.
//!
//! API: <https://docs.nvidia.com/cuda/cuda-driver-api/group__CUDA__CTX.html>.

use std::ffi::c_uint;
use std::sync::Arc;

use cudarc::driver::sys::{self, CUcontext, CUdevice};
use cudarc::driver::{CudaContext, result};

use super::status::Status;

/// `cuCtxCreate_v2`. Every driver since CUDA 4 has it. The bindings for CUDA 13 have only its successor, which
/// drivers before 12.5 lack.
type Create = unsafe extern "C" fn(*mut CUcontext, c_uint, CUdevice) -> u32;

/// Creates contexts in addition to the primary one.
pub(crate) struct SecondContext {
    primary: Arc<CudaContext>,
    create: Create,
}

impl SecondContext {
    /// Looks up the call for the device of `primary`. Returns `None` on a driver without it.
    pub(crate) fn of(primary: &Arc<CudaContext>) -> Option<SecondContext> {
        // SAFETY: there is a context, so the driver has been loaded and the bindings find it.
        let driver = unsafe { sys::culib() };
        // SAFETY: the signature is that of cuda.h; the driver is never unloaded.
        let create: Create = *unsafe { driver.get(b"cuCtxCreate_v2") }.ok()?;
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
