//! The op reduction by kernels that any CUDA programmer writes: sums by trees in shared memory.

use gpubench_backend::Prepared;
use gpubench_ops::reduction::Reductions;
use gpubench_report::case::DType;
use gpubench_report::error::Unavailable;

use super::dense::{Resident, column};
use super::{Kernel, Setup, by_real, shaped_of_types};
use crate::ffi::launch::{enqueue, read, write};
use crate::ffi::tuning::grid;
use crate::kernels::{KernelSource, kernel_source};
use crate::{DeviceValue, Result};

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

/// Checks that all elements are reduced, and that the matrix and the scratch memory of any variant fit.
pub fn reserve(setup: Setup<'_>) -> Result<()> {
    const SCRATCH: u128 = 1 << 20;
    if Reductions::of(setup.case).axis.is_some() {
        return Err(Unavailable::without_fix("the kernel reduces all elements: it takes no axis").into());
    }
    setup.cuda.reserve(setup.matrix_bytes(1) + SCRATCH)
}

/// Makes a job of two kernels for sum and mean, and the same two for the deviation.
fn plain<T: DeviceValue>(setup: Setup<'_>) -> Result<Box<Prepared>> {
    reserve(setup)?;
    let cuda = setup.cuda;
    let len = setup.input::<T>(0)?.len();
    let blocks = grid(cuda, len).min(cuda.multiprocessors().saturating_mul(BLOCKS_PER_MULTIPROCESSOR));
    let partial = cuda.function(&SOURCE, &format!("partial_{}", T::DTYPE))?;
    let finish = cuda.function(&SOURCE, "finish")?;
    let mut partials = cuda.alloc::<f64>(blocks as usize)?;
    let arrays = Resident::<T, f64, 1>::new(setup, 3)?;
    Ok(arrays.job(column, move |cuda, [x], out| {
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
