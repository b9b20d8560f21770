//! Elementwise `sin(a)` on the CPU; knows nothing of how sines are computed.

use std::mem::MaybeUninit;

use gpubench_backend::contents::{Contents, host};
use gpubench_backend::{Job, JobTraits, Prepared};
use gpubench_model::case::Case;
use gpubench_model::data::Operand;
use gpubench_model::error::CellError;
use ndarray::{Array2, Zip};

use super::elementwise::matrix;
use super::entry::{by_dtype, kernel};
use super::kernel::Kernel;
use crate::context::Cpu;
use crate::memory::memory;
use crate::simd::trig::{Trig, sin_into, sin_past_caches};
use crate::threads::spread::Spread;

/// The variants.
pub(super) const KERNELS: &[Kernel] = &[
    kernel("sin", "parallel", "vectorised sine, all threads", true, by_dtype!(parallel)),
    kernel("sin", "ndarray", "ndarray Zip, libm, one thread", false, by_dtype!(one_pass)),
];

struct Vectorised<T> {
    side: usize,
    a: Vec<T>,
    y: Vec<T>,
    spread: Spread,
}

/// The job that takes the sines on all threads, where there are enough elements for them.
pub(super) fn parallel<T: Trig>(
    cpu: &Cpu,
    case: &Case,
    inputs: &[Operand],
) -> Result<Box<Prepared>, CellError> {
    vectorised(case, operand::<T>(inputs)?, cpu.threads)
}

/// The job that takes the sines on one thread.
pub(super) fn serial<T: Trig>(_: &Cpu, case: &Case, inputs: &[Operand]) -> Result<Box<Prepared>, CellError> {
    vectorised(case, operand::<T>(inputs)?, 1)
}

fn vectorised<T: Trig>(case: &Case, a: &[T], threads: usize) -> Result<Box<Prepared>, CellError> {
    let mut spread = Spread::of::<T>(a.len(), threads);
    let (a, mut y) = (a.to_vec(), vec![T::ZERO; a.len()]);
    spread.try_stores(|spread| compute(spread, &a, &mut y));
    let traits = JobTraits { thread_choices: spread.choices(), ..JobTraits::default() };
    Ok(Prepared::with(traits, Vectorised { side: case.side(), a, y, spread }))
}

/// Computes `y`, shared out so.
fn compute<T: Trig>(spread: &Spread, a: &[T], y: &mut [T]) {
    spread.run(y, |part, y, past_caches| {
        let compute = if past_caches { sin_past_caches } else { sin_into };
        compute(&a[part], y);
    });
}

impl<T: Trig> Job for Vectorised<T> {
    fn buffers(&self, show: &mut dyn FnMut(&[MaybeUninit<u8>])) {
        [&self.a[..], &self.y].map(memory).into_iter().for_each(show);
    }

    fn rouse(&mut self) -> Result<(), CellError> {
        self.spread.rouse();
        Ok(())
    }

    fn use_threads(&mut self, threads: usize) {
        self.spread.use_threads(threads);
    }

    fn contents(&mut self) -> Contents<'_> {
        Contents::new([host(&mut self.a)], [host(&mut self.y)])
    }

    fn execute(&mut self) -> Result<(), CellError> {
        compute(&self.spread, &self.a, &mut self.y);
        Ok(())
    }

    fn answer(&mut self) -> Result<Vec<Operand>, CellError> {
        Ok(vec![Operand::dense(self.side, self.side, self.y.clone())])
    }
}

struct OnePass<T> {
    a: Array2<T>,
    y: Array2<T>,
}

fn one_pass<T: Trig>(_: &Cpu, case: &Case, inputs: &[Operand]) -> Result<Box<Prepared>, CellError> {
    let a = matrix(case, operand::<T>(inputs)?)?;
    let y = Array2::from_elem(a.raw_dim(), T::ZERO);
    Ok(Prepared::new(OnePass { a, y }))
}

impl<T: Trig> Job for OnePass<T> {
    fn buffers(&self, show: &mut dyn FnMut(&[MaybeUninit<u8>])) {
        [&self.a, &self.y].into_iter().filter_map(|array| array.as_slice()).map(memory).for_each(show);
    }

    fn contents(&mut self) -> Contents<'_> {
        let [a, y] = [&mut self.a, &mut self.y].map(|array| array.as_slice_mut().unwrap_or_default());
        Contents::new([host(a)], [host(y)])
    }

    fn execute(&mut self) -> Result<(), CellError> {
        Zip::from(&mut self.y).and(&self.a).for_each(|y, &a| *y = a.std_sin());
        Ok(())
    }

    fn answer(&mut self) -> Result<Vec<Operand>, CellError> {
        Ok(vec![Operand::dense(self.y.nrows(), self.y.ncols(), self.y.iter().copied().collect())])
    }
}

/// The only operand.
pub(super) fn operand<T: Trig>(inputs: &[Operand]) -> Result<&[T], CellError> {
    match inputs {
        [a] => a.dense_slice(),
        _ => Err(CellError::Failed(format!("one operand is taken, got {}", inputs.len()))),
    }
}

#[cfg(test)]
mod tests {
    use crate::tests::{TEST_SIDES, answer_of};
    use gpubench_model::data::Real;
    use gpubench_model::data::generator::Stream;

    use super::*;

    fn agrees<T: Real>(variant: &str, n: usize) {
        let a: Vec<T> = Stream::new(1, 0).uniforms(n * n);
        let answer = answer_of("sin", variant, n, T::DTYPE, &[Operand::dense(n, n, a.clone())]);
        let y = answer[0].dense_slice::<T>().unwrap();
        assert_eq!(y.len(), n * n);
        for (y, a) in y.iter().zip(&a) {
            let error = (y.to_f64() - a.to_f64().sin()).abs();
            assert!(error <= 4.0 * T::DTYPE.unit_roundoff() * a.to_f64(), "{variant} {n} {a:?}: {error}");
        }
    }

    #[test]
    fn every_variant_agrees_with_the_sine_in_float64() {
        for kernel in KERNELS {
            for n in TEST_SIDES {
                agrees::<f32>(&kernel.variant.name, n);
                agrees::<f64>(&kernel.variant.name, n);
            }
        }
    }
}
