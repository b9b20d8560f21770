//! Matrix products by own kernels in one launch: tiles through shared memory, and float64 tensor cores, for which
//! float32 operands are converted on load (`docs/kernels/dmma.md`).

use gpubench_backend::Prepared;
use gpubench_model::case::Case;
use gpubench_model::data::Operand;
use gpubench_model::error::CellError;

use super::super::dense::Dense;
use super::{bytes, side};
use crate::context::{Cuda, Element};
use crate::ffi::replay::Replay;
use crate::ffi::square_product::SquareProduct;
use crate::kernels::{KernelSource, kernel_source};

pub(crate) static TILED: KernelSource = kernel_source!("matmul");

/// Loads the kernel for matrices of one size.
type Load<T> = fn(&Cuda, u32) -> Result<SquareProduct<T>, CellError>;

/// Makes the job of the tiled kernel.
pub(super) fn tiled<T: Element>(
    cuda: &Cuda,
    case: &Case,
    inputs: &[Operand],
) -> Result<Box<Prepared>, CellError> {
    prepare::<T>(cuda, case, inputs, |cuda, n| SquareProduct::tiled(cuda, &TILED, n))
}

/// Makes the job of the kernel for float64 tensor cores.
pub(super) fn on_tensor_cores<T: Element>(
    cuda: &Cuda,
    case: &Case,
    inputs: &[Operand],
) -> Result<Box<Prepared>, CellError> {
    prepare::<T>(cuda, case, inputs, SquareProduct::on_tensor_cores)
}

fn prepare<T: Element>(
    cuda: &Cuda,
    case: &Case,
    inputs: &[Operand],
    load: Load<T>,
) -> Result<Box<Prepared>, CellError> {
    let n = side(case)?.unsigned_abs();
    cuda.reserve(3 * bytes(case, size_of::<T>()))?;
    let kernel = load(cuda, n)?;
    let mut replay = Replay::default();
    let job =
        Dense::new(cuda, case, inputs, move |cuda, [a, b], c| kernel.run(cuda, &mut replay, [a, b], c))?;
    Ok(Prepared::new(job))
}
