//! Launches of `kernels/spmv_csr.cu` as safe functions that check the length of every slice.

use std::marker::PhantomData;

use cudarc::driver::{CudaFunction, CudaSlice, CudaStream, DevicePtr, DevicePtrMut};

use super::super::context::{Cuda, Element};
use super::super::kernels::KernelSource;
use super::super::sparse::DeviceCsr;
use super::launch::{BLOCK, enqueue, fits, parameter};
use crate::error::CellError;

/// The product of a sparse matrix and a vector, one thread a row.
pub struct RowPerThread<T> {
    function: CudaFunction,
    element: PhantomData<T>,
}

impl<T: Element> RowPerThread<T> {
    /// Loads the kernel from `kernels/spmv_csr.cu`.
    pub fn load(cuda: &Cuda, source: &'static KernelSource) -> Result<Self, CellError> {
        let function = cuda.function(source, &format!("spmv_row_per_thread_{}", T::DTYPE))?;
        Ok(RowPerThread { function, element: PhantomData })
    }

    /// Enqueues `y = a * x`.
    pub fn run(
        &self,
        stream: &CudaStream,
        a: &DeviceCsr<T>,
        x: &CudaSlice<T>,
        y: &mut CudaSlice<T>,
    ) -> Result<(), CellError> {
        fits("x", x, a.cols())?;
        fits("y", y, a.rows())?;
        let mut rows = u32::try_from(a.rows()).map_err(|error| CellError::call("spmv", error))?;
        let mut indptr = a.indptr().device_ptr(stream).0;
        let mut indices = a.indices().device_ptr(stream).0;
        let mut values = a.values().device_ptr(stream).0;
        let (mut x, mut y) = (x.device_ptr(stream).0, y.device_ptr_mut(stream).0);
        let grid = (rows.div_ceil(BLOCK).max(1), 1);
        let mut parameters = [
            parameter(&mut indptr),
            parameter(&mut indices),
            parameter(&mut values),
            parameter(&mut x),
            parameter(&mut y),
            parameter(&mut rows),
        ];
        // SAFETY: the entry takes (const i32*, const i32*, const T*, const T*, T*, u32). Offsets and columns lie within
        // the matrix (`DeviceCsr` checked them), x has an element for every column and y one for every row.
        unsafe { enqueue(stream, &self.function, grid, &mut parameters) }
    }
}
