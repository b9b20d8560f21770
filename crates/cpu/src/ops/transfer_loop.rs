//! x = sin(x), many times over a matrix that is in host memory all along: nothing has to be copied.

use std::mem::MaybeUninit;

use gpubench_backend::contents::{Contents, host};
use gpubench_backend::{Job, Prepared};
use gpubench_model::case::Case;
use gpubench_model::data::Operand;
use gpubench_model::error::CellError;
use gpubench_ops::SINES;
use ndarray::Array2;
use rayon::prelude::*;

use super::elementwise::matrix;
use super::entry::{by_dtype, kernel};
use super::kernel::Kernel;
use super::sin::operand;
use crate::context::Cpu;
use crate::memory::memory;
use crate::simd::trig::{Trig, sin_in_place, sin_into};
use crate::threads::rouse;
use crate::threads::spread::{SERIAL, TASK};

/// The variants.
pub(super) const KERNELS: &[Kernel] = &[
    kernel(
        "transfer-loop",
        "parallel",
        "100 passes in place, vectorised sine, all threads",
        true,
        by_dtype!(parallel),
    ),
    kernel(
        "transfer-loop",
        "ndarray",
        "ndarray mapv_inplace 100 times, libm, one thread",
        false,
        by_dtype!(mapped),
    ),
];

struct Parallel<T> {
    side: usize,
    a: Vec<T>,
    x: Vec<T>,
}

fn parallel<T: Trig>(_: &Cpu, case: &Case, inputs: &[Operand]) -> Result<Box<Prepared>, CellError> {
    let a = operand::<T>(inputs)?;
    Ok(Prepared::new(Parallel { side: case.side(), a: a.to_vec(), x: vec![T::ZERO; a.len()] }))
}

impl<T: Trig> Job for Parallel<T> {
    fn buffers(&self, show: &mut dyn FnMut(&[MaybeUninit<u8>])) {
        [&self.a[..], &self.x].map(memory).into_iter().for_each(show);
    }

    fn rouse(&mut self) -> Result<(), CellError> {
        if self.x.len() > SERIAL {
            rouse::pool();
        }
        Ok(())
    }

    /// The first pass reads the operand, which so stays as it is; every pass is over the whole matrix, as it would be
    /// in a program that looks at each.
    fn contents(&mut self) -> Contents<'_> {
        Contents::new([host(&mut self.a)], [host(&mut self.x)])
    }

    fn execute(&mut self) -> Result<(), CellError> {
        if self.x.len() <= SERIAL {
            sin_into(&self.a, &mut self.x);
            (1..SINES).for_each(|_| sin_in_place(&mut self.x));
        } else {
            self.x.par_chunks_mut(TASK).zip(self.a.par_chunks(TASK)).for_each(|(x, a)| sin_into(a, x));
            (1..SINES).for_each(|_| self.x.par_chunks_mut(TASK).for_each(sin_in_place));
        }
        Ok(())
    }

    fn answer(&mut self) -> Result<Vec<Operand>, CellError> {
        Ok(vec![Operand::dense(self.side, self.side, self.x.clone())])
    }
}

struct Mapped<T> {
    a: Array2<T>,
    x: Array2<T>,
}

fn mapped<T: Trig>(_: &Cpu, case: &Case, inputs: &[Operand]) -> Result<Box<Prepared>, CellError> {
    let a = matrix(case, operand::<T>(inputs)?)?;
    let x = Array2::from_elem(a.raw_dim(), T::ZERO);
    Ok(Prepared::new(Mapped { a, x }))
}

impl<T: Trig> Job for Mapped<T> {
    fn buffers(&self, show: &mut dyn FnMut(&[MaybeUninit<u8>])) {
        [&self.a, &self.x].into_iter().filter_map(|array| array.as_slice()).map(memory).for_each(show);
    }

    fn contents(&mut self) -> Contents<'_> {
        let [a, x] = [&mut self.a, &mut self.x].map(|array| array.as_slice_mut().unwrap_or_default());
        Contents::new([host(a)], [host(x)])
    }

    fn execute(&mut self) -> Result<(), CellError> {
        self.x.assign(&self.a);
        (0..SINES).for_each(|_| self.x.mapv_inplace(T::std_sin));
        Ok(())
    }

    fn answer(&mut self) -> Result<Vec<Operand>, CellError> {
        Ok(vec![Operand::dense(self.x.nrows(), self.x.ncols(), self.x.iter().copied().collect())])
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
        let answer = answer_of("transfer-loop", variant, n, T::DTYPE, &[Operand::dense(n, n, a.clone())]);
        let x = answer[0].dense_slice::<T>().unwrap();
        assert_eq!(x.len(), n * n);
        for (x, a) in x.iter().zip(&a) {
            let expected = (0..SINES).fold(a.to_f64(), |x, _| x.sin());
            let error = (x.to_f64() - expected).abs();
            assert!(error <= 400.0 * T::DTYPE.unit_roundoff() * expected, "{variant} {n} {a:?}: {error}");
        }
    }

    #[test]
    fn every_variant_agrees_with_a_hundred_sines_in_float64() {
        for kernel in KERNELS {
            for n in TEST_SIDES {
                agrees::<f32>(&kernel.variant.name, n);
                agrees::<f64>(&kernel.variant.name, n);
            }
        }
    }
}
