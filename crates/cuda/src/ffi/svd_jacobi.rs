//! The launch of `kernels/svd_jacobi.cu` as a safe function that checks the length of every slice.

use std::marker::PhantomData;

use cudarc::driver::{CudaFunction, CudaSlice};
use gpubench_model::error::CellError;

use super::super::context::{Cuda, Element};
use super::super::kernels::KernelSource;
use super::launch::{Shape, Start, fits, read, write};
use super::replay::{Launch, Replay};

/// The largest side of a matrix.
pub(crate) const MAX_SIDE: usize = 32;

/// Decomposes matrices of one size.
pub(crate) struct JacobiSvd<T> {
    function: CudaFunction,
    replay: Replay,
    n: usize,
    element: PhantomData<T>,
}

/// A decomposition of a row-major `n x n` matrix: U and Vᵀ are row-major, the values descend.
pub(crate) struct Factors<T> {
    pub left: CudaSlice<T>,
    pub values: CudaSlice<T>,
    pub right: CudaSlice<T>,
    /// 0 for success, 1 if the rotations did not converge.
    pub info: CudaSlice<i32>,
}

impl<T: Element> JacobiSvd<T> {
    /// Loads the kernel for matrices of side `n`.
    ///
    /// # Errors
    /// `n` is 0 or above [`MAX_SIDE`], or the kernel does not compile.
    pub(crate) fn load(cuda: &Cuda, source: &'static KernelSource, n: usize) -> Result<Self, CellError> {
        if !(1..=MAX_SIDE).contains(&n) {
            return Err(CellError::Failed(format!("a side of {n} is not from 1 to {MAX_SIDE}")));
        }
        let function = cuda.function(source, &format!("svd_jacobi_{}", T::DTYPE))?;
        Ok(JacobiSvd { function, replay: Replay::default(), n, element: PhantomData })
    }

    /// Enqueues the decomposition of `matrix`.
    pub(crate) fn run(
        &mut self,
        cuda: &Cuda,
        matrix: &CudaSlice<T>,
        out: &mut Factors<T>,
    ) -> Result<(), CellError> {
        let (stream, n) = (&cuda.stream, self.n);
        for (what, slice, needed) in [
            ("the matrix", matrix, n * n),
            ("U", &out.left, n * n),
            ("the values", &out.values, n),
            ("V", &out.right, n * n),
        ] {
            fits(what, slice, needed)?;
        }
        fits("info", &out.info, 1)?;
        // A warp for every two columns.
        let threads = 32 * n.div_ceil(2) as u32;
        let shape = Shape { grid: (1, 1), threads, shared: 0, start: Start::InOrder };
        let arguments = [
            read(stream, matrix),
            write(stream, &mut out.left),
            write(stream, &mut out.values),
            write(stream, &mut out.right),
            write(stream, &mut out.info),
            (n as u32).into(),
        ];
        // SAFETY: the entry takes (const T*, T*, T*, T*, int*, int), checked above; n is at most 32, so at most 512 threads.
        unsafe { self.replay.run(cuda, [Launch::new(&self.function, shape, arguments)]) }
    }
}
