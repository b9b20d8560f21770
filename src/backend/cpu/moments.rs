//! Count, sum and squared deviations of a slice, and how two of them merge; knows no threads.
//!
//! A block that fits in the first-level cache is summed, then its squared deviations from its own mean are:
//! memory is read once, and no digits cancel whatever the mean. Blocks merge by the formula of Chan, Golub
//! and LeVeque ("Algorithms for computing the sample variance", The American Statistician 37, 1983).

use super::simd::{Vectorized, vectorize};
use crate::data::Real;

/// Elements of one task: a fixed number, so that the result does not depend on the number of threads.
pub(super) const TASK: usize = 1 << 15;
/// Elements of a block: 16 KiB of f64.
const BLOCK: usize = 1 << 11;
/// Independent partial sums: enough to hide the latency of additions in vectors of any width.
const LANES: usize = 16;

/// What is known of some values.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Moments {
    /// How many values.
    count: f64,
    /// Their sum.
    pub(super) sum: f64,
    /// The sum of their squared deviations from their mean.
    squares: f64,
}

impl Moments {
    /// The moments of `values`.
    pub(super) fn of<T: Real>(values: &[T]) -> Self {
        vectorize(Blocks(values))
    }

    /// The moments of the values of both together.
    #[inline(always)]
    pub(super) fn merge(self, other: Moments) -> Moments {
        if self.count == 0.0 {
            return other;
        }
        let count = self.count + other.count;
        let apart = other.mean() - self.mean();
        let between = apart * apart * (self.count * other.count / count);
        Moments { count, sum: self.sum + other.sum, squares: self.squares + other.squares + between }
    }

    /// The mean.
    #[inline(always)]
    pub(super) fn mean(self) -> f64 {
        self.sum / self.count
    }

    /// The population standard deviation.
    pub(super) fn std(self) -> f64 {
        (self.squares / self.count).sqrt()
    }
}

struct Blocks<'a, T>(&'a [T]);

impl<T: Real> Vectorized for Blocks<'_, T> {
    type Output = Moments;

    #[inline(always)]
    fn run(self) -> Moments {
        // A loop, since a closure handed to `fold` would be compiled for the narrowest vectors.
        let mut moments = Moments::default();
        for block in self.0.chunks(BLOCK) {
            let count = block.len() as f64;
            let sum = sum_of(block, |x| x);
            let mean = sum / count;
            let squares = sum_of(block, |x| (x - mean) * (x - mean));
            moments = moments.merge(Moments { count, sum, squares });
        }
        moments
    }

    fn run_portable(self) -> Moments {
        self.run()
    }
}

/// The sum of `term` over a block.
#[inline(always)]
fn sum_of<T: Real>(block: &[T], term: impl Fn(f64) -> f64) -> f64 {
    let mut lanes = [0.0; LANES];
    let (groups, rest) = block.as_chunks::<LANES>();
    for group in groups {
        for lane in 0..LANES {
            lanes[lane] += term(group[lane].to_f64());
        }
    }
    for (lane, x) in lanes.iter_mut().zip(rest) {
        *lane += term(x.to_f64());
    }
    lanes.iter().sum()
}
