//! Products by cuBLAS of copies whose rows are padded, and launches of the kernels of `kernels/common/convert.cu` that make the copies,
//! as safe functions that check the length of every slice.

use std::marker::PhantomData;

use cudarc::driver::{CudaFunction, CudaSlice, CudaStream};
use gpubench_cuda::ffi::cublas::{Arithmetic, Cublas, checked_side};
use gpubench_cuda::ffi::launch::{enqueue, fits, read, write};
use gpubench_cuda::ops::CONVERT;
use gpubench_cuda::{CellError, Cuda, DeviceElement, Result};
use gpubench_report::case::DType;

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
    pub(crate) fn load(cuda: &Cuda, n: usize, pitch: usize) -> Result<Self> {
        let fitting = |value: usize| u32::try_from(value).map_err(|error| CellError::call("pad", error));
        Ok(PaddedCopies {
            pad: cuda.function(&CONVERT, &format!("pad_{}_to_{}", T::DTYPE, W::DTYPE))?,
            unpad: cuda.function(&CONVERT, &format!("unpad_{}_to_{}", W::DTYPE, T::DTYPE))?,
            n: fitting(n)?,
            pitch: fitting(pitch.max(n))?,
            elements: PhantomData,
        })
    }

    fn check(&self, matrix: &CudaSlice<T>, padded: &CudaSlice<W>) -> Result<()> {
        let [n, pitch] = [self.n, self.pitch].map(|value| value as usize);
        fits("the matrix", matrix, n * n)?;
        fits("the padded matrix", padded, n * pitch)
    }

    /// Enqueues the copy of a matrix to padded rows. It leaves the padding as it was.
    pub(crate) fn pad(&self, stream: &CudaStream, from: &CudaSlice<T>, to: &mut CudaSlice<W>) -> Result<()> {
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
    ) -> Result<()> {
        self.check(to, from)?;
        let arguments = [read(stream, from), write(stream, to), self.n.into(), self.pitch.into()];
        // SAFETY: the entry takes (const W*, T*, u32, u32); each block reads and writes one row, within the lengths.
        unsafe { enqueue(stream, &self.unpad, (self.n, 1), arguments) }
    }
}

/// `c = a * b` of `n` by `n` row-major matrices of `T`, computed by cuBLAS in IEEE arithmetic of `W` on padded copies, and rounded to
/// `T` once.
pub struct PaddedProduct<T, W> {
    // Before the memory that its work uses.
    cublas: Cublas,
    cuda: Cuda,
    copies: PaddedCopies<T, W>,
    arithmetic: Arithmetic,
    n: i32,
    padded: i32,
    a: CudaSlice<W>,
    b: CudaSlice<W>,
    /// `None` if cuBLAS writes the answer in place.
    c: Option<CudaSlice<W>>,
}

impl<T: DeviceElement, W: DeviceElement> PaddedProduct<T, W> {
    /// In float64 cuBLAS was measured to be as fast if only the operands are padded, where the rows of the answer begin at
    /// multiples of 16 bytes, too.
    fn answers_in_place(n: usize) -> bool {
        T::DTYPE == DType::F64 && W::DTYPE == DType::F64 && (n * size_of::<T>()).is_multiple_of(16)
    }

    /// Returns the bytes of device memory of the copies for size `n`.
    ///
    /// # Errors
    /// A padded size exceeds 32 bits.
    pub fn workspace_bytes(n: usize) -> Result<u128> {
        let padded = checked_side(padded_side(n))?.unsigned_abs() as u128;
        let copies = if Self::answers_in_place(n) { 2 } else { 3 };
        Ok(copies * padded * padded * size_of::<W>() as u128)
    }

    /// Loads cuBLAS and the kernels, and allocates the copies, for matrices of size `n`.
    ///
    /// # Errors
    /// cuBLAS or the compiler is missing, a size exceeds 32 bits, or the device has too little memory.
    pub fn new(cuda: &Cuda, n: usize) -> Result<Self> {
        let side = padded_side(n);
        let (blas_n, padded) = (checked_side(n)?, checked_side(side)?);
        let arithmetic = match W::DTYPE {
            DType::F64 => Arithmetic::F64,
            _ => Arithmetic::F32,
        };
        Ok(PaddedProduct {
            cublas: Cublas::new(cuda)?,
            copies: PaddedCopies::load(cuda, n, side)?,
            arithmetic,
            n: blas_n,
            padded,
            a: cuda.alloc(side * side)?,
            b: cuda.alloc(side * side)?,
            c: if Self::answers_in_place(n) { None } else { Some(cuda.alloc(side * side)?) },
            cuda: cuda.clone(),
        })
    }

    /// Enqueues `c = a * b`.
    ///
    /// # Errors
    /// A matrix has fewer than `n * n` elements, or the device fails.
    pub fn run(&mut self, [a, b]: [&CudaSlice<T>; 2], c: &mut CudaSlice<T>) -> Result<()> {
        let PaddedProduct { cublas, copies, arithmetic, n, padded, .. } = self;
        let stream = &self.cuda.stream;
        copies.pad(stream, a, &mut self.a)?;
        copies.pad(stream, b, &mut self.b)?;
        let Some(wide) = &mut self.c else {
            return cublas.multiply_padded(*arithmetic, *n, *padded, &self.a, &self.b, c);
        };
        cublas.multiply_padded(*arithmetic, *padded, *padded, &self.a, &self.b, wide)?;
        copies.unpad(stream, wide, c)
    }
}
