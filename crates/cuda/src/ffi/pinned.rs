//! Page-locked host memory that the device copies from and to.

use std::ptr::NonNull;
use std::sync::Arc;

use cudarc::driver::{CudaSlice, CudaStream, DevicePtr, DevicePtrMut, DeviceRepr, DriverError, result};
use gpubench_report::data::Plain;

/// A block of page-locked memory. All its copies use one stream.
pub struct Pinned {
    stream: Arc<CudaStream>,
    start: NonNull<u8>,
    bytes: usize,
}

impl Pinned {
    /// Locks `bytes` of memory (at least one). The CPU caches it, unlike write-combined memory, which the host reads
    /// slowly.
    pub fn new(stream: &Arc<CudaStream>, bytes: usize) -> Result<Pinned, DriverError> {
        stream.context().bind_to_thread()?;
        // SAFETY: the stream's context is current.
        let start = unsafe { result::malloc_host(bytes.max(1), 0) }?;
        let missing = DriverError(cudarc::driver::sys::CUresult::CUDA_ERROR_OUT_OF_MEMORY);
        let start = NonNull::new(start.cast::<u8>()).ok_or(missing)?;
        // SAFETY: the block has this many bytes. Rust may not read memory that nothing was written to.
        unsafe { start.write_bytes(0, bytes.max(1)) };
        Ok(Pinned { stream: Arc::clone(stream), start, bytes })
    }

    /// Returns the length of the block.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Waits for earlier copies and copies `host` to the start of the block.
    ///
    /// # Panics
    /// When `host` is larger than the block.
    pub fn fill<T: Plain>(&mut self, host: &[T]) -> Result<(), DriverError> {
        assert!(size_of_val(host) <= self.bytes, "the block holds what is put there");
        self.stream.synchronize()?;
        // SAFETY: the block is large enough, no copy is under way, and it overlaps no Rust value.
        unsafe {
            std::ptr::copy_nonoverlapping(host.as_ptr().cast::<u8>(), self.start.as_ptr(), size_of_val(host));
        }
        Ok(())
    }

    /// Waits for earlier copies and copies the start of the block to all of `host`, as
    /// [`Pinned::copy_from`] or [`Pinned::fill`] has put it there.
    ///
    /// # Panics
    /// When `host` is larger than the block.
    pub fn read<T: Plain>(&self, host: &mut [T]) -> Result<(), DriverError> {
        assert!(size_of_val(host) <= self.bytes, "the block holds what is read from it");
        self.stream.synchronize()?;
        // SAFETY: the block is large enough, no copy is under way, its bytes are initialised, and any bytes are a `T`.
        unsafe {
            std::ptr::copy_nonoverlapping(
                self.start.as_ptr(),
                host.as_mut_ptr().cast::<u8>(),
                size_of_val(host),
            );
        }
        Ok(())
    }

    /// Enqueues a copy of the first `len` elements to the start of `device`.
    ///
    /// # Panics
    /// When either is shorter.
    pub fn copy_to<T: DeviceRepr>(&self, device: &mut CudaSlice<T>, len: usize) -> Result<(), DriverError> {
        let bytes = len * size_of::<T>();
        assert!(bytes <= self.bytes && len <= device.len(), "both hold what is copied");
        self.stream.context().bind_to_thread()?;
        let (target, _guard) = device.device_ptr_mut(&self.stream);
        // SAFETY: both are large enough; the block is neither changed nor freed before the stream is synchronised.
        unsafe {
            let host = std::slice::from_raw_parts(self.start.as_ptr(), bytes);
            result::memcpy_htod_async(target, host, self.stream.cu_stream())
        }
    }

    /// Enqueues a copy of all of `device` to the start of the block.
    ///
    /// # Panics
    /// When the block is smaller.
    pub fn copy_from<T: DeviceRepr>(&mut self, device: &CudaSlice<T>) -> Result<(), DriverError> {
        let bytes = device.num_bytes();
        assert!(bytes <= self.bytes, "the block holds what is copied");
        self.stream.context().bind_to_thread()?;
        let (source, _guard) = device.device_ptr(&self.stream);
        // SAFETY: the block is large enough and neither read nor freed before the stream is synchronised.
        unsafe {
            let host = std::slice::from_raw_parts_mut(self.start.as_ptr(), bytes);
            result::memcpy_dtoh_async(host, source, self.stream.cu_stream())
        }
    }
}

impl Drop for Pinned {
    fn drop(&mut self) {
        // Drop cannot report a failure, and a dead context has freed the block already.
        let _ = self.stream.context().bind_to_thread();
        let _ = self.stream.synchronize();
        // SAFETY: the block came from `malloc_host`, is freed once, and no copy is under way.
        let _ = unsafe { result::free_host(self.start.as_ptr().cast()) };
    }
}
