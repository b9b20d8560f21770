//! Kernels that any CUDA programmer writes, for ops without a library of their own: the contenders of readers who write a kernel.

use gpubench_backend::Prepared;
use gpubench_report::case::Case;
use gpubench_report::data::Operand;
use gpubench_report::error::CellError;

use super::dense::DenseJob;
use super::reduction::{Statistics, reserve};
use super::{Kernel, by_dtype, input, matrix_bytes, variant};
use crate::context::{Cuda, DeviceElement};
use crate::ffi::map::Map;
use crate::kernels::{KernelSource, kernel_source};

static ELEMENTWISE: KernelSource = kernel_source!("elementwise/plain");
static REDUCTION: KernelSource = kernel_source!("reduction/plain");

/// Threads per block; each has one element.
const THREADS: u32 = 256;

pub(crate) static KERNELS: &[Kernel] = &[
    Kernel::own(
        variant("elementwise", "plain", "one element per thread, CUDA's sine and cosine"),
        &[&ELEMENTWISE],
        by_dtype!(elementwise),
    ),
    Kernel::own(
        variant("sin", "plain", "one element per thread, CUDA's sine"),
        &[&ELEMENTWISE],
        by_dtype!(sine),
    ),
    Kernel::own(
        variant("reduction", "plain", "sums by trees in shared memory; the deviation in a second pass"),
        &[&REDUCTION],
        by_dtype!(statistics),
    ),
];

fn map_of<T: DeviceElement, const INPUTS: usize>(
    cuda: &Cuda,
    case: &Case,
    inputs: &[Operand],
    name: &str,
) -> Result<Box<Prepared>, CellError> {
    cuda.reserve(matrix_bytes(case, INPUTS as u128 + 1))?;
    let len = input::<T>(inputs, 0)?.len();
    let shape = (THREADS, THREADS as usize);
    let kernel = Map::<T, T, INPUTS>::tiled(cuda, &ELEMENTWISE, &format!("{name}_{}", T::DTYPE), len, shape)?;
    let job = DenseJob::<T, INPUTS, _>::new(cuda, case, inputs, move |cuda, inputs, y| {
        kernel.run(&cuda.stream, inputs.each_ref(), y)
    })?;
    Ok(Prepared::new(job))
}

fn elementwise<T: DeviceElement>(
    cuda: &Cuda,
    case: &Case,
    inputs: &[Operand],
) -> Result<Box<Prepared>, CellError> {
    map_of::<T, 2>(cuda, case, inputs, "elementwise")
}

fn sine<T: DeviceElement>(cuda: &Cuda, case: &Case, inputs: &[Operand]) -> Result<Box<Prepared>, CellError> {
    map_of::<T, 1>(cuda, case, inputs, "sine")
}

fn statistics<T: DeviceElement>(
    cuda: &Cuda,
    case: &Case,
    inputs: &[Operand],
) -> Result<Box<Prepared>, CellError> {
    reserve(cuda, case)?;
    Ok(Prepared::new(Statistics::plain(cuda, &REDUCTION, input::<T>(inputs, 0)?)?))
}
