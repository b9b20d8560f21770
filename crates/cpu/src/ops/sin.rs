//! The variants of elementwise `sin(a)` on the CPU.

use gpubench_backend::Prepared;
use gpubench_model::case::Case;
use gpubench_model::data::Operand;
use gpubench_model::error::CellError;
use ndarray::Zip;

use super::cpu_variant::CpuVariant;
use super::entry::{by_dtype, variant};
use super::matrices::{on_one_thread, partitioned};
use crate::context::Cpu;
use crate::simd::trig::{Trig, sin_into, sin_past_caches};

pub(super) const VARIANTS: &[CpuVariant] = &[
    variant("sin", "parallel", "vectorised sine, all threads", true, by_dtype!(parallel)),
    variant("sin", "plain", "one loop, libm's sine, all threads", true, by_dtype!(plain)),
    variant("sin", "ndarray", "ndarray Zip, libm, one thread", false, by_dtype!(one_pass)),
];

/// Prepares a job that computes the sines on all threads, if there are enough elements.
pub(super) fn parallel<T: Trig>(
    cpu: &Cpu,
    case: &Case,
    inputs: &mut [Operand],
) -> Result<Box<Prepared>, CellError> {
    vectorised::<T>(case, inputs, cpu.threads)
}

/// Prepares a job that computes the sines on one thread.
pub(super) fn serial<T: Trig>(
    _: &Cpu,
    case: &Case,
    inputs: &mut [Operand],
) -> Result<Box<Prepared>, CellError> {
    vectorised::<T>(case, inputs, 1)
}

fn vectorised<T: Trig>(
    case: &Case,
    inputs: &mut [Operand],
    threads: usize,
) -> Result<Box<Prepared>, CellError> {
    partitioned::<T, 1>(case, inputs, threads, |[a], y, past_caches| {
        let compute = if past_caches { sin_past_caches } else { sin_into };
        compute(a, y);
    })
}

fn plain<T: Trig>(cpu: &Cpu, case: &Case, inputs: &mut [Operand]) -> Result<Box<Prepared>, CellError> {
    partitioned::<T, 1>(case, inputs, cpu.threads, |[a], y, _| {
        for (y, &a) in y.iter_mut().zip(a) {
            *y = a.std_sin();
        }
    })
}

fn one_pass<T: Trig>(_: &Cpu, case: &Case, inputs: &mut [Operand]) -> Result<Box<Prepared>, CellError> {
    on_one_thread::<T, 1>(case, inputs, |[a], y| Zip::from(y).and(a).for_each(|y, &a| *y = a.std_sin()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::assert_formula;

    #[test]
    fn every_variant_agrees_with_the_sine_in_float64() {
        for kernel in VARIANTS {
            assert_formula("sin", &kernel.variant.name, |[a]| a.sin(), |[a]| 4.0 * a);
        }
    }
}
