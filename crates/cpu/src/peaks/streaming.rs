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
    /// Lines per page, and pages that are copied side by side: more streams of loads are under way than from one page, from
    /// which alone the loads would limit the rate. The C library copies large blocks so too.
    const PAGE: usize = 64;
    const PAGES: usize = 2;

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
        let (blocks, rest) = a.as_chunks_mut::<{ PAGES * PAGE }>();
        let (from_blocks, from_rest) = b.as_chunks::<{ PAGES * PAGE }>();
        for (a, b) in blocks.iter_mut().zip(from_blocks) {
            for line in 0..PAGE {
                for at in (line..PAGES * PAGE).step_by(PAGE) {
                    copy_line(&mut a[at], &b[at]);
                }
            }
        }
        for (a, b) in rest.iter_mut().zip(from_rest) {
            copy_line(a, b);
        }
        // Only a fence orders such stores with what follows.
        _mm_sfence();
    }

    #[inline]
    #[target_feature(enable = "avx")]
    fn copy_line(a: &mut Line, b: &Line) {
        for at in (0..WIDTH).step_by(LANES) {
            store(a, at, load(b, at));
        }
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
