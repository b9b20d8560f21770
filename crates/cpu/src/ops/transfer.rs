//! Copies a matrix within host memory, to compare with copies to a device.

use gpubench_backend::Prepared;
use gpubench_model::case::Case;
use gpubench_model::data::{Operand, Real};
use gpubench_model::error::CellError;
use rayon::prelude::*;

use super::cpu_variant::CpuVariant;
use super::entry::{by_dtype, variant};
use super::matrices::{Matrices, on_pool, slice, slice_mut};
use crate::context::Cpu;
use crate::threads::partition::{SERIAL, TASK};

/// The variants; none runs by default, because nothing crosses the bus.
pub(super) const VARIANTS: &[CpuVariant] =
    &[variant("transfer", "memcpy", "copy within host memory, all threads", false, by_dtype!(copied))];

fn copied<T: Real>(_: &Cpu, case: &Case, inputs: &mut [Operand]) -> Result<Box<Prepared>, CellError> {
    // Values that no element has; writing them makes the pages exist.
    let matrices = Matrices::<T, 1>::new(case, inputs, T::from_f64(-1.0))?;
    Ok(on_pool(matrices, |[a], y| {
        let (a, y) = (slice(a), slice_mut(y));
        if y.len() <= SERIAL {
            y.copy_from_slice(a);
        } else {
            y.par_chunks_mut(TASK).zip(a.par_chunks(TASK)).for_each(|(y, a)| y.copy_from_slice(a));
        }
    }))
}

#[cfg(test)]
mod tests {
    use crate::tests::{TEST_SIDES, answer_of};
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
