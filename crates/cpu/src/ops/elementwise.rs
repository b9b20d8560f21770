//! Elementwise `a * b + sin(a) + cos(b)` on the CPU; knows nothing of how sines are computed.

use std::mem::MaybeUninit;

use gpubench_backend::contents::{Contents, host};
use gpubench_backend::{Job, JobTraits, Prepared};
use gpubench_model::case::Case;
use gpubench_model::data::Operand;
use gpubench_model::error::CellError;
use ndarray::{Array2, Zip};

use super::entry::{by_dtype, kernel};
use super::kernel::Kernel;
use crate::context::Cpu;
use crate::memory::memory;
use crate::simd::trig::{Trig, elementwise_into, elementwise_past_caches};
use crate::threads::spread::Spread;

/// The variants.
pub(super) const KERNELS: &[Kernel] = &[
    kernel(
        "elementwise",
        "parallel",
        "one pass, vectorised sine and cosine, all threads",
        true,
        by_dtype!(parallel),
    ),
    kernel("elementwise", "ndarray", "ndarray Zip, one pass, libm, one thread", false, by_dtype!(one_pass)),
    kernel(
        "elementwise",
        "temporaries",
        "ndarray expression with temporaries, one thread",
        false,
        by_dtype!(temporaries),
    ),
];

struct Parallel<T> {
    side: usize,
    a: Vec<T>,
    b: Vec<T>,
    y: Vec<T>,
    spread: Spread,
}

fn parallel<T: Trig>(cpu: &Cpu, case: &Case, inputs: &[Operand]) -> Result<Box<Prepared>, CellError> {
    let (a, b) = operands::<T>(inputs)?;
    let mut spread = Spread::of::<T>(a.len(), cpu.threads);
    let (a, b, mut y) = (a.to_vec(), b.to_vec(), vec![T::ZERO; a.len()]);
    spread.try_stores(|spread| compute(spread, &a, &b, &mut y));
    let traits = JobTraits { thread_choices: spread.choices(), ..JobTraits::default() };
    Ok(Prepared::with(traits, Parallel { side: case.side(), a, b, y, spread }))
}

/// Computes `y`, shared out so.
fn compute<T: Trig>(spread: &Spread, a: &[T], b: &[T], y: &mut [T]) {
    spread.run(y, |part, y, past_caches| {
        let compute = if past_caches { elementwise_past_caches } else { elementwise_into };
        compute(&a[part.clone()], &b[part], y);
    });
}

impl<T: Trig> Job for Parallel<T> {
    fn buffers(&self, show: &mut dyn FnMut(&[MaybeUninit<u8>])) {
        [&self.a[..], &self.b, &self.y].map(memory).into_iter().for_each(show);
    }

    fn rouse(&mut self) -> Result<(), CellError> {
        self.spread.rouse();
        Ok(())
    }

    fn use_threads(&mut self, threads: usize) {
        self.spread.use_threads(threads);
    }

    fn contents(&mut self) -> Contents<'_> {
        Contents::new([host(&mut self.a), host(&mut self.b)], [host(&mut self.y)])
    }

    fn execute(&mut self) -> Result<(), CellError> {
        compute(&self.spread, &self.a, &self.b, &mut self.y);
        Ok(())
    }

    fn answer(&mut self) -> Result<Vec<Operand>, CellError> {
        Ok(vec![Operand::dense(self.side, self.side, self.y.clone())])
    }
}

struct Expression<T> {
    a: Array2<T>,
    b: Array2<T>,
    y: Array2<T>,
    evaluate: fn(&Array2<T>, &Array2<T>, &mut Array2<T>),
}

fn one_pass<T: Trig>(_: &Cpu, case: &Case, inputs: &[Operand]) -> Result<Box<Prepared>, CellError> {
    expression::<T>(case, inputs, |a, b, y| {
        Zip::from(y).and(a).and(b).for_each(|y, &a, &b| *y = a * b + a.std_sin() + b.std_cos());
    })
}

fn temporaries<T: Trig>(_: &Cpu, case: &Case, inputs: &[Operand]) -> Result<Box<Prepared>, CellError> {
    expression::<T>(case, inputs, |a, b, y| *y = a * b + a.mapv(T::std_sin) + b.mapv(T::std_cos))
}

fn expression<T: Trig>(
    case: &Case,
    inputs: &[Operand],
    evaluate: fn(&Array2<T>, &Array2<T>, &mut Array2<T>),
) -> Result<Box<Prepared>, CellError> {
    let (a, b) = operands::<T>(inputs)?;
    let y = Array2::from_elem((case.side(), case.side()), T::ZERO);
    Ok(Prepared::new(Expression { a: matrix(case, a)?, b: matrix(case, b)?, y, evaluate }))
}

impl<T: Trig> Job for Expression<T> {
    fn buffers(&self, show: &mut dyn FnMut(&[MaybeUninit<u8>])) {
        [&self.a, &self.b, &self.y]
            .into_iter()
            .filter_map(|array| array.as_slice())
            .map(memory)
            .for_each(show);
    }

    fn contents(&mut self) -> Contents<'_> {
        let [a, b, y] =
            [&mut self.a, &mut self.b, &mut self.y].map(|array| array.as_slice_mut().unwrap_or_default());
        Contents::new([host(a), host(b)], [host(y)])
    }

    fn execute(&mut self) -> Result<(), CellError> {
        (self.evaluate)(&self.a, &self.b, &mut self.y);
        Ok(())
    }

    fn answer(&mut self) -> Result<Vec<Operand>, CellError> {
        Ok(vec![Operand::dense(self.y.nrows(), self.y.ncols(), self.y.iter().copied().collect())])
    }
}

/// Both operands.
fn operands<T: Trig>(inputs: &[Operand]) -> Result<(&[T], &[T]), CellError> {
    match inputs {
        [a, b] => Ok((a.dense_slice()?, b.dense_slice()?)),
        _ => Err(CellError::Failed(format!("elementwise takes 2 operands, got {}", inputs.len()))),
    }
}

/// A square matrix of ndarray's from row-major elements.
pub(super) fn matrix<T: Copy>(case: &Case, values: &[T]) -> Result<Array2<T>, CellError> {
    let side = case.side();
    Array2::from_shape_vec((side, side), values.to_vec())
        .map_err(|error| CellError::call("ndarray::Array2::from_shape_vec", error))
}

#[cfg(test)]
mod tests {
    use crate::tests::{TEST_SIDES, answer_of};
    use gpubench_model::data::Real;
    use gpubench_model::data::generator::Stream;

    use super::*;

    fn agrees<T: Real>(variant: &str, n: usize) {
        let (a, b): (Vec<T>, Vec<T>) = (Stream::new(1, 0).uniforms(n * n), Stream::new(1, 1).uniforms(n * n));
        let inputs = [Operand::dense(n, n, a.clone()), Operand::dense(n, n, b.clone())];
        let answer = answer_of("elementwise", variant, n, T::DTYPE, &inputs);
        let y = answer[0].dense_slice::<T>().unwrap();
        assert_eq!(y.len(), n * n);
        for ((y, a), b) in y.iter().zip(&a).zip(&b) {
            let (a, b) = (a.to_f64(), b.to_f64());
            let error = (y.to_f64() - (a * b + a.sin() + b.cos())).abs();
            assert!(error <= 8.0 * T::DTYPE.unit_roundoff(), "{variant} {n} {a} {b}: {error}");
        }
    }

    #[test]
    fn every_variant_agrees_with_the_formula_in_float64() {
        for kernel in KERNELS {
            for n in TEST_SIDES {
                agrees::<f32>(&kernel.variant.name, n);
                agrees::<f64>(&kernel.variant.name, n);
            }
        }
    }
}
