//! Copies a matrix within host memory (`transfer`), to compare with copies to a device, and computes x = sin(x) many times
//! over a matrix that stays in host memory (`transfer-loop`).

use gpubench_backend::Prepared;
use gpubench_ops::SINES;
use gpubench_report::case::Case;
use gpubench_report::data::{Operand, Real};
use gpubench_report::error::CellError;
use rustfft::num_traits::Float;

use super::matrices::{Matrices, on_one_thread, on_pool};
use super::sin::sines;
use super::variants::{CpuVariant, by_dtype, variant};

/// The variants of `transfer`; none runs by default, because nothing crosses the bus.
pub(super) const VARIANTS: &[CpuVariant] =
    &[variant("transfer", "memcpy", "copy within host memory, all threads", false, by_dtype!(copied))];

/// The variants of `transfer-loop`.
pub(super) const LOOP_VARIANTS: &[CpuVariant] = &[
    variant(
        "transfer-loop",
        "parallel",
        "100 passes in place, libm's sine, all threads",
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

fn copied<T: Real>(_: usize, case: &Case, inputs: &mut [Operand]) -> Result<Box<Prepared>, CellError> {
    // Values that no element has; writing them makes the pages exist.
    let matrices = Matrices::<T, 1>::new(case, inputs, T::from_f64(-1.0))?;
    Ok(on_pool(matrices, |partition, [a], y| partition.run(y, |part, y| y.copy_from_slice(&a[part]))))
}

/// The first pass reads the operand, which so stays unchanged. Every pass covers the whole matrix, as in a program
/// that reads each result.
fn parallel<T: Real + Float>(
    _: usize,
    case: &Case,
    inputs: &mut [Operand],
) -> Result<Box<Prepared>, CellError> {
    Ok(on_pool(Matrices::<T, 1>::new(case, inputs, T::default())?, |partition, [a], x| {
        partition.run(x, |part, x| sines(&a[part], x));
        for _ in 1..SINES {
            partition.run(x, |_, x| x.iter_mut().for_each(|x| *x = x.sin()));
        }
    }))
}

fn mapped<T: Real + Float>(
    _: usize,
    case: &Case,
    inputs: &mut [Operand],
) -> Result<Box<Prepared>, CellError> {
    on_one_thread::<T, 1>(case, inputs, |[a], x| {
        x.assign(a);
        (0..SINES).for_each(|_| x.mapv_inplace(T::sin));
    })
}
