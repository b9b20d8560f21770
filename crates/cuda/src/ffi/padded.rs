//! Launches of the kernels of `kernels/common/convert.cu` that copy a matrix to padded rows and back, as safe functions that
//! check the length of every slice.

use std::marker::PhantomData;

use cudarc::driver::{CudaFunction, CudaSlice, CudaStream};
use gpubench_report::error::CellError;

use super::launch::{enqueue, fits, read, write};
use crate::context::{Cuda, DeviceElement};
use crate::kernels::{KernelSource, kernel_source};

/// Kernels that convert arrays, and copy matrices to padded rows and back.
pub(crate) static CONVERT: KernelSource = kernel_source!("common/convert");

/// Multiple to which rows and columns are padded with zeros. cuBLAS reads 16 bytes at a time only where rows begin at
/// multiples of 16 bytes, so an odd N would take a slower kernel; at many odd multiples of 8 its kernels take longer than at
/// the next multiple of 16.
const MULTIPLE: usize = 16;

/// Returns the number of rows and columns of an `n x n` matrix padded for cuBLAS.
pub(crate) fn padded_side(n: usize) -> usize {
    n.next_multiple_of(MULTIPLE)
}

/// Copies of `n x n` elements of `T` to rows of `W`, and back.
pub(crate) struct PaddedCopies<T, W> {
    pad: CudaFunction,
    unpad: CudaFunction,
    n: u32,
    pitch: u32,
    elements: PhantomData<fn(T) -> W>,
}

impl<T: DeviceElement, W: DeviceElement> PaddedCopies<T, W> {
    /// Loads the kernels for padded rows that begin `pitch` elements apart, at least `n`.
    pub(crate) fn load(cuda: &Cuda, n: usize, pitch: usize) -> Result<Self, CellError> {
        let fitting = |value: usize| u32::try_from(value).map_err(|error| CellError::call("pad", error));
        Ok(PaddedCopies {
            pad: cuda.function(&CONVERT, &format!("pad_{}_to_{}", T::DTYPE, W::DTYPE))?,
            unpad: cuda.function(&CONVERT, &format!("unpad_{}_to_{}", W::DTYPE, T::DTYPE))?,
            n: fitting(n)?,
            pitch: fitting(pitch.max(n))?,
            elements: PhantomData,
        })
    }

    fn check(&self, matrix: &CudaSlice<T>, padded: &CudaSlice<W>) -> Result<(), CellError> {
        let [n, pitch] = [self.n, self.pitch].map(|value| value as usize);
        fits("the matrix", matrix, n * n)?;
        fits("the padded matrix", padded, n * pitch)
    }

    /// Enqueues the copy of a matrix to padded rows. It leaves the padding as it was.
    pub(crate) fn pad(
        &self,
        stream: &CudaStream,
        from: &CudaSlice<T>,
        to: &mut CudaSlice<W>,
    ) -> Result<(), CellError> {
        self.check(from, to)?;
        let arguments = [read(stream, from), write(stream, to), self.n.into(), self.pitch.into()];
        // SAFETY: the entry takes (const T*, W*, u32, u32); each block reads and writes one row, within the lengths.
        unsafe { enqueue(stream, &self.pad, (self.n, 1), arguments) }
    }

    /// Enqueues the copy of a matrix with padded rows to rows without padding.
    pub(crate) fn unpad(
        &self,
        stream: &CudaStream,
        from: &CudaSlice<W>,
        to: &mut CudaSlice<T>,
    ) -> Result<(), CellError> {
        self.check(to, from)?;
        let arguments = [read(stream, from), write(stream, to), self.n.into(), self.pitch.into()];
        // SAFETY: the entry takes (const W*, T*, u32, u32); each block reads and writes one row, within the lengths.
        unsafe { enqueue(stream, &self.unpad, (self.n, 1), arguments) }
    }
}
