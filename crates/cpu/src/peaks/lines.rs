//! The loops over cache lines that one thread runs: read, copy, and add.

use crate::simd::{Vectorized, vectorize};

/// Numbers per cache line.
pub(crate) const WIDTH: usize = 8;
/// The factor of the triad.
pub(crate) const FACTOR: f64 = 3.0;

#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C, align(64))]
pub(crate) struct CacheLine(pub(crate) [f64; WIDTH]);

/// Writes `a` from `b` and `c`, which have the same length.
pub(crate) type Writer = fn(a: &mut [CacheLine], b: &[CacheLine], c: &[CacheLine]);

/// Independent sums: enough to hide the latency of additions in vectors of any width.
const ABREAST: usize = 32;

/// The implementations of copying b to a, the one that is usually fastest first.
pub(crate) fn copies() -> Vec<Writer> {
    let mut ways: Vec<Writer> = vec![];
    // On other CPUs stores that bypass the caches are only hints, which the compiler does not offer.
    #[cfg(target_arch = "x86_64")]
    ways.extend(stream::copy());
    ways.push(|a, b, _| a.copy_from_slice(b));
    ways
}

/// The implementations of `a = b + s c`, the one that is usually fastest first.
pub(crate) fn triads() -> Vec<Writer> {
    let mut ways: Vec<Writer> = vec![];
    #[cfg(target_arch = "x86_64")]
    ways.extend(stream::triad());
    ways.push(|a, b, c| vectorize(Triad(numbers_mut(a), numbers(b), numbers(c))));
    ways
}

pub(crate) fn sum(lines: &[CacheLine]) -> f64 {
    vectorize(Sum(numbers(lines)))
}

/// Returns lines as one slice of numbers: compilers turn nested loops over lines into gathers.
fn numbers(lines: &[CacheLine]) -> &[f64] {
    // SAFETY: a line is its numbers, without anything between them or behind; the slice is borrowed for as long.
    unsafe { std::slice::from_raw_parts(lines.as_ptr().cast(), lines.len() * WIDTH) }
}

fn numbers_mut(lines: &mut [CacheLine]) -> &mut [f64] {
    // SAFETY: as above, and borrowed mutably.
    unsafe { std::slice::from_raw_parts_mut(lines.as_mut_ptr().cast(), lines.len() * WIDTH) }
}

const _: () = assert!(size_of::<CacheLine>() == WIDTH * size_of::<f64>());

struct Sum<'a>(&'a [f64]);

impl Vectorized for Sum<'_> {
    type Output = f64;

    #[inline(always)]
    fn run(self) -> f64 {
        let mut sums = [0.0; ABREAST];
        let (groups, rest) = self.0.as_chunks::<ABREAST>();
        for group in groups {
            for lane in 0..ABREAST {
                sums[lane] += group[lane];
            }
        }
        for (sum, number) in sums.iter_mut().zip(rest) {
            *sum += number;
        }
        sums.iter().sum()
    }
}

struct Triad<'a>(&'a mut [f64], &'a [f64], &'a [f64]);

impl Vectorized for Triad<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Triad(a, b, c) = self;
        for ((a, b), c) in a.iter_mut().zip(b).zip(c) {
            *a = b + FACTOR * c;
        }
    }
}

/// Stores that bypass the caches, so that no line is read before it is overwritten.
#[cfg(target_arch = "x86_64")]
mod stream {
    use std::arch::x86_64::{
        __m256d, _mm_sfence, _mm256_add_pd, _mm256_load_pd, _mm256_mul_pd, _mm256_set1_pd, _mm256_stream_pd,
    };

    use super::{CacheLine, FACTOR, WIDTH, Writer};

    /// Numbers per vector.
    const LANES: usize = 4;
    /// Lines per page.
    const PAGE: usize = 64;
    /// Pages that are copied side by side: more streams of loads are under way than from one page, from which alone the
    /// loads would limit the rate. The C library copies large blocks so too.
    const PAGES: usize = 2;

    /// Copies b to a, if the CPU has such stores.
    pub(super) fn copy() -> Option<Writer> {
        // SAFETY: the CPU has AVX, or this writer would not be chosen.
        std::arch::is_x86_feature_detected!("avx").then_some(|a, b, _| unsafe { stream_copy(a, b) })
    }

    /// Computes a = b + s c, if the CPU has such stores.
    pub(super) fn triad() -> Option<Writer> {
        // SAFETY: the CPU has AVX, or this writer would not be chosen.
        std::arch::is_x86_feature_detected!("avx").then_some(|a, b, c| unsafe { stream_triad(a, b, c) })
    }

    #[target_feature(enable = "avx")]
    fn stream_copy(a: &mut [CacheLine], b: &[CacheLine]) {
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
    fn copy_line(a: &mut CacheLine, b: &CacheLine) {
        for at in (0..WIDTH).step_by(LANES) {
            store(a, at, load(b, at));
        }
    }

    #[target_feature(enable = "avx")]
    fn stream_triad(a: &mut [CacheLine], b: &[CacheLine], c: &[CacheLine]) {
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
    fn load(line: &CacheLine, at: usize) -> __m256d {
        assert!(at.is_multiple_of(LANES) && at + LANES <= WIDTH);
        // SAFETY: the four numbers lie within the line, and a line aligned to 64 bytes aligns them to 32.
        unsafe { _mm256_load_pd(line.0.as_ptr().add(at)) }
    }

    #[inline]
    #[target_feature(enable = "avx")]
    fn store(line: &mut CacheLine, at: usize, value: __m256d) {
        assert!(at.is_multiple_of(LANES) && at + LANES <= WIDTH);
        // SAFETY: the four numbers lie within the line, and a line aligned to 64 bytes aligns them to 32.
        unsafe { _mm256_stream_pd(line.0.as_mut_ptr().add(at), value) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(count: usize, first: f64) -> Vec<CacheLine> {
        (0..count).map(|k| CacheLine(std::array::from_fn(|lane| first + (8 * k + lane) as f64))).collect()
    }

    #[test]
    fn every_line_is_read_once() {
        for count in [0, 1, 3, 4, 5, 101] {
            let numbers = 8 * count;
            assert_eq!(sum(&lines(count, 1.0)), (numbers * (numbers + 1) / 2) as f64, "{count} lines");
        }
    }

    #[test]
    fn every_way_writes_every_line() {
        let number = |k: usize, of: &[CacheLine]| of[k / 8].0[k % 8];
        for count in [13, 128, 256 + 13] {
            let (b, c) = (lines(count, 1.0), lines(count, 1000.0));
            for copy in copies() {
                let mut a = lines(count, 0.0);
                copy(&mut a, &b, &c);
                assert_eq!(a, b, "{count} lines");
            }
            for triad in triads() {
                let mut a = lines(count, 0.0);
                triad(&mut a, &b, &c);
                assert!((0..8 * count).all(|k| number(k, &a) == number(k, &b) + 3.0 * number(k, &c)));
            }
        }
    }
}
