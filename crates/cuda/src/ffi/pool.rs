//! The device's default memory pool: keeps freed memory, returns it, and reports how much is in use.

use std::cell::Cell;
use std::sync::Arc;

use cudarc::driver::sys::CUmemPool_attribute::{
    self as Attribute, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD as THRESHOLD,
    CU_MEMPOOL_ATTR_USED_MEM_CURRENT as CURRENT, CU_MEMPOOL_ATTR_USED_MEM_HIGH as PEAK,
};
use cudarc::driver::sys::{self, CUdevice};
use cudarc::driver::{CudaContext, DriverError, result};

use crate::failure::{Result, driver};

/// The pool that all of the backend's own allocations come from.
pub(crate) struct Pool {
    device: CUdevice,
    /// Bytes in use when [`Pool::watch`] was called.
    base: Cell<Option<u64>>,
}

impl Pool {
    /// Opens the pool of the context's device and sets it to keep freed memory between jobs, so that allocation is fast.
    /// Returns `None` on a driver without pools.
    pub(crate) fn open(ctx: &Arc<CudaContext>) -> Result<Option<Pool>> {
        if !ctx.has_async_alloc() {
            return Ok(None);
        }
        let pool = Pool { device: ctx.cu_device(), base: Cell::default() };
        pool.set(THRESHOLD, u64::MAX).map_err(driver("cuMemPoolSetAttribute"))?;
        Ok(Some(pool))
    }

    /// Returns unused memory to the system. Work on the device must have ended.
    pub(crate) fn trim(&self) -> Result<()> {
        // SAFETY: the pool is the device's own.
        let trimmed = self.raw().and_then(|pool| unsafe { result::mem_pool::trim_to(pool, 0) });
        trimmed.map_err(driver("cuMemPoolTrimTo"))
    }

    /// Starts to measure the peak, relative to the present use. Work on the device must have ended, because freed
    /// memory counts as in use until then. If the driver does not report the use, the peak stays unknown.
    pub(crate) fn watch(&self) {
        // The driver takes no other value for a peak than 0.
        let reset = self.set(PEAK, 0);
        self.base.set(reset.and_then(|()| self.get(CURRENT)).ok());
    }

    /// Returns the peak of bytes in use since [`Pool::watch`], beyond those in use then. It leaves out memory that
    /// libraries allocate by other means: handles and their own workspaces.
    pub(crate) fn peak(&self) -> Option<u64> {
        Some(self.get(PEAK).ok()?.saturating_sub(self.base.get()?))
    }

    fn raw(&self) -> Result<sys::CUmemoryPool, DriverError> {
        let mut pool = std::ptr::null_mut();
        // SAFETY: `pool` is writable; an unknown device is an error value.
        unsafe { sys::cuDeviceGetDefaultMemPool(&raw mut pool, self.device) }.result()?;
        Ok(pool)
    }

    fn set(&self, attribute: Attribute, mut value: u64) -> Result<(), DriverError> {
        let pool = self.raw()?;
        // SAFETY: the pool is the device's own, and all callers name an attribute that is a 64-bit integer.
        unsafe { result::mem_pool::set_attribute(pool, attribute, (&raw mut value).cast()) }
    }

    fn get(&self, attribute: Attribute) -> Result<u64, DriverError> {
        let (pool, mut value) = (self.raw()?, 0u64);
        // SAFETY: as for `set`.
        unsafe { result::mem_pool::get_attribute(pool, attribute, (&raw mut value).cast()) }?;
        Ok(value)
    }
}
