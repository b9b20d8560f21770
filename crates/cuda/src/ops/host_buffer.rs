//! A matrix in pageable or page-locked host memory. Each call enqueues one copy from or to it.

use cudarc::driver::CudaSlice;
use gpubench_backend::HostMemory;

use crate::failure::is_sticky;
use crate::ffi::pinned::Pinned;
use crate::ffi::status::Status;
use crate::{CellError, Cuda, DeviceElement, Result, driver};

pub(crate) struct HostBuffer<T> {
    cuda: Cuda,
    memory: HostBlock<T>,
    len: usize,
}

enum HostBlock<T> {
    Pageable(Vec<T>),
    Pinned(Pinned),
}

impl<T: DeviceElement> HostBuffer<T> {
    /// Makes a buffer that holds `values`, so that all its pages are mapped, and locked if the memory is page-locked.
    pub(crate) fn new(cuda: &Cuda, kind: HostMemory, values: Vec<T>) -> Result<Self> {
        let len = values.len();
        let memory = match kind {
            HostMemory::Pageable => HostBlock::Pageable(values),
            HostMemory::Pinned => {
                let mut pinned = lock(cuda, size_of_val(&values[..]))?;
                pinned.fill(&values).map_err(driver("cuStreamSynchronize"))?;
                HostBlock::Pinned(pinned)
            }
        };
        Ok(HostBuffer { cuda: cuda.clone(), memory, len })
    }

    /// Returns whether copies make the host wait for earlier work, as copies of pageable memory do.
    pub(crate) fn waits(&self) -> bool {
        matches!(self.memory, HostBlock::Pageable(_))
    }

    /// Enqueues a copy of all elements to the start of `device`, which must be at least as long.
    pub(crate) fn copy_to(&self, device: &mut CudaSlice<T>) -> Result<()> {
        match &self.memory {
            HostBlock::Pageable(values) => self.cuda.stream.memcpy_htod(values, device),
            HostBlock::Pinned(pinned) => pinned.copy_to(device, self.len),
        }
        .map_err(driver("cuMemcpyHtoDAsync"))
    }

    /// Enqueues a copy of all of `device`, which must be at most as long, to the start of the buffer.
    pub(crate) fn copy_from(&mut self, device: &CudaSlice<T>) -> Result<()> {
        match &mut self.memory {
            HostBlock::Pageable(values) => self.cuda.stream.memcpy_dtoh(device, values),
            HostBlock::Pinned(pinned) => pinned.copy_from(device),
        }
        .map_err(driver("cuMemcpyDtoHAsync"))
    }

    /// Waits for all copies and returns the elements.
    pub(crate) fn values(&self) -> Result<Vec<T>> {
        self.cuda.synchronize()?;
        match &self.memory {
            HostBlock::Pageable(values) => Ok(values.clone()),
            HostBlock::Pinned(pinned) => {
                let mut values = vec![T::default(); self.len];
                pinned.read(&mut values).map_err(driver("cuStreamSynchronize"))?;
                Ok(values)
            }
        }
    }
}

fn lock(cuda: &Cuda, bytes: usize) -> Result<Pinned> {
    Pinned::new(&cuda.stream, bytes).map_err(|error| match Status::from(error) {
        status if is_sticky(status) => driver("cuMemHostAlloc")(status),
        status => CellError::Failed(format!(
            "cannot allocate {bytes} bytes of page-locked host memory (cuMemHostAlloc: {status}): choose a smaller size"
        )),
    })
}
