//! Launches of `kernels/fft/fill.cu`, the kernels before and after cuFFT.

use std::marker::PhantomData;

use cudarc::driver::{CudaFunction, CudaSlice, CudaStream};
use gpubench_report::error::CellError;

use crate::context::{Cuda, DeviceElement};
use crate::ffi::launch::{enqueue, fits, read, write};
use crate::ffi::tuning::grid;
use crate::kernels::{KernelSource, kernel_source};

pub(super) static SOURCE: KernelSource = kernel_source!("fft/fill");

/// Columns and rows that a block of `fft_fill` writes; 4 rows at a time, 4 times.
const FILL_TILE: (u32, u32) = (64, 16);
/// Maximum number of blocks along y that every device supports; the kernel loops over further rows.
const MAX_BLOCKS_Y: u32 = 65_535;

/// Both kernels for transforms of `n x n` elements.
pub(super) struct FftKernels<T> {
    fill_half: CudaFunction,
    to_complex: CudaFunction,
    n: u32,
    to_complex_grid: u32,
    element: PhantomData<T>,
}

impl<T: DeviceElement> FftKernels<T> {
    pub(super) fn load(cuda: &Cuda, n: usize) -> Result<Self, CellError> {
        Ok(FftKernels {
            fill_half: cuda.function(&SOURCE, &format!("fft_fill_{}", T::DTYPE))?,
            to_complex: cuda.function(&SOURCE, &format!("fft_to_complex_{}", T::DTYPE))?,
            n: u32::try_from(n).map_err(|error| CellError::call("fft_fill", error))?,
            to_complex_grid: grid(cuda, n * n),
            element: PhantomData,
        })
    }

    fn area(&self) -> usize {
        self.n as usize * self.n as usize
    }

    /// Enqueues the kernel that fills columns `n / 2 + 1` to `n - 1` of an `n x n` spectrum (`2 * n * n` reals).
    pub(super) fn fill_half(
        &self,
        stream: &CudaStream,
        spectrum: &mut CudaSlice<T>,
    ) -> Result<(), CellError> {
        fits("the spectrum", spectrum, 2 * self.area())?;
        let columns = self.n.saturating_sub(self.n / 2 + 1);
        if columns == 0 {
            return Ok(());
        }
        let grid = (columns.div_ceil(FILL_TILE.0), self.n.div_ceil(FILL_TILE.1).min(MAX_BLOCKS_Y));
        let arguments = [write(stream, spectrum), self.n.into()];
        // SAFETY: the entry takes (pair*, u32); it reads and writes rows and columns below `n`, within the checked length.
        unsafe { enqueue(stream, &self.fill_half, grid, arguments) }
    }

    /// Enqueues the kernel that copies `n * n` reals to the real parts of as many pairs, with imaginary parts zero.
    pub(super) fn to_complex(
        &self,
        stream: &CudaStream,
        real: &CudaSlice<T>,
        pairs: &mut CudaSlice<T>,
    ) -> Result<(), CellError> {
        fits("the input", real, self.area())?;
        fits("the spectrum", pairs, 2 * self.area())?;
        let arguments = [read(stream, real), write(stream, pairs), (self.area() as u64).into()];
        // SAFETY: the entry takes (const T*, pair*, u64); it reads and writes elements below the count, within the lengths.
        unsafe { enqueue(stream, &self.to_complex, (self.to_complex_grid, 1), arguments) }
    }
}
