//! Compensated sums and moments in float64.
//!
//! The sum keeps the rounding error of each addition (Neumaier 1974, in the branch-free form of Knuth's two-sum, as
//! Sum2 of Ogita, Rump and Oishi 2005), so its error does not grow with its length.

use gpubench_report::data::Element;
use rayon::prelude::*;

/// Elements per task.
const CHUNK: usize = 1 << 14;
/// Independent sums per task, for the pipelines of the CPU.
const LANES: usize = 4;

#[derive(Clone, Copy, Default)]
struct Compensated {
    sum: f64,
    correction: f64,
}

impl Compensated {
    fn add(&mut self, value: f64) {
        let sum = self.sum + value;
        let virtual_value = sum - self.sum;
        self.correction += (self.sum - (sum - virtual_value)) + (value - virtual_value);
        self.sum = sum;
    }

    fn join(mut self, other: Compensated) -> Compensated {
        self.add(other.sum);
        self.correction += other.correction;
        self
    }
}

/// Returns the sum of `map(x)` over all elements, independent of the number of threads.
pub(crate) fn sum<T: Element>(values: &[T], map: impl Fn(T::Wide) -> f64 + Sync) -> f64 {
    let of_chunk = |chunk: &[T]| {
        let mut lanes = [Compensated::default(); LANES];
        let groups = chunk.chunks_exact(LANES);
        for (lane, value) in groups.remainder().iter().enumerate() {
            lanes[lane].add(map(value.widen()));
        }
        for group in groups {
            for lane in 0..LANES {
                lanes[lane].add(map(group[lane].widen()));
            }
        }
        lanes.into_iter().fold(Compensated::default(), Compensated::join)
    };
    let chunks: Vec<Compensated> = values.par_chunks(CHUNK).map(of_chunk).collect();
    let total = chunks.into_iter().fold(Compensated::default(), Compensated::join);
    total.sum + total.correction
}

/// Returns sum, mean and population standard deviation of at least one element, in two passes.
pub(crate) fn moments<T: Element<Wide = f64>>(values: &[T]) -> [f64; 3] {
    let count = values.len() as f64;
    let total = sum(values, |x| x);
    let mean = total / count;
    let squares = sum(values, |x| (x - mean) * (x - mean));
    [total, mean, (squares / count).sqrt()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sum_that_cancels_is_exact() {
        let values: Vec<f64> = (0..50_001).flat_map(|_| [1e16, 1.0, -1e16]).collect();
        assert_eq!(sum(&values, |x| x), 50_001.0);
    }

    #[test]
    fn moments_of_a_few_numbers_are_known() {
        assert_eq!(moments(&[2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0f64]), [40.0, 5.0, 2.0]);
        assert_eq!(moments(&[0.1f64]), [0.1, 0.1, 0.0]);
    }
}
