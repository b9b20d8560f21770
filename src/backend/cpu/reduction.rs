//! Sum, mean and population standard deviation of a matrix on the CPU.

use std::mem::MaybeUninit;

use ndarray::Array2;
use rayon::prelude::*;
use rustfft::num_traits::{Float, FromPrimitive};

use super::elementwise::matrix;
use super::entry::{by_dtype, kernel};
use super::memory::memory;
use super::moments::{Moments, TASK};
use super::{Cpu, Kernel, rouse};
use crate::backend::Job;
use crate::case::Case;
use crate::data::{Operand, Real};
use crate::error::CellError;

/// The variants.
pub(super) const KERNELS: &[Kernel] = &[
    kernel(
        "reduction",
        "one-pass",
        "one pass over memory, float64 sums, all threads",
        true,
        by_dtype!(one_pass),
    ),
    kernel("reduction", "ndarray", "ndarray sum, mean and std, one thread", false, by_dtype!(three_passes)),
];

struct OnePass<T> {
    a: Vec<T>,
    parts: Vec<Moments>,
    total: Moments,
}

fn one_pass<T: Real>(_: &Cpu, _: &Case, inputs: &[Operand]) -> Result<Box<dyn Job>, CellError> {
    let a = operand::<T>(inputs)?.to_vec();
    let parts = vec![Moments::default(); a.len().div_ceil(TASK)];
    Ok(Box::new(OnePass { a, parts, total: Moments::default() }))
}

impl<T: Real> Job for OnePass<T> {
    fn buffers(&self, show: &mut dyn FnMut(&[MaybeUninit<u8>])) {
        show(memory(&self.a));
        show(memory(&self.parts));
    }

    fn rouse(&mut self) -> Result<(), CellError> {
        if self.parts.len() > 1 {
            rouse::pool();
        }
        Ok(())
    }

    fn execute(&mut self) -> Result<(), CellError> {
        if let [part] = &mut self.parts[..] {
            *part = Moments::of(&self.a);
        } else {
            let tasks = self.parts.par_iter_mut().zip(self.a.par_chunks(TASK));
            tasks.for_each(|(part, values)| *part = Moments::of(values));
        }
        self.total = self.parts.iter().copied().fold(Moments::default(), Moments::merge);
        Ok(())
    }

    fn answer(&mut self) -> Result<Vec<Operand>, CellError> {
        Ok(vec![Operand::dense(3, 1, vec![self.total.sum, self.total.mean(), self.total.std()])])
    }
}

struct ThreePasses<T> {
    a: Array2<T>,
    results: [T; 3],
}

fn three_passes<T: Real + Float + FromPrimitive>(
    _: &Cpu,
    case: &Case,
    inputs: &[Operand],
) -> Result<Box<dyn Job>, CellError> {
    let a = matrix(case, operand::<T>(inputs)?)?;
    Ok(Box::new(ThreePasses { a, results: [T::zero(); 3] }))
}

impl<T: Real + Float + FromPrimitive> Job for ThreePasses<T> {
    fn buffers(&self, show: &mut dyn FnMut(&[MaybeUninit<u8>])) {
        show(memory(self.a.as_slice().unwrap_or_default()));
    }

    fn execute(&mut self) -> Result<(), CellError> {
        let mean = self.a.mean().ok_or_else(|| CellError::call("ndarray mean", "no elements"))?;
        self.results = [self.a.sum(), mean, self.a.std(T::zero())];
        Ok(())
    }

    fn answer(&mut self) -> Result<Vec<Operand>, CellError> {
        Ok(vec![Operand::dense(3, 1, self.results.map(Real::to_f64).to_vec())])
    }
}

/// The operand.
fn operand<T: Real>(inputs: &[Operand]) -> Result<&[T], CellError> {
    match inputs {
        [a] => a.dense_slice(),
        _ => Err(CellError::Failed(format!("reduction takes 1 operand, got {}", inputs.len()))),
    }
}

#[cfg(test)]
mod tests {
    use super::super::entry::{TEST_SIDES, answer_of};
    use crate::data::generator::Stream;

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
            agrees::<f32>("one-pass", n, 0.0, 1e-12);
            agrees::<f64>("one-pass", n, 0.0, 1e-12);
            agrees::<f32>("ndarray", n, 0.0, 1e-3);
            agrees::<f64>("ndarray", n, 0.0, 1e-10);
        }
    }

    #[test]
    fn a_large_mean_costs_the_deviation_no_digits() {
        for n in [31, 101, 333] {
            agrees::<f32>("one-pass", n, 1e4, 1e-10);
            agrees::<f64>("one-pass", n, 1e4, 1e-10);
        }
    }
}
