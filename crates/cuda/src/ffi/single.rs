//! Launches of kernels of one thread as safe functions that check every length: those without arguments, and
//! `kernels/sine_at.cu`.

use std::marker::PhantomData;

use cudarc::driver::{CudaFunction, CudaSlice, CudaStream};
use gpubench_model::error::CellError;

use super::super::context::{Cuda, Element};
use super::super::kernels::KernelSource;
use super::launch::{enqueue_single, fits, read, write};

/// Name of the kernel of `kernels/empty.cu`.
pub(crate) const EMPTY: &str = "empty";

/// A kernel without arguments.
pub(crate) struct Bare {
    function: CudaFunction,
}

impl Bare {
    /// Loads `entry`, which must take nothing, from `source`.
    pub(crate) fn load(cuda: &Cuda, source: &'static KernelSource, entry: &str) -> Result<Self, CellError> {
        Ok(Bare { function: cuda.function(source, entry)? })
    }

    pub(crate) fn run(&self, stream: &CudaStream) -> Result<(), CellError> {
        // SAFETY: the entry takes nothing.
        unsafe { enqueue_single(stream, &self.function, 1, []) }
    }
}

/// The kernel that computes the sine of one element.
pub(crate) struct SineAt<T> {
    function: CudaFunction,
    element: PhantomData<T>,
}

impl<T: Element> SineAt<T> {
    /// Loads it from `source`, which must be `kernels/sine_at.cu`.
    pub(crate) fn load(cuda: &Cuda, source: &'static KernelSource) -> Result<Self, CellError> {
        let function = cuda.function(source, &format!("sine_at_{}", T::DTYPE))?;
        Ok(SineAt { function, element: PhantomData })
    }

    /// Enqueues `y[i] = sin(a[i])` for every element of `a`, one launch after another.
    pub(crate) fn run_each(
        &self,
        stream: &CudaStream,
        a: &CudaSlice<T>,
        y: &mut CudaSlice<T>,
    ) -> Result<(), CellError> {
        fits("y", y, a.len())?;
        let (from, to) = (read(stream, a), write(stream, y));
        for index in 0..a.len() {
            // SAFETY: the entry takes (const T*, T*, u64), and both arrays hold more than `index` elements.
            unsafe { enqueue_single(stream, &self.function, 1, [from, to, (index as u64).into()])? };
        }
        Ok(())
    }
}
