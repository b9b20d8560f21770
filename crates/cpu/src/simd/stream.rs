//! Support for stores past the caches, for results that exceed every cache: their alignment, the fence after them, and
//! the prefetch of operands.
//!
//! An ordinary store reads the line that it will overwrite; these do not.

/// Whether such stores exist.
pub(crate) const IS_PAST_CACHES: bool = cfg!(target_arch = "x86_64");

/// Bytes per cache line.
pub(crate) const LINE: usize = 64;

/// Prefetch distance in bytes: most hardware prefetchers hardly suffice while the CPU computes and writes.
const AHEAD: usize = 2048;

/// Splits off the part before the first whole line.
pub(crate) fn aligned<T>(y: &mut [T]) -> (&mut [T], &mut [T]) {
    let head = y.as_ptr().align_offset(LINE).min(y.len());
    y.split_at_mut(head)
}

/// Prefetches the data [`AHEAD`] bytes after the beginning of `x`.
#[inline(always)]
pub(crate) fn prefetch<T>(x: &[T]) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};

        // SAFETY: any address may be asked for, be there memory or not.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(x.as_ptr().cast::<i8>().wrapping_add(AHEAD)) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (x, AHEAD);
}

/// Orders stores past the caches before later memory accesses.
pub(crate) fn fence() {
    // SAFETY: every CPU of this architecture has the instruction.
    #[cfg(target_arch = "x86_64")]
    unsafe {
        std::arch::x86_64::_mm_sfence();
    }
}
