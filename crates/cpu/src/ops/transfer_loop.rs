//! Computes x = sin(x) many times over a matrix that stays in host memory.

use gpubench_backend::Prepared;
use gpubench_model::case::Case;
use gpubench_model::data::Operand;
use gpubench_model::error::CellError;
use gpubench_ops::SINES;
use rayon::prelude::*;

use super::cpu_variant::CpuVariant;
use super::entry::{by_dtype, variant};
use super::matrices::{Matrices, on_one_thread, on_pool, slice, slice_mut};
use crate::context::Cpu;
use crate::simd::trig::{Trig, sin_in_place, sin_into};
use crate::threads::partition::{SERIAL, TASK};

pub(super) const VARIANTS: &[CpuVariant] = &[
    variant(
        "transfer-loop",
        "parallel",
        "100 passes in place, vectorised sine, all threads",
        true,
        by_dtype!(parallel),
    ),
    variant(
        "transfer-loop",
        "ndarray",
        "ndarray mapv_inplace 100 times, libm, one thread",
        false,
        by_dtype!(mapped),
    ),
];

/// The first pass reads the operand, which so stays unchanged. Every pass covers the whole matrix, as in a program
/// that reads each result.
fn parallel<T: Trig>(_: &Cpu, case: &Case, inputs: &mut [Operand]) -> Result<Box<Prepared>, CellError> {
    let matrices = Matrices::<T, 1>::new(case, inputs, T::ZERO)?;
    Ok(on_pool(matrices, |[a], x| {
        let (a, x) = (slice(a), slice_mut(x));
        if x.len() <= SERIAL {
            sin_into(a, x);
            (1..SINES).for_each(|_| sin_in_place(x));
        } else {
            x.par_chunks_mut(TASK).zip(a.par_chunks(TASK)).for_each(|(x, a)| sin_into(a, x));
            (1..SINES).for_each(|_| x.par_chunks_mut(TASK).for_each(sin_in_place));
        }
    }))
}

fn mapped<T: Trig>(_: &Cpu, case: &Case, inputs: &mut [Operand]) -> Result<Box<Prepared>, CellError> {
    on_one_thread::<T, 1>(case, inputs, |[a], x| {
        x.assign(a);
        (0..SINES).for_each(|_| x.mapv_inplace(T::std_sin));
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::assert_formula;

    #[test]
    fn every_variant_agrees_with_a_hundred_sines_in_float64() {
        let sines = |[a]: [f64; 1]| (0..SINES).fold(a, |x, _| x.sin());
        for kernel in VARIANTS {
            assert_formula("transfer-loop", &kernel.variant.name, sines, |a| 400.0 * sines(a));
        }
    }
}
