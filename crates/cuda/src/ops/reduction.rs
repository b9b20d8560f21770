//! The op reduction by kernels that any CUDA programmer writes: sums by trees in shared memory.

use gpubench_backend::Prepared;
use gpubench_ops::reduction::Reductions;
use gpubench_report::case::DType;

use super::dense::{Resident, matrix};
use super::{Kernel, Setup, by_real, shaped_of_types};
use crate::ffi::launch::{Argument, BLOCK, enqueue, read, write};
use crate::ffi::tuning::grid;
use crate::kernels::{KernelSource, kernel_source};
use crate::{CellError, Cuda, DeviceValue, Result};

static SOURCE: KernelSource = kernel_source!("reduction/plain");

pub(super) static KERNELS: &[Kernel] = &[Kernel::own(
    shaped_of_types(
        "reduction",
        "plain",
        "sums by trees in shared memory; the deviation in a second pass",
        DType::REAL_AND_HALF,
    ),
    &[&SOURCE],
    by_real!(plain),
)];

/// Blocks per multiprocessor: as many as it can run at the same time, so that no block waits for another.
pub const BLOCKS_PER_MULTIPROCESSOR: u32 = 8;

/// Checks that the matrix, the answer and the scratch memory of any variant fit. Uploads the matrix, and allocates the answer.
pub fn resident<T: DeviceValue>(setup: Setup<'_>) -> Result<(Reductions, Resident<T, f64, 1>)> {
    const SCRATCH: u128 = 1 << 20;
    let reductions = Reductions::of(setup.case);
    let count = reductions.count();
    // With an axis, `plain` has a partial sum per result.
    setup.cuda.reserve(setup.matrix_bytes(1) + 32 * count as u128 + SCRATCH)?;
    Ok((reductions, Resident::new(setup, 3 * count)?.of_cols(count)))
}

/// Makes a job of two kernels for sum and mean, and the same two for the deviation.
fn plain<T: DeviceValue>(setup: Setup<'_>) -> Result<Box<Prepared>> {
    let (reductions, arrays) = resident::<T>(setup)?;
    let cuda = setup.cuda;
    let max_blocks = cuda.multiprocessors().saturating_mul(BLOCKS_PER_MULTIPROCESSOR);
    if let Some(axis) = reductions.axis {
        return along_axis(cuda, reductions, axis, max_blocks, arrays);
    }
    let blocks = grid(cuda, reductions.extent()).min(max_blocks);
    let partial = cuda.function(&SOURCE, &format!("partial_{}", T::DTYPE))?;
    let finish = cuda.function(&SOURCE, "finish")?;
    let mut partials = cuda.alloc::<f64>(blocks as usize)?;
    Ok(arrays.job(matrix::<f64>, move |cuda, [x], out| {
        let stream = &cuda.stream;
        let (out, n) = (write(stream, out), (x.len() as u64).into());
        [0u32, 1].into_iter().try_for_each(|of_squares| {
            let partials = write(stream, &mut partials);
            let arguments = [read(stream, x), n, of_squares.into(), out, partials];
            // SAFETY: the entry takes (const T*, u64, u32, const double*, double*); `partials` holds one per block.
            unsafe { enqueue(stream, &partial, (blocks, 1), arguments)? };
            let arguments = [partials, blocks.into(), n, of_squares.into(), out];
            // SAFETY: the entry takes (const double*, u32, u64, u32, double*); `out` holds three.
            unsafe { enqueue(stream, &finish, (1, 1), arguments) }
        })
    }))
}

/// Makes the job for rows or columns in the same way: blocks of 32 columns and 8 rows, several per result if that fills the device.
fn along_axis<T: DeviceValue>(
    cuda: &Cuda,
    reductions: Reductions,
    axis: usize,
    max_blocks: u32,
    arrays: Resident<T, f64, 1>,
) -> Result<Box<Prepared>> {
    let ([rows, cols], count, extent) = (reductions.matrix, reductions.count(), reductions.extent());
    // Results and elements of each that a block has at the same time.
    let (across, along) = if axis == 0 { (32, 8) } else { (8, 32) };
    let blocks = u32::try_from(count.div_ceil(across)).ok().filter(|&blocks| blocks <= i32::MAX as u32);
    let blocks = blocks.ok_or_else(|| CellError::Failed(format!("{count} results need too many blocks")))?;
    let parts = u32::try_from(extent.div_ceil(along)).unwrap_or(u32::MAX).min(max_blocks / blocks).max(1);
    let partial = cuda.function(&SOURCE, &format!("partial_axis_{}", T::DTYPE))?;
    let finish = cuda.function(&SOURCE, "finish_axis")?;
    let mut partials = cuda.alloc::<f64>(parts as usize * count)?;
    let number = |number: usize| Argument::from(number as u64);
    Ok(arrays.job(matrix::<f64>, move |cuda, [x], out| {
        let stream = &cuda.stream;
        let (values, out, axis) = (read(stream, x), write(stream, out), (axis as u32).into());
        [0u32, 1].into_iter().try_for_each(|of_squares| {
            let partials = write(stream, &mut partials);
            let arguments = [values, number(rows), number(cols), axis, of_squares.into(), out, partials];
            // SAFETY: the entry takes (const T*, u64, u64, u32, u32, const double*, double*); `partials` holds one per result
            // and block along y, and `out` three per result.
            unsafe { enqueue(stream, &partial, (blocks, parts), arguments)? };
            let arguments = [partials, parts.into(), number(count), number(extent), of_squares.into(), out];
            let of_results = u32::try_from(count.div_ceil(BLOCK as usize)).unwrap_or(u32::MAX);
            // SAFETY: the entry takes (const double*, u32, u64, u64, u32, double*), with arrays as above.
            unsafe { enqueue(stream, &finish, (of_results, 1), arguments) }
        })
    }))
}
