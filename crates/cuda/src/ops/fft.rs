//! The op fft: the full complex spectrum of a real N x N matrix, by cuFFT and a kernel of `kernels/fft/fill.cu` before or after it.

use std::marker::PhantomData;

use cudarc::driver::{CudaFunction, CudaSlice, CudaStream};
use gpubench_backend::Prepared;
use gpubench_report::data::{Dense, Operand};
use rustfft::num_complex::Complex;

use super::dense::Resident;
use crate::ffi::cufft::SquareTransform;
use crate::ffi::launch::{enqueue, fits, read, write};
use crate::ffi::tuning::grid;
use crate::kernels::{KernelSource, kernel_source};
use crate::{CellError, Cuda, DeviceElement, Kernel, Library, Result, Setup, by_dtype, variant};

static SOURCE: KernelSource = kernel_source!("fft/fill");

pub(super) static KERNELS: &[Kernel] = &[
    Kernel {
        variant: variant("fft", "r2c", "cuFFT real to complex, then one kernel fills the other half"),
        sources: &[&SOURCE],
        libraries: &[Library::Cufft],
        prepare: by_dtype!(transform, true),
    },
    Kernel {
        variant: variant("fft", "c2c", "input converted to complex, then cuFFT complex to complex"),
        sources: &[&SOURCE],
        libraries: &[Library::Cufft],
        prepare: by_dtype!(transform, false),
    },
];

/// Makes the job. Converting to complex is part of the op, because its input is real.
fn transform<T: DeviceElement>(setup: Setup<'_>, is_real: bool) -> Result<Box<Prepared>> {
    let (cuda, n) = (setup.cuda, setup.n());
    cuda.require(Library::Cufft)?;
    setup.reserve_matrices(3)?;
    let kernels = FftKernels::load(cuda, n)?;
    // The answer has `n * n` pairs of real and imaginary part.
    let arrays = Resident::<T, T, 1>::new(setup, 2 * n * n)?;
    // A single element is its own spectrum.
    let plan = match n {
        ..2 => None,
        _ => Some(SquareTransform::new(cuda, n, is_real)?),
    };
    Ok(arrays.job(spectrum, move |Cuda { stream, .. }, [input], spectrum| match &plan {
        Some(plan) if plan.is_real() => {
            plan.transform_real(input, spectrum)?;
            kernels.fill_half(stream, spectrum)
        }
        Some(plan) => {
            kernels.to_complex(stream, input, spectrum)?;
            plan.in_place(spectrum)
        }
        None => kernels.to_complex(stream, input, spectrum),
    }))
}

/// Downloads pairs of real and imaginary part as the answer.
pub fn spectrum<T: DeviceElement>(cuda: &Cuda, n: usize, reals: &CudaSlice<T>) -> Result<Vec<Operand>> {
    let values = T::into_complex_values(pairs(&cuda.download(reals)?));
    Ok(vec![Operand::Dense(Dense { rows: n, cols: n, values })])
}

/// Converts alternating real and imaginary parts to complex elements.
fn pairs<T: Copy>(reals: &[T]) -> Vec<Complex<T>> {
    reals.chunks_exact(2).map(|pair| Complex::new(pair[0], pair[1])).collect()
}

/// Columns and rows that a block of `fft_fill` writes; 4 rows at a time, 4 times.
const FILL_TILE: (u32, u32) = (64, 16);
/// Maximum number of blocks along y that every device supports; the kernel loops over further rows.
const MAX_BLOCKS_Y: u32 = 65_535;

/// The kernels before and after cuFFT for transforms of `n x n` elements.
struct FftKernels<T> {
    fill_half: CudaFunction,
    to_complex: CudaFunction,
    n: u32,
    to_complex_grid: u32,
    element: PhantomData<T>,
}

impl<T: DeviceElement> FftKernels<T> {
    fn load(cuda: &Cuda, n: usize) -> Result<Self> {
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
    fn fill_half(&self, stream: &CudaStream, spectrum: &mut CudaSlice<T>) -> Result<()> {
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
    fn to_complex(&self, stream: &CudaStream, real: &CudaSlice<T>, pairs: &mut CudaSlice<T>) -> Result<()> {
        fits("the input", real, self.area())?;
        fits("the spectrum", pairs, 2 * self.area())?;
        let arguments = [read(stream, real), write(stream, pairs), (self.area() as u64).into()];
        // SAFETY: the entry takes (const T*, pair*, u64); it reads and writes elements below the count, within the lengths.
        unsafe { enqueue(stream, &self.to_complex, (self.to_complex_grid, 1), arguments) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn alternating_parts_become_complex_elements() {
        assert_eq!(pairs(&[1.0, 2.0, 3.0, 4.0]), [Complex::new(1.0, 2.0), Complex::new(3.0, 4.0)]);
    }
}
