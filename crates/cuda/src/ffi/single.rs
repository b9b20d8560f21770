//! Launches of one thread, `kernels/empty.cu` and `kernels/sine_at.cu`, as safe functions that check every length.

use std::marker::PhantomData;

use cudarc::driver::{CudaFunction, CudaSlice, CudaStream, DevicePtr, DevicePtrMut};
use gpubench_model::error::CellError;

use super::super::context::{Cuda, Element};
use super::super::kernels::KernelSource;
use super::launch::{enqueue_single, fits, parameter};

/// Name of the kernel of `kernels/empty.cu`.
pub(crate) const EMPTY: &str = "empty";

/// The kernel that does nothing.
pub(crate) struct Empty {
    function: CudaFunction,
}

impl Empty {
    /// Loads it from `source`, which must be `kernels/empty.cu`.
    pub(crate) fn load(cuda: &Cuda, source: &'static KernelSource) -> Result<Self, CellError> {
        Ok(Empty { function: cuda.function(source, EMPTY)? })
    }

    /// Enqueues one launch.
    pub(crate) fn run(&self, stream: &CudaStream) -> Result<(), CellError> {
        // SAFETY: the entry takes nothing.
        unsafe { enqueue_single(stream, &self.function, 1, &mut []) }
    }
}

/// The kernel that takes the sine of one element.
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
        let (mut from, mut to) = (a.device_ptr(stream).0, y.device_ptr_mut(stream).0);
        for index in 0..a.len() {
            let mut index = index as u64;
            let mut parameters = [parameter(&mut from), parameter(&mut to), parameter(&mut index)];
            // SAFETY: the entry takes (const T*, T*, u64), and both arrays hold more than `index` elements.
            unsafe { enqueue_single(stream, &self.function, 1, &mut parameters)? };
        }
        Ok(())
    }
}
