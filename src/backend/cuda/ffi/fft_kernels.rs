//! Launches of the kernels in `kernels/fft_mirror.cu`, with the lengths they index by checked.

use std::marker::PhantomData;
use std::sync::Arc;

use cudarc::driver::{CudaFunction, CudaSlice, CudaStream, LaunchConfig, PushKernelArg};

use crate::backend::cuda::context::{Cuda, Element, driver};
use crate::backend::cuda::kernels::{KernelSource, kernel_source};
use crate::case::DType;
use crate::error::CellError;

/// The source of both kernels.
pub(crate) static SOURCE: KernelSource = kernel_source!("fft_mirror");

/// Threads of a block: columns by rows. A warp takes 32 neighbouring columns.
const MIRROR_BLOCK: (u32, u32) = (64, 4);
/// Rows that one thread fills, as far as the source unrolls.
const ROWS_PER_THREAD: u32 = 4;
const WIDEN_BLOCK: u32 = 256;
/// Blocks along y that every device takes.
const MOST_BLOCKS_Y: u32 = 65_535;

/// The loaded kernels for one element type.
pub(crate) struct FftKernels<T> {
    mirror: CudaFunction,
    widen: CudaFunction,
    stream: Arc<CudaStream>,
    most_widen_blocks: u32,
    element: PhantomData<T>,
}

impl<T: Element> FftKernels<T> {
    /// Loads them.
    pub fn load(cuda: &Cuda) -> Result<Self, CellError> {
        let (mirror, widen) = match T::DTYPE {
            DType::F32 => ("fft_mirror_f32", "fft_widen_f32"),
            DType::F64 => ("fft_mirror_f64", "fft_widen_f64"),
        };
        Ok(FftKernels {
            mirror: cuda.function(&SOURCE, mirror)?,
            widen: cuda.function(&SOURCE, widen)?,
            stream: cuda.stream.clone(),
            // Eight blocks of 256 threads fill a multiprocessor.
            most_widen_blocks: cuda.multiprocessors().saturating_mul(8).max(1),
            element: PhantomData,
        })
    }

    /// Enqueues the filling of columns `n / 2 + 1` to `n - 1` of an `n x n` spectrum (`2 * n * n` reals).
    pub fn mirror(&self, n: usize, spectrum: &mut CudaSlice<T>) -> Result<(), CellError> {
        let side = u32::try_from(n).map_err(|e| CellError::call("fft_mirror", e))?;
        if spectrum.len() != 2 * n * n {
            return Err(CellError::call("fft_mirror", format!("{} reals for a side of {n}", spectrum.len())));
        }
        let columns = side - (side / 2 + 1).min(side);
        if columns == 0 {
            return Ok(());
        }
        let rows_per_block = MIRROR_BLOCK.1 * ROWS_PER_THREAD;
        let config = LaunchConfig {
            grid_dim: (columns.div_ceil(MIRROR_BLOCK.0), side.div_ceil(rows_per_block).min(MOST_BLOCKS_Y), 1),
            block_dim: (MIRROR_BLOCK.0, MIRROR_BLOCK.1, 1),
            shared_mem_bytes: 0,
        };
        let mut launch = self.stream.launch_builder(&self.mirror);
        launch.arg(spectrum).arg(&side);
        // SAFETY: the arguments are the kernel's (pairs, unsigned side); it touches elements of rows and columns below
        // `side`, all within the checked length.
        unsafe { launch.launch(config) }.map_err(driver("fft_mirror"))?;
        Ok(())
    }

    /// Enqueues the copy of `real` into the real parts of `pairs` (twice as long), imaginary parts zero.
    pub fn widen(&self, real: &CudaSlice<T>, pairs: &mut CudaSlice<T>) -> Result<(), CellError> {
        if pairs.len() != 2 * real.len() {
            let text = format!("{} reals to {} complex elements", real.len(), pairs.len() / 2);
            return Err(CellError::call("fft_widen", text));
        }
        let count = real.len() as u64;
        let blocks = u32::try_from(count.div_ceil(u64::from(WIDEN_BLOCK))).unwrap_or(u32::MAX);
        let config = LaunchConfig {
            grid_dim: (blocks.clamp(1, self.most_widen_blocks), 1, 1),
            block_dim: (WIDEN_BLOCK, 1, 1),
            shared_mem_bytes: 0,
        };
        let mut launch = self.stream.launch_builder(&self.widen);
        launch.arg(real).arg(pairs).arg(&count);
        // SAFETY: the arguments are the kernel's (reals, pairs, 64-bit count); it touches elements below `count` of both,
        // within the checked lengths.
        unsafe { launch.launch(config) }.map_err(driver("fft_widen"))?;
        Ok(())
    }
}
