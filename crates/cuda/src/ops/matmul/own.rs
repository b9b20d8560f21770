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
use crate::ffi::square_product::{Parts, SquareProduct};
use crate::kernels::{KernelSource, kernel_source};

/// Declares a part of `kernels/dmma.cu` for an element type.
macro_rules! part {
    ($name:literal, $dtype:ident) => {
        KernelSource { dtype: Some(DType::$dtype), ..kernel_source!("dmma", $name) }
    };
}

pub(crate) static TILED: KernelSource = kernel_source!("matmul");
/// The parts of `kernels/dmma.cu` with its tiles.
pub(crate) static DMMA: Parts = Parts {
    f32: [
        part!("TILE_16X16X64_F32", F32),
        part!("TILE_16X16X128_F32", F32),
        part!("TILE_32X32X32_F32", F32),
        part!("TILE_64X64X64_F32", F32),
    ],
    f64: [part!("TILE_16X16X64_F64", F64), part!("TILE_32X32X32_F64", F64), part!("TILE_64X64X32_F64", F64)],
};

/// The part with the product that is computed only if a word on the device says so.
pub(crate) static IF_NEEDED: KernelSource = part!("IF_NEEDED", F64);

/// The tiles of both element types.
pub(super) static DMMA_PARTS: [&KernelSource; 7] = {
    let Parts { f32: [a, b, c, d], f64: [e, f, g] } = &DMMA;
    [a, b, c, d, e, f, g]
};

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
