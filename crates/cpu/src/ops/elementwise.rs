//! The variants of `a * b + sin(a) + cos(b)` on the CPU.

use gpubench_backend::Prepared;
use gpubench_report::case::Case;
use gpubench_report::data::{Operand, Real};
use gpubench_report::error::CellError;
use ndarray::Zip;
use rustfft::num_traits::Float;

use super::matrices::{on_one_thread, partitioned};
use super::variants::{CpuVariant, LibraryVariant, Scope, by_dtype, variant};
use crate::libs::blas::BlasLibrary;
use crate::libs::vml::VmlFunctions;

pub(super) const VARIANTS: &[CpuVariant] = &[
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

fn mkl<T: Real>(
    threads: usize,
    case: &Case,
    inputs: &mut [Operand],
    library: &BlasLibrary,
) -> Result<Box<Prepared>, CellError> {
    let vml = VmlFunctions::<T>::of(library.provider()?)?;
    partitioned::<T, 2>(case, inputs, threads, move |[a, b], y| {
        let mut cosines = [T::default(); BLOCK];
        vml.on_this_thread(|| {
            for ((a, b), y) in a.chunks(BLOCK).zip(b.chunks(BLOCK)).zip(y.chunks_mut(BLOCK)) {
                vml.sines(a, y);
                vml.cosines(b, &mut cosines);
                for (((y, &a), &b), &cosine) in y.iter_mut().zip(a).zip(b).zip(&cosines) {
                    *y = a * b + *y + cosine;
                }
            }
        });
    })
}

fn plain<T: Real + Float>(
    threads: usize,
    case: &Case,
    inputs: &mut [Operand],
) -> Result<Box<Prepared>, CellError> {
    partitioned::<T, 2>(case, inputs, threads, |[a, b], y| {
        for ((y, &a), &b) in y.iter_mut().zip(a).zip(b) {
            *y = a * b + a.sin() + b.cos();
        }
    })
}

fn one_pass<T: Real + Float>(
    _: usize,
    case: &Case,
    inputs: &mut [Operand],
) -> Result<Box<Prepared>, CellError> {
    on_one_thread::<T, 2>(case, inputs, |[a, b], y| {
        Zip::from(y).and(a).and(b).for_each(|y, &a, &b| *y = a * b + a.sin() + b.cos());
    })
}

fn temporaries<T: Real + Float>(
    _: usize,
    case: &Case,
    inputs: &mut [Operand],
) -> Result<Box<Prepared>, CellError> {
    on_one_thread::<T, 2>(case, inputs, |[a, b], y| *y = a * b + a.mapv(T::sin) + b.mapv(T::cos))
}
