//! Launches of `kernels/fft_mirror.cu` as safe functions that check the length of every slice.

use std::marker::PhantomData;

use cudarc::driver::{CudaFunction, CudaSlice, CudaStream};
use gpubench_model::error::CellError;

use super::super::context::{Cuda, Element};
use super::super::kernels::KernelSource;
use super::launch::{enqueue, fits, grid, read, write};

/// Columns and rows that a block of the mirror kernel fills; 4 rows at a time, 4 times.
const MIRROR_TILE: (u32, u32) = (64, 16);
/// Most blocks along y that every device supports; the kernel loops over further rows.
const MAX_BLOCKS_Y: u32 = 65_535;

/// Both kernels for transforms of `n x n` elements.
pub(crate) struct FftKernels<T> {
    mirror: CudaFunction,
    widen: CudaFunction,
    n: u32,
    widen_grid: u32,
    element: PhantomData<T>,
}

impl<T: Element> FftKernels<T> {
    /// Loads the kernels from `kernels/fft_mirror.cu`.
    pub(crate) fn load(cuda: &Cuda, source: &'static KernelSource, n: usize) -> Result<Self, CellError> {
        Ok(FftKernels {
            mirror: cuda.function(source, &format!("fft_mirror_{}", T::DTYPE))?,
            widen: cuda.function(source, &format!("fft_widen_{}", T::DTYPE))?,
            n: u32::try_from(n).map_err(|error| CellError::call("fft_mirror", error))?,
            widen_grid: grid(cuda, n * n),
            element: PhantomData,
        })
    }

    fn area(&self) -> usize {
        self.n as usize * self.n as usize
    }

    /// Enqueues the kernel that fills columns `n / 2 + 1` to `n - 1` of an `n x n` spectrum (`2 * n * n` reals).
    pub(crate) fn mirror(&self, stream: &CudaStream, spectrum: &mut CudaSlice<T>) -> Result<(), CellError> {
        fits("the spectrum", spectrum, 2 * self.area())?;
        let columns = self.n.saturating_sub(self.n / 2 + 1);
        if columns == 0 {
            return Ok(());
        }
        let grid = (columns.div_ceil(MIRROR_TILE.0), self.n.div_ceil(MIRROR_TILE.1).min(MAX_BLOCKS_Y));
        let arguments = [write(stream, spectrum), self.n.into()];
        // SAFETY: the entry takes (pair*, u32) and touches rows and columns below `n`, within the checked length.
        unsafe { enqueue(stream, &self.mirror, grid, arguments) }
    }

    /// Enqueues the kernel that copies `n * n` reals to the real parts of as many pairs, with imaginary parts zero.
    pub(crate) fn widen(
        &self,
        stream: &CudaStream,
        real: &CudaSlice<T>,
        pairs: &mut CudaSlice<T>,
    ) -> Result<(), CellError> {
        fits("the input", real, self.area())?;
        fits("the spectrum", pairs, 2 * self.area())?;
        let arguments = [read(stream, real), write(stream, pairs), (self.area() as u64).into()];
        // SAFETY: the entry takes (const T*, pair*, u64) and touches elements below the count, within the lengths.
        unsafe { enqueue(stream, &self.widen, (self.widen_grid, 1), arguments) }
    }
}
