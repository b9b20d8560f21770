//! Matrix products by own kernels in one launch: tiles through shared memory, and float64 tensor cores, for which
//! float32 operands are converted on load (`docs/kernels/dmma.md`).

use gpubench_backend::Prepared;
use gpubench_model::case::{Case, DType};
use gpubench_model::data::Operand;
use gpubench_model::error::CellError;

use super::super::dense::Dense;
use super::{bytes, side};
use crate::context::{Cuda, Element};
use crate::ffi::replay::Replay;
use crate::ffi::square_product::SquareProduct;
use crate::kernels::{ByType, KernelSource, kernel_source, kernel_source_by_type};

pub(crate) static TILED: KernelSource = kernel_source!("matmul");
/// The parts of `kernels/dmma.cu`: one per tile of the answer, the smallest first.
pub(crate) static DMMA: [ByType; 3] = [
    kernel_source_by_type!("dmma", "TILE_16_"),
    kernel_source_by_type!("dmma", "TILE_32_"),
    kernel_source_by_type!("dmma", "TILE_64_"),
];

/// The part with the product that is computed only if a word on the device says so.
pub(crate) static IF_NEEDED: KernelSource =
    KernelSource { dtype: Some(DType::F64), ..kernel_source!("dmma", "IF_NEEDED") };

/// The parts of both element types.
pub(super) static DMMA_PARTS: [&KernelSource; 6] =
    [&DMMA[0].f32, &DMMA[0].f64, &DMMA[1].f32, &DMMA[1].f64, &DMMA[2].f32, &DMMA[2].f64];

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
    prepare::<T>(cuda, case, inputs, |cuda, n| SquareProduct::on_tensor_cores(cuda, &DMMA, n))
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
