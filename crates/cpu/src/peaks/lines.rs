//! The loops over cache lines that one thread runs: read, copy, and add.

use super::line::{FACTOR, Line, WIDTH, Writer};
use super::streaming;
use crate::simd::{Vectorized, vectorize};

/// Independent sums: enough to hide the latency of additions in vectors of any width.
const ABREAST: usize = 32;

/// The implementations of copying b to a, the one that is usually fastest first.
pub(crate) fn copies() -> Vec<Writer> {
    let plain: Writer = |a, b, _| a.copy_from_slice(b);
    [streaming::copy(), Some(plain)].into_iter().flatten().collect()
}

/// The implementations of `a = b + s c`, the one that is usually fastest first.
pub(crate) fn triads() -> Vec<Writer> {
    let plain: Writer = |a, b, c| vectorize(Triad(numbers_mut(a), numbers(b), numbers(c)));
    [streaming::triad(), Some(plain)].into_iter().flatten().collect()
}

pub(crate) fn sum(lines: &[Line]) -> f64 {
    vectorize(Sum(numbers(lines)))
}

/// Returns lines as one slice of numbers: compilers turn nested loops over lines into gathers.
fn numbers(lines: &[Line]) -> &[f64] {
    // SAFETY: a line is its numbers, without anything between them or behind; the slice is borrowed for as long.
    unsafe { std::slice::from_raw_parts(lines.as_ptr().cast(), lines.len() * WIDTH) }
}

fn numbers_mut(lines: &mut [Line]) -> &mut [f64] {
    // SAFETY: as above, and borrowed mutably.
    unsafe { std::slice::from_raw_parts_mut(lines.as_mut_ptr().cast(), lines.len() * WIDTH) }
}

const _: () = assert!(size_of::<Line>() == WIDTH * size_of::<f64>());

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

    fn run_portable(self) -> f64 {
        self.run()
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

    fn run_portable(self) {
        self.run();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(count: usize, first: f64) -> Vec<Line> {
        (0..count).map(|k| Line(std::array::from_fn(|lane| first + (8 * k + lane) as f64))).collect()
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
        let number = |k: usize, of: &[Line]| of[k / 8].0[k % 8];
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
