//! Elementwise `sin(a)` on the CPU; knows nothing of how sines are computed.

use std::mem::MaybeUninit;

use ndarray::{Array2, Zip};
use rayon::prelude::*;

use super::elementwise::{SERIAL, TASK, matrix};
use super::entry::{by_dtype, kernel};
use super::memory::memory;
use super::simd_trig::{Trig, sin_into};
use super::{Cpu, Kernel, rouse};
use crate::backend::Job;
use crate::case::Case;
use crate::data::Operand;
use crate::error::CellError;

/// The variants.
pub(super) const KERNELS: &[Kernel] = &[
    kernel("sin", "parallel", "vectorised sine, all threads", true, by_dtype!(parallel)),
    kernel("sin", "ndarray", "ndarray Zip, libm, one thread", false, by_dtype!(one_pass)),
];

struct Parallel<T> {
    side: usize,
    a: Vec<T>,
    y: Vec<T>,
}

fn parallel<T: Trig>(_: &Cpu, case: &Case, inputs: &[Operand]) -> Result<Box<dyn Job>, CellError> {
    let a = operand::<T>(inputs)?;
    Ok(Box::new(Parallel { side: case.side(), a: a.to_vec(), y: vec![T::ZERO; a.len()] }))
}

impl<T: Trig> Job for Parallel<T> {
    fn buffers(&self, show: &mut dyn FnMut(&[MaybeUninit<u8>])) {
        [&self.a[..], &self.y].map(memory).into_iter().for_each(show);
    }

    fn rouse(&mut self) -> Result<(), CellError> {
        if self.y.len() > SERIAL {
            rouse::pool();
        }
        Ok(())
    }

    fn execute(&mut self) -> Result<(), CellError> {
        if self.y.len() <= SERIAL {
            sin_into(&self.a, &mut self.y);
        } else {
            self.y.par_chunks_mut(TASK).zip(self.a.par_chunks(TASK)).for_each(|(y, a)| sin_into(a, y));
        }
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

fn one_pass<T: Trig>(_: &Cpu, case: &Case, inputs: &[Operand]) -> Result<Box<dyn Job>, CellError> {
    let a = matrix(case, operand::<T>(inputs)?)?;
    let y = Array2::from_elem(a.raw_dim(), T::ZERO);
    Ok(Box::new(OnePass { a, y }))
}

impl<T: Trig> Job for OnePass<T> {
    fn buffers(&self, show: &mut dyn FnMut(&[MaybeUninit<u8>])) {
        [&self.a, &self.y].into_iter().filter_map(|array| array.as_slice()).map(memory).for_each(show);
    }

    fn execute(&mut self) -> Result<(), CellError> {
        Zip::from(&mut self.y).and(&self.a).for_each(|y, &a| *y = a.std_sin());
        Ok(())
    }

    fn answer(&mut self) -> Result<Vec<Operand>, CellError> {
        Ok(vec![Operand::dense(self.y.nrows(), self.y.ncols(), self.y.iter().copied().collect())])
    }
}

/// The operand.
fn operand<T: Trig>(inputs: &[Operand]) -> Result<&[T], CellError> {
    match inputs {
        [a] => a.dense_slice(),
        _ => Err(CellError::Failed(format!("sin takes 1 operand, got {}", inputs.len()))),
    }
}

#[cfg(test)]
mod tests {
    use super::super::entry::{TEST_SIDES, answer_of};
    use crate::data::Real;
    use crate::data::generator::Stream;

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
