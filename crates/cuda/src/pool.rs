//! The device's default memory pool: kept, given back, and how much of it is in use.

use std::cell::Cell;
use std::sync::Arc;

use cudarc::driver::CudaContext;
use cudarc::driver::sys::CUdevice;
use gpubench_model::error::CellError;

use super::failure::driver;
use super::ffi::driver as ffi;

/// The pool that all allocations of our own come from.
pub(crate) struct Pool {
    device: CUdevice,
    /// Bytes in use when watching began.
    base: Cell<Option<u64>>,
}

impl Pool {
    /// The pool of the context's device, told to keep what is freed; `None` on a driver without pools.
    pub(crate) fn open(ctx: &Arc<CudaContext>) -> Result<Option<Pool>, CellError> {
        if !ctx.has_async_alloc() {
            return Ok(None);
        }
        let device = ctx.cu_device();
        ffi::keep_pool_memory(device).map_err(driver("cuMemPoolSetAttribute"))?;
        Ok(Some(Pool { device, base: Cell::default() }))
    }

    /// Gives back what the pool holds and nobody uses. Work on the device has ended.
    pub(crate) fn trim(&self) -> Result<(), CellError> {
        ffi::trim_pool(self.device).map_err(driver("cuMemPoolTrimTo"))
    }

    /// Begins to watch how much is in use, from what is now. Work on the device has ended, since what was freed
    /// counts as in use until then. A driver that does not tell costs the figure and nothing else.
    pub(crate) fn watch(&self) {
        let reset = ffi::reset_pool_peak(self.device);
        self.base.set(reset.and_then(|()| ffi::pool_bytes(self.device)).ok());
    }

    /// Most bytes in use at one time since [`Pool::watch`], beyond those in use then. What libraries allocate by
    /// other means is not in it: handles, and the workspaces they make for themselves.
    pub(crate) fn peak(&self) -> Option<u64> {
        Some(ffi::pool_peak(self.device).ok()?.saturating_sub(self.base.get()?))
    }
}
