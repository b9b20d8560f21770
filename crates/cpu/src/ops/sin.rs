//! The variants of elementwise `sin(a)` on the CPU, and those of the loop over all elements without a launch per
//! element (`host-loop`).

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
    variant("sin", "plain", "one loop, libm's sine, all threads", true, by_dtype!(plain, usize::MAX)),
    variant("sin", "ndarray", "ndarray Zip, libm, one thread", false, by_dtype!(one_pass)),
];

/// The variants of `host-loop`.
pub(super) const LOOP_VARIANTS: &[CpuVariant] = &[
    variant(
        "host-loop",
        "parallel",
        "one loop, libm's sine, all threads",
        true,
        by_dtype!(plain, usize::MAX),
    ),
    variant("host-loop", "serial", "one loop, libm's sine, one thread", false, by_dtype!(plain, 1)),
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

fn mkl<T: Real>(
    threads: usize,
    case: &Case,
    inputs: &mut [Operand],
    library: &BlasLibrary,
) -> Result<Box<Prepared>, CellError> {
    let vml = VmlFunctions::<T>::of(library.provider()?)?;
    partitioned::<T, 1>(case, inputs, threads, move |[a], y| {
        vml.on_this_thread(|| {
            for (a, y) in a.chunks(BLOCK).zip(y.chunks_mut(BLOCK)) {
                vml.sines(a, y);
            }
        });
    })
}

fn plain<T: Real + Float>(
    threads: usize,
    case: &Case,
    inputs: &mut [Operand],
    max_threads: usize,
) -> Result<Box<Prepared>, CellError> {
    partitioned::<T, 1>(case, inputs, threads.min(max_threads), |[a], y| sines(a, y))
}

/// Writes the sines of `a`, which is as long as `y`.
pub(super) fn sines<T: Float>(a: &[T], y: &mut [T]) {
    for (y, a) in y.iter_mut().zip(a) {
        *y = a.sin();
    }
}

fn one_pass<T: Real + Float>(
    _: usize,
    case: &Case,
    inputs: &mut [Operand],
) -> Result<Box<Prepared>, CellError> {
    on_one_thread::<T, 1>(case, inputs, |[a], y| Zip::from(y).and(a).for_each(|y, &a| *y = a.sin()))
}
