//! A matrix copied within host memory: what the way to a device is to be held against.

use std::mem::MaybeUninit;

use gpubench_backend::contents::{Contents, host};
use gpubench_backend::{Job, Prepared};
use gpubench_model::case::Case;
use gpubench_model::data::Operand;
use gpubench_model::error::CellError;
use rayon::prelude::*;

use super::entry::{by_dtype, kernel};
use super::kernel::Kernel;
use super::sin::operand;
use crate::context::Cpu;
use crate::memory::memory;
use crate::simd::trig::Trig;
use crate::threads::rouse;
use crate::threads::spread::{SERIAL, TASK};

/// The variants; none by default, as nothing crosses here.
pub(super) const KERNELS: &[Kernel] =
    &[kernel("transfer", "memcpy", "within host memory, all threads", false, by_dtype!(copied))];

struct Copied<T> {
    side: usize,
    a: Vec<T>,
    y: Vec<T>,
}

fn copied<T: Trig>(_: &Cpu, case: &Case, inputs: &[Operand]) -> Result<Box<Prepared>, CellError> {
    let a = operand::<T>(inputs)?.to_vec();
    // Values that no element has, written so that the pages are there.
    let y = vec![T::from_f64(-1.0); a.len()];
    Ok(Prepared::new(Copied { side: case.side(), a, y }))
}

impl<T: Trig> Job for Copied<T> {
    fn buffers(&self, show: &mut dyn FnMut(&[MaybeUninit<u8>])) {
        [&self.a[..], &self.y].map(memory).into_iter().for_each(show);
    }

    fn rouse(&mut self) -> Result<(), CellError> {
        if self.y.len() > SERIAL {
            rouse::pool();
        }
        Ok(())
    }

    fn contents(&mut self) -> Contents<'_> {
        Contents::new([host(&mut self.a)], [host(&mut self.y)])
    }

    fn execute(&mut self) -> Result<(), CellError> {
        if self.y.len() <= SERIAL {
            self.y.copy_from_slice(&self.a);
        } else {
            self.y.par_chunks_mut(TASK).zip(self.a.par_chunks(TASK)).for_each(|(y, a)| y.copy_from_slice(a));
        }
        Ok(())
    }

    fn answer(&mut self) -> Result<Vec<Operand>, CellError> {
        Ok(vec![Operand::dense(self.side, self.side, self.y.clone())])
    }
}

#[cfg(test)]
mod tests {
    use crate::tests::{TEST_SIDES, answer_of};
    use gpubench_model::data::Real;
    use gpubench_model::data::generator::Stream;

    use super::*;

    fn arrives<T: Real>(n: usize) {
        let a = Operand::dense(n, n, Stream::new(1, 0).uniforms::<T>(n * n));
        assert_eq!(answer_of("transfer", "memcpy", n, T::DTYPE, std::slice::from_ref(&a)), [a]);
    }

    #[test]
    fn every_element_arrives_as_it_was() {
        for n in TEST_SIDES {
            arrives::<f32>(n);
            arrives::<f64>(n);
        }
    }
}
