//! The variants of sum, mean and population standard deviation on the CPU.

mod moments;

use std::mem::MaybeUninit;

use gpubench_backend::contents::{Contents, host};
use gpubench_backend::{Job, JobTraits, Lent, Prepared};
use gpubench_report::case::Case;
use gpubench_report::data::{Operand, Real};
use gpubench_report::error::CellError;
use ndarray::aview1;
use rayon::prelude::*;
use rustfft::num_traits::{Float, FromPrimitive};

use self::moments::{Moments, TASK};
use super::variants::{CpuVariant, by_dtype, variant};
use crate::operands::{Taken, lend, memory, operands};
use crate::threads::{choices_up_to, wake};

pub(super) const VARIANTS: &[CpuVariant] = &[
    variant(
        "reduction",
        "one-pass",
        "one pass, sums of deviations from each block's mean, all threads",
        true,
        by_dtype!(in_parts, Moments::of),
    ),
    variant(
        "reduction",
        "plain",
        "sum, then deviations from the mean, all threads",
        true,
        by_dtype!(in_parts, Moments::plain),
    ),
    variant("reduction", "ndarray", "ndarray sum, mean and std, one thread", false, by_dtype!(three_passes)),
];

/// Below this number of parts, threads cost more than they save.
const SERIAL: usize = 2;

struct OnePass<T> {
    a: Taken<T>,
    /// Computes the moments of a part.
    moments: fn(&[T]) -> Moments,
    parts: Vec<Moments>,
    total: Moments,
    /// Number of threads in the pool.
    pool: usize,
    /// Number of threads that work.
    threads: usize,
}

fn in_parts<T: Real>(
    threads: usize,
    case: &Case,
    inputs: &mut [Operand],
    moments: fn(&[T]) -> Moments,
) -> Result<Box<Prepared>, CellError> {
    let [a] = operands::<T, 1>(case, inputs)?;
    let parts = vec![Moments::default(); a.len().div_ceil(TASK)];
    let pool = if parts.len() <= SERIAL { 1 } else { threads };
    let traits = JobTraits { thread_choices: choices_up_to(pool.min(parts.len())), ..JobTraits::default() };
    let total = Moments::default();
    Ok(Prepared::with(traits, OnePass { a, moments, parts, total, pool, threads: pool }))
}

impl<T: Real> Job for OnePass<T> {
    fn buffers(&self, show: &mut dyn FnMut(&[MaybeUninit<u8>])) {
        show(memory(&self.a));
        show(memory(&self.parts));
    }

    fn wake_threads(&mut self) -> Result<(), CellError> {
        wake::pool(self.threads);
        Ok(())
    }

    fn use_threads(&mut self, threads: usize) {
        self.threads = threads.clamp(1, self.pool);
    }

    fn contents(&mut self) -> Contents<'_> {
        Contents::new([host(&mut self.a)], [host(std::slice::from_mut(&mut self.total))])
    }

    fn execute(&mut self) -> Result<(), CellError> {
        if self.threads == 1 {
            for (part, values) in self.parts.iter_mut().zip(self.a.chunks(TASK)) {
                *part = (self.moments)(values);
            }
        } else {
            let moments = self.moments;
            // One run of parts per thread, or as many as the pool makes.
            let even = self.parts.len().div_ceil(self.threads);
            let run = if self.threads < self.pool { even } else { 1 };
            let runs = self.parts.par_chunks_mut(run).zip(self.a.par_chunks(run * TASK));
            runs.for_each(|(parts, values)| {
                for (part, values) in parts.iter_mut().zip(values.chunks(TASK)) {
                    *part = moments(values);
                }
            });
        }
        self.total = Moments::merged(&self.parts);
        Ok(())
    }

    fn answer(&mut self) -> Result<Vec<Operand>, CellError> {
        Ok(vec![Operand::dense(3, 1, vec![self.total.sum(), self.total.mean(), self.total.std()])])
    }

    fn lend(&mut self, to: &mut dyn FnMut(Lent<'_>)) -> Result<(), CellError> {
        let answer = self.answer()?;
        lend([&mut self.a], &answer, to)
    }
}

struct ThreePasses<T> {
    a: Taken<T>,
    results: [T; 3],
}

fn three_passes<T: Real + Float + FromPrimitive>(
    _: usize,
    case: &Case,
    inputs: &mut [Operand],
) -> Result<Box<Prepared>, CellError> {
    let [a] = operands::<T, 1>(case, inputs)?;
    Ok(Prepared::new(ThreePasses { a, results: [T::zero(); 3] }))
}

impl<T: Real + Float + FromPrimitive> Job for ThreePasses<T> {
    fn buffers(&self, show: &mut dyn FnMut(&[MaybeUninit<u8>])) {
        show(memory(&self.a));
    }

    fn contents(&mut self) -> Contents<'_> {
        Contents::new([host(&mut self.a)], [host(&mut self.results)])
    }

    fn execute(&mut self) -> Result<(), CellError> {
        let a = aview1(&self.a);
        let mean = a.mean().ok_or_else(|| CellError::call("ndarray mean", "no elements"))?;
        self.results = [a.sum(), mean, a.std(T::zero())];
        Ok(())
    }

    fn answer(&mut self) -> Result<Vec<Operand>, CellError> {
        Ok(vec![Operand::dense(3, 1, self.results.map(Real::to_f64).to_vec())])
    }

    fn lend(&mut self, to: &mut dyn FnMut(Lent<'_>)) -> Result<(), CellError> {
        let answer = self.answer()?;
        lend([&mut self.a], &answer, to)
    }
}

#[cfg(test)]
mod tests {
    use crate::tests::{TEST_SIDES, answer_of};
    use gpubench_report::data::generator::Stream;

    use super::*;

    /// Sum, mean and standard deviation by two plain passes in float64.
    fn reference<T: Real>(a: &[T]) -> [f64; 3] {
        let count = a.len() as f64;
        let sum: f64 = a.iter().map(|a| a.to_f64()).sum();
        let squares: f64 = a.iter().map(|a| (a.to_f64() - sum / count).powi(2)).sum();
        [sum, sum / count, (squares / count).sqrt()]
    }

    fn agrees<T: Real>(variant: &str, n: usize, offset: f64, tolerance: f64) {
        let uniforms: Vec<f64> = Stream::new(1, 0).uniforms(n * n);
        let a: Vec<T> = uniforms.iter().map(|x| T::from_f64(x * 12f64.sqrt() + offset)).collect();
        let answer = answer_of("reduction", variant, n, T::DTYPE, &[Operand::dense(n, n, a.clone())]);
        let found = answer[0].dense_slice::<f64>().unwrap();
        for (found, exact) in found.iter().zip(reference(&a)) {
            assert!((found - exact).abs() <= tolerance * exact.abs(), "{variant} {n}: {found} {exact}");
        }
    }

    #[test]
    fn every_variant_agrees_with_two_passes_in_float64() {
        for n in TEST_SIDES {
            for variant in ["one-pass", "plain"] {
                agrees::<f32>(variant, n, 0.0, 5e-8);
                agrees::<f64>(variant, n, 0.0, 1e-12);
            }
            agrees::<f32>("ndarray", n, 0.0, 1e-3);
            agrees::<f64>("ndarray", n, 0.0, 1e-10);
        }
    }

    /// The sum as NumPy computes it: eight partial sums over at most 128 values, and recursive halves of longer
    /// slices.
    fn pairwise<T: Real>(a: &[T], term: &impl Fn(T) -> T) -> T {
        if a.len() > 128 {
            let (first, second) = a.split_at(a.len() / 2 - a.len() / 2 % 8);
            return pairwise(first, term) + pairwise(second, term);
        }
        let mut r = [T::default(); 8];
        let (groups, rest) = a.as_chunks::<8>();
        groups.iter().for_each(|group| (0..8).for_each(|lane| r[lane] += term(group[lane])));
        let whole = ((r[0] + r[1]) + (r[2] + r[3])) + ((r[4] + r[5]) + (r[6] + r[7]));
        rest.iter().fold(whole, |sum, &x| sum + term(x))
    }

    /// The sum of whole multiples of 2^-53, and of the squares of their deviations from a mean.
    fn exactly<T: Real>(a: &[T]) -> [f64; 3] {
        let (count, unit) = (a.len() as f64, 53f64.exp2());
        let whole: i128 = a.iter().map(|x| (x.to_f64() * unit) as i128).sum();
        // Two float64 parts that together hold all digits.
        let (high, low) =
            ((whole >> 40) as f64 * 40f64.exp2() / unit, (whole & ((1 << 40) - 1)) as f64 / unit);
        let mean = (high + low) / count;
        let squares = a.chunks(64).map(|a| a.iter().map(|x| (x.to_f64() - mean).powi(2)).sum::<f64>());
        [high + low, mean, (squares.sum::<f64>() / count).sqrt()]
    }

    fn no_worse_than_pairwise<T: Real>(n: usize) {
        let (mut ours, mut pairs) = ([0.0; 3], [0.0; 3]);
        let seeds = if n > 500 { 1 } else { 5 };
        for seed in 0..seeds {
            let a: Vec<T> = Stream::new(seed, 0).uniforms(n * n);
            let answer = answer_of("reduction", "one-pass", n, T::DTYPE, &[Operand::dense(n, n, a.clone())]);
            let sum = pairwise(&a, &|x| x).to_f64();
            let mean = T::from_f64(sum / a.len() as f64);
            let squares = pairwise(&a, &|x| (x - mean) * (x - mean)).to_f64();
            let theirs = [sum, mean.to_f64(), (squares / a.len() as f64).sqrt()];
            for (at, exact) in exactly(&a).into_iter().enumerate() {
                ours[at] += (answer[0].dense_slice::<f64>().unwrap()[at] - exact).abs() / exact;
                pairs[at] += (theirs[at] - exact).abs() / exact;
            }
        }
        // A difference below one unit in the last place of float64 is no error of the sum.
        for (ours, pairs) in ours.into_iter().zip(pairs) {
            assert!(
                ours <= pairs.max(f64::from(seeds as u32) * 4.0 * f64::EPSILON),
                "{n}: {ours:e} {pairs:e}"
            );
        }
    }

    #[test]
    fn errors_are_no_worse_than_those_of_numpy() {
        for n in [10, 31, 100, 333, 500, 1000, 2000] {
            no_worse_than_pairwise::<f32>(n);
            no_worse_than_pairwise::<f64>(n);
        }
    }

    #[test]
    fn sums_of_float64_lose_less_than_three_places_at_any_size() {
        for n in [31, 500, 2000] {
            let a: Vec<f64> = Stream::new(3, 0).uniforms(n * n);
            let answer =
                answer_of("reduction", "one-pass", n, f64::DTYPE, &[Operand::dense(n, n, a.clone())]);
            let [exact, ..] = exactly(&a);
            let error = (answer[0].dense_slice::<f64>().unwrap()[0] - exact).abs();
            assert!(error <= 1.5 * f64::EPSILON * exact, "{n}: {}", error / exact / f64::EPSILON);
        }
    }

    #[test]
    fn any_number_of_threads_finds_the_same() {
        let mut a = Operand::dense(400_001, 1, Stream::new(1, 0).uniforms::<f32>(400_001));
        let a = Taken::<f32>::of(&mut a).unwrap();
        let parts = vec![Moments::default(); a.len().div_ceil(TASK)];
        let mut job =
            OnePass { a, moments: Moments::of, parts, total: Moments::default(), pool: 4, threads: 4 };
        let totals = [4, 3, 2, 1].map(|threads| {
            job.use_threads(threads);
            job.execute().unwrap();
            job.total
        });
        assert!(totals.iter().all(|total| *total == totals[0]));
    }

    #[test]
    fn a_large_mean_costs_the_deviation_no_digits() {
        for n in [31, 101, 333] {
            agrees::<f32>("one-pass", n, 1e4, 5e-8);
            agrees::<f64>("one-pass", n, 1e4, 1e-10);
        }
    }
}
