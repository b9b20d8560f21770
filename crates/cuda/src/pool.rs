//! The device's default memory pool: keeps freed memory, returns it, and reports how much is in use.

use std::cell::Cell;
use std::sync::Arc;

use cudarc::driver::CudaContext;
use cudarc::driver::sys::CUdevice;
use gpubench_model::error::CellError;

use super::failure::driver;
use super::ffi::driver as ffi;

/// The pool that all of the backend's own allocations come from.
pub(crate) struct Pool {
    device: CUdevice,
    /// Bytes in use when [`Pool::watch`] was called.
    base: Cell<Option<u64>>,
}

impl Pool {
    /// Opens the pool of the context's device and sets it to keep freed memory. Returns `None` on a driver without
    /// pools.
    pub(crate) fn open(ctx: &Arc<CudaContext>) -> Result<Option<Pool>, CellError> {
        if !ctx.has_async_alloc() {
            return Ok(None);
        }
        let device = ctx.cu_device();
        ffi::keep_pool_memory(device).map_err(driver("cuMemPoolSetAttribute"))?;
        Ok(Some(Pool { device, base: Cell::default() }))
    }

    /// Returns unused memory to the system. Work on the device must have ended.
    pub(crate) fn trim(&self) -> Result<(), CellError> {
        ffi::trim_pool(self.device).map_err(driver("cuMemPoolTrimTo"))
    }

    /// Starts to measure the peak, relative to the present use. Work on the device must have ended, because freed
    /// memory counts as in use until then. If the driver does not report the use, the peak stays unknown.
    pub(crate) fn watch(&self) {
        let reset = ffi::reset_pool_peak(self.device);
        self.base.set(reset.and_then(|()| ffi::pool_bytes(self.device)).ok());
    }

    /// Returns the peak of bytes in use since [`Pool::watch`], beyond those in use then. It leaves out memory that
    /// libraries allocate by other means: handles and their own workspaces.
    pub(crate) fn peak(&self) -> Option<u64> {
        Some(ffi::pool_peak(self.device).ok()?.saturating_sub(self.base.get()?))
    }
}
