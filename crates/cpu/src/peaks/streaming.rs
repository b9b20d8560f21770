//! Stores that bypass the caches, so that no line is read before it is overwritten.

#[cfg(target_arch = "x86_64")]
pub(crate) use x86::{copy, triad};

#[cfg(not(target_arch = "x86_64"))]
pub(crate) use none::{copy, triad};

#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::x86_64::{
        __m256d, _mm_sfence, _mm256_add_pd, _mm256_load_pd, _mm256_mul_pd, _mm256_set1_pd, _mm256_stream_pd,
    };

    use super::super::line::{FACTOR, Line, WIDTH, Writer};

    /// Numbers per vector.
    const LANES: usize = 4;

    /// Copies b to a, if the CPU has such stores.
    pub(crate) fn copy() -> Option<Writer> {
        // SAFETY: the CPU has AVX, or this writer would not be chosen.
        std::arch::is_x86_feature_detected!("avx").then_some(|a, b, _| unsafe { stream_copy(a, b) })
    }

    /// Computes a = b + s c, if the CPU has such stores.
    pub(crate) fn triad() -> Option<Writer> {
        // SAFETY: the CPU has AVX, or this writer would not be chosen.
        std::arch::is_x86_feature_detected!("avx").then_some(|a, b, c| unsafe { stream_triad(a, b, c) })
    }

    #[target_feature(enable = "avx")]
    fn stream_copy(a: &mut [Line], b: &[Line]) {
        for (a, b) in a.iter_mut().zip(b) {
            for at in (0..WIDTH).step_by(LANES) {
                store(a, at, load(b, at));
            }
        }
        // Only a fence orders such stores with what follows.
        _mm_sfence();
    }

    #[target_feature(enable = "avx")]
    fn stream_triad(a: &mut [Line], b: &[Line], c: &[Line]) {
        let factor = _mm256_set1_pd(FACTOR);
        for ((a, b), c) in a.iter_mut().zip(b).zip(c) {
            for at in (0..WIDTH).step_by(LANES) {
                store(a, at, _mm256_add_pd(load(b, at), _mm256_mul_pd(factor, load(c, at))));
            }
        }
        _mm_sfence();
    }

    #[inline]
    #[target_feature(enable = "avx")]
    fn load(line: &Line, at: usize) -> __m256d {
        assert!(at.is_multiple_of(LANES) && at + LANES <= WIDTH);
        // SAFETY: the four numbers lie within the line, and a line aligned to 64 bytes aligns them to 32.
        unsafe { _mm256_load_pd(line.0.as_ptr().add(at)) }
    }

    #[inline]
    #[target_feature(enable = "avx")]
    fn store(line: &mut Line, at: usize, value: __m256d) {
        assert!(at.is_multiple_of(LANES) && at + LANES <= WIDTH);
        // SAFETY: the four numbers lie within the line, and a line aligned to 64 bytes aligns them to 32.
        unsafe { _mm256_stream_pd(line.0.as_mut_ptr().add(at), value) }
    }
}

/// On other CPUs such stores are only hints, which the compiler does not offer.
#[cfg(not(target_arch = "x86_64"))]
mod none {
    use super::super::line::Writer;

    pub(crate) fn copy() -> Option<Writer> {
        None
    }

    pub(crate) fn triad() -> Option<Writer> {
        None
    }
}
