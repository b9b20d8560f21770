//! Copies past the caches, for results that no cache can hold; knows no arithmetic.
//!
//! An ordinary store reads the line that it is about to overwrite; these do not.

use crate::data::Real;

/// Whether copies go past the caches at all.
pub(super) const IS_PAST_CACHES: bool = cfg!(target_arch = "x86_64");

/// Bytes of a line of the caches.
const LINE: usize = 64;

/// Cuts off what lies before the first whole line.
pub(super) fn aligned<T>(y: &mut [T]) -> (&mut [T], &mut [T]) {
    let head = y.as_ptr().align_offset(LINE).min(y.len());
    y.split_at_mut(head)
}

/// Copies `from` to `to`, both of one length, past the caches where the processor can. [`fence`] must follow before
/// another thread is told of it.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
pub(super) fn copy<T: Real>(from: &[T], to: &mut [T]) {
    use std::arch::x86_64::{__m128i, _mm_loadu_si128, _mm_stream_si128};

    assert_eq!(from.len(), to.len());
    // SAFETY: vectors of whole numbers take any bytes, and any bytes are numbers of the two types that are `Real`.
    let (head, body, tail) = unsafe { to.align_to_mut::<__m128i>() };
    let (of_head, from) = from.split_at(head.len());
    let (of_body, of_tail) = from.split_at(from.len() - tail.len());
    head.copy_from_slice(of_head);
    tail.copy_from_slice(of_tail);
    let vectors = of_body.chunks_exact(size_of::<__m128i>() / size_of::<T>());
    for (to, from) in body.iter_mut().zip(vectors) {
        // SAFETY: the source has the vector's bytes, and the target is aligned to them.
        unsafe { _mm_stream_si128(to, _mm_loadu_si128(from.as_ptr().cast())) };
    }
}

/// Orders such copies with what follows.
#[cfg(target_arch = "x86_64")]
pub(super) fn fence() {
    // SAFETY: every processor of this architecture has the instruction.
    unsafe { std::arch::x86_64::_mm_sfence() };
}

/// Copies `from` to `to`: other processors have such stores only as hints that the compiler does not offer.
#[cfg(not(target_arch = "x86_64"))]
pub(super) fn copy<T: Real>(from: &[T], to: &mut [T]) {
    to.copy_from_slice(from);
}

/// Nothing to order.
#[cfg(not(target_arch = "x86_64"))]
pub(super) fn fence() {}

#[cfg(test)]
mod tests {
    use super::*;

    fn copies<T: Real>() {
        let from: Vec<T> = (0..200).map(|i| T::from_f64(f64::from(i) - 7.5)).collect();
        for (start, end) in [(0, 0), (0, 1), (1, 2), (1, 200), (3, 67), (0, 200)] {
            let mut to = [T::default(); 200];
            copy(&from[start..end], &mut to[start..end]);
            fence();
            assert_eq!(to[start..end], from[start..end]);
            assert!(to[..start].iter().chain(&to[end..]).all(|&x| x == T::default()));
        }
    }

    #[test]
    fn copies_of_any_alignment_arrive_and_touch_nothing_else() {
        copies::<f32>();
        copies::<f64>();
    }
}
