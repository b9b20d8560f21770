//! Words of host memory through which the host and running kernels communicate.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use cudarc::driver::sys::{self, CUdeviceptr};
use cudarc::driver::{CudaContext, PinnedHostSlice};

use crate::failure::{Result, driver};

/// Page-locked words that host and device both read and write.
pub(crate) struct MappedWords<const WORDS: usize> {
    host: *mut u64,
    device: CUdeviceptr,
    /// Owns the memory behind both addresses.
    _memory: PinnedHostSlice<u64>,
}

impl<const WORDS: usize> MappedWords<WORDS> {
    /// Allocates the words, all zero.
    pub(crate) fn new(ctx: &Arc<CudaContext>) -> Result<Self> {
        let flags = sys::CU_MEMHOSTALLOC_DEVICEMAP;
        // SAFETY: the words are unset until the loop below has written each; u64 has no invalid bit patterns.
        let memory = unsafe { ctx.alloc_pinned_with_flags::<u64>(WORDS, flags) };
        let mut memory = memory.map_err(driver("cuMemHostAlloc"))?;
        let host = memory.as_mut_ptr().map_err(driver("cuEventSynchronize"))?;
        let mut device = 0;
        // SAFETY: `device` is writable and `host` is the start of memory allocated with DEVICEMAP.
        unsafe { sys::cuMemHostGetDevicePointer_v2(&raw mut device, host.cast(), 0) }
            .result()
            .map_err(driver("cuMemHostGetDevicePointer"))?;
        let words = MappedWords { host, device, _memory: memory };
        (0..WORDS).for_each(|word| words.write(word, 0));
        Ok(words)
    }

    pub(crate) fn address(&self) -> CUdeviceptr {
        self.device
    }

    pub(crate) fn read(&self, word: usize) -> u64 {
        self.word(word).load(Ordering::Acquire)
    }

    pub(crate) fn write(&self, word: usize, value: u64) {
        self.word(word).store(value, Ordering::Release);
    }

    fn word(&self, word: usize) -> &AtomicU64 {
        assert!(word < WORDS);
        // SAFETY: the word lies within the live allocation, is aligned, and is only ever accessed atomically: here,
        // and by the device with aligned accesses.
        unsafe { AtomicU64::from_ptr(self.host.add(word)) }
    }
}
