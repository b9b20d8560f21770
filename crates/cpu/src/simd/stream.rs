//! Around stores past the caches, for results that no cache can hold: where they may begin, what must follow, and
//! operands read ahead. Knows no arithmetic.
//!
//! An ordinary store reads the line that it is about to overwrite; these do not.

/// Whether there are such stores at all.
pub(crate) const IS_PAST_CACHES: bool = cfg!(target_arch = "x86_64");

/// Bytes of a line of the caches.
pub(crate) const LINE: usize = 64;

/// How far ahead operands are asked for, in bytes: what most processors fetch of themselves hardly suffices while they
/// compute and write.
const AHEAD: usize = 2048;

/// Cuts off what lies before the first whole line.
pub(crate) fn aligned<T>(y: &mut [T]) -> (&mut [T], &mut [T]) {
    let head = y.as_ptr().align_offset(LINE).min(y.len());
    y.split_at_mut(head)
}

/// Asks for what lies [`AHEAD`] of the beginning of `x`.
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

/// Orders stores past the caches with what follows.
pub(crate) fn fence() {
    // SAFETY: every processor of this architecture has the instruction.
    #[cfg(target_arch = "x86_64")]
    unsafe {
        std::arch::x86_64::_mm_sfence();
    }
}
