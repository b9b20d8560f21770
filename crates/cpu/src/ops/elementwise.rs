//! The variants of `a * b + sin(a) + cos(b)` on the CPU.

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
use crate::simd::trig::{Trig, elementwise_into, elementwise_past_caches};

pub(super) const VARIANTS: &[CpuVariant] = &[
    variant(
        "elementwise",
        "parallel",
        "one pass, vectorised sine and cosine, all threads",
        true,
        by_dtype!(parallel),
    ),
    variant("elementwise", "plain", "one loop, libm's sine and cosine, all threads", true, by_dtype!(plain)),
    variant("elementwise", "ndarray", "ndarray Zip, one pass, libm, one thread", false, by_dtype!(one_pass)),
    variant(
        "elementwise",
        "temporaries",
        "ndarray expression with temporaries, one thread",
        false,
        by_dtype!(temporaries),
    ),
];

/// The variants that use the vector functions of a BLAS library.
pub(super) const LIBRARY_VARIANTS: &[LibraryVariant] = &[LibraryVariant {
    op: "elementwise",
    suffix: "",
    summary: "{} (VML): sines and cosines of blocks, products and sums in a loop, all threads",
    scope: Scope::Mkl,
    prepare: by_dtype!(mkl with library),
}];

/// Elements whose sines and cosines stay in the first-level cache.
const BLOCK: usize = 1024;

fn mkl<T: Trig + VmlReal>(
    cpu: &Cpu,
    case: &Case,
    inputs: &mut [Operand],
    library: &Library,
) -> Result<Box<Prepared>, CellError> {
    vml::load::<T>(library.provider()?.path())?;
    partitioned::<T, 2>(case, inputs, cpu.threads, |[a, b], y, _| {
        let mut cosines = [T::default(); BLOCK];
        vml::on_this_thread::<T>(|| {
            for ((a, b), y) in a.chunks(BLOCK).zip(b.chunks(BLOCK)).zip(y.chunks_mut(BLOCK)) {
                vml::sines(a, y);
                vml::cosines(b, &mut cosines);
                for (((y, &a), &b), &cosine) in y.iter_mut().zip(a).zip(b).zip(&cosines) {
                    *y = a * b + *y + cosine;
                }
            }
        });
    })
}

fn parallel<T: Trig>(cpu: &Cpu, case: &Case, inputs: &mut [Operand]) -> Result<Box<Prepared>, CellError> {
    partitioned::<T, 2>(case, inputs, cpu.threads, |[a, b], y, past_caches| {
        let compute = if past_caches { elementwise_past_caches } else { elementwise_into };
        compute(a, b, y);
    })
}

fn plain<T: Trig>(cpu: &Cpu, case: &Case, inputs: &mut [Operand]) -> Result<Box<Prepared>, CellError> {
    partitioned::<T, 2>(case, inputs, cpu.threads, |[a, b], y, _| {
        for ((y, &a), &b) in y.iter_mut().zip(a).zip(b) {
            *y = a * b + a.std_sin() + b.std_cos();
        }
    })
}

fn one_pass<T: Trig>(_: &Cpu, case: &Case, inputs: &mut [Operand]) -> Result<Box<Prepared>, CellError> {
    on_one_thread::<T, 2>(case, inputs, |[a, b], y| {
        Zip::from(y).and(a).and(b).for_each(|y, &a, &b| *y = a * b + a.std_sin() + b.std_cos());
    })
}

fn temporaries<T: Trig>(_: &Cpu, case: &Case, inputs: &mut [Operand]) -> Result<Box<Prepared>, CellError> {
    on_one_thread::<T, 2>(case, inputs, |[a, b], y| *y = a * b + a.mapv(T::std_sin) + b.mapv(T::std_cos))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::assert_formula;

    #[test]
    fn every_variant_agrees_with_the_formula_in_float64() {
        for kernel in VARIANTS {
            let formula = |[a, b]: [f64; 2]| a * b + a.sin() + b.cos();
            assert_formula("elementwise", &kernel.variant.name, formula, |_| 8.0);
        }
    }
}
