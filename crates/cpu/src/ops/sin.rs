//! The variants of elementwise `sin(a)` on the CPU.

use gpubench_backend::Prepared;
use gpubench_model::case::Case;
use gpubench_model::data::Operand;
use gpubench_model::error::CellError;
use ndarray::Zip;

use super::cpu_variant::CpuVariant;
use super::entry::{by_dtype, variant};
use super::library_variant::{LibraryVariant, Scope};
use super::matrices::{on_one_thread, partitioned};
use crate::context::Cpu;
use crate::libs::blas::Library;
use crate::libs::vml::{self, VmlReal};
use crate::simd::trig::{Trig, sin_into, sin_past_caches};

pub(super) const VARIANTS: &[CpuVariant] = &[
    variant("sin", "parallel", "vectorised sine, all threads", true, by_dtype!(parallel)),
    variant("sin", "plain", "one loop, libm's sine, all threads", true, by_dtype!(plain)),
    variant("sin", "ndarray", "ndarray Zip, libm, one thread", false, by_dtype!(one_pass)),
];

/// The variants that use the vector functions of a BLAS library.
pub(super) const LIBRARY_VARIANTS: &[LibraryVariant] = &[LibraryVariant {
    op: "sin",
    suffix: "",
    summary: "{} (VML), all threads",
    scope: Scope::Mkl,
    prepare: by_dtype!(mkl with library),
}];

/// Elements per call, whose number has 32 bits.
const BLOCK: usize = 1 << 16;

fn mkl<T: Trig + VmlReal>(
    cpu: &Cpu,
    case: &Case,
    inputs: &mut [Operand],
    library: &Library,
) -> Result<Box<Prepared>, CellError> {
    vml::load::<T>(library.provider()?.path())?;
    partitioned::<T, 1>(case, inputs, cpu.threads, |[a], y, _| {
        vml::on_this_thread::<T>(|| {
            for (a, y) in a.chunks(BLOCK).zip(y.chunks_mut(BLOCK)) {
                vml::sines(a, y);
            }
        });
    })
}

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
