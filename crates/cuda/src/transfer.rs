//! Copies data between host and device. Each copy is repeated and timed by both clocks.

use std::cell::RefCell;
use std::sync::Arc;
use std::time::Instant;

use cudarc::driver::sys::CUevent_flags;
use cudarc::driver::{CudaEvent, CudaSlice, CudaStream, DeviceRepr};
use gpubench_backend::HostMemory;
use gpubench_model::error::CellError;

use super::failure::{driver, is_sticky};
use super::ffi::driver::Elapsed;
use super::ffi::pinned::Pinned;
use super::transfer_stats::CopyTime;

/// Slices up to this many bytes are copied [`MANY`] times, larger ones [`FEW`] times. A first copy is not counted,
/// because it includes page faults of memory that was never touched.
const SMALL: usize = 256 << 20;
const MANY: usize = 5;
const FEW: usize = 3;

/// Makes and times all copies of a backend, on its one stream.
pub(crate) struct TransferTimer {
    stream: Arc<CudaStream>,
    start: CudaEvent,
    end: CudaEvent,
    elapsed: Elapsed,
    memory: HostMemory,
    /// Page-locked memory, as large as the largest copy so far.
    staging: RefCell<Option<Pinned>>,
}

impl TransferTimer {
    /// Makes a timer for data in that kind of host memory.
    pub(crate) fn new(
        stream: &Arc<CudaStream>,
        elapsed: Elapsed,
        memory: HostMemory,
    ) -> Result<TransferTimer, CellError> {
        let event = || {
            let flags = Some(CUevent_flags::CU_EVENT_DEFAULT);
            stream.context().new_event(flags).map_err(driver("cuEventCreate"))
        };
        let (start, end) = (event()?, event()?);
        Ok(TransferTimer {
            stream: Arc::clone(stream),
            start,
            end,
            elapsed,
            memory,
            staging: RefCell::default(),
        })
    }

    /// Copies `host` to the start of `device`, several times, and returns the time of each copy, in order.
    ///
    /// For pinned transfers, the data is moved to page-locked memory before the clock starts.
    pub(crate) fn upload<T: DeviceRepr>(
        &self,
        host: &[T],
        device: &mut CudaSlice<T>,
    ) -> Result<Vec<CopyTime>, CellError> {
        let copy = driver("cuMemcpyHtoDAsync");
        if self.memory == HostMemory::Pageable {
            return self.repeat(size_of_val(host), || self.stream.memcpy_htod(host, device).map_err(&copy));
        }
        let mut staging = self.staging.borrow_mut();
        let pinned = self.stage(&mut staging, size_of_val(host))?;
        pinned.fill(host).map_err(driver("cuStreamSynchronize"))?;
        self.repeat(size_of_val(host), || pinned.copy_to(device, host.len()).map_err(&copy))
    }

    /// Copies all of `device` to `host`, which has the same length, several times, after all earlier work. Returns
    /// the time of each copy, in order.
    ///
    /// For pinned transfers, the data is moved out of page-locked memory after the clock has stopped.
    pub(crate) fn download<T: DeviceRepr>(
        &self,
        device: &CudaSlice<T>,
        host: &mut [T],
    ) -> Result<Vec<CopyTime>, CellError> {
        let copy = driver("cuMemcpyDtoHAsync");
        let bytes = size_of_val(host);
        if self.memory == HostMemory::Pageable {
            return self.repeat(bytes, || self.stream.memcpy_dtoh(device, host).map_err(&copy));
        }
        let mut staging = self.staging.borrow_mut();
        let pinned = self.stage(&mut staging, device.num_bytes())?;
        let copies = self.repeat(bytes, || pinned.copy_from(device).map_err(&copy))?;
        pinned.read(host).map_err(driver("cuStreamSynchronize"))?;
        Ok(copies)
    }

    fn repeat(
        &self,
        bytes: usize,
        mut copy: impl FnMut() -> Result<(), CellError>,
    ) -> Result<Vec<CopyTime>, CellError> {
        copy()?;
        self.synchronize()?;
        (0..repetitions(bytes)).map(|_| self.timed(&mut copy)).collect()
    }

    fn timed(&self, copy: &mut impl FnMut() -> Result<(), CellError>) -> Result<CopyTime, CellError> {
        let host = Instant::now();
        self.start.record(&self.stream).map_err(driver("cuEventRecord"))?;
        copy()?;
        self.end.record(&self.stream).map_err(driver("cuEventRecord"))?;
        self.synchronize()?;
        let host_s = host.elapsed().as_secs_f64();
        let milliseconds =
            self.elapsed.milliseconds(&self.start, &self.end).map_err(driver("cuEventElapsedTime"))?;
        Ok(CopyTime { host_s, device_s: f64::from(milliseconds) / 1e3 })
    }

    fn synchronize(&self) -> Result<(), CellError> {
        self.stream.synchronize().map_err(driver("cuStreamSynchronize"))
    }

    /// Grows `staging` to at least `bytes` of page-locked memory.
    fn stage<'a>(&self, staging: &'a mut Option<Pinned>, bytes: usize) -> Result<&'a mut Pinned, CellError> {
        let large_enough = staging.take().filter(|pinned| pinned.bytes() >= bytes);
        let pinned = match large_enough {
            Some(pinned) => pinned,
            None => Pinned::new(&self.stream, bytes).map_err(|error| match error.0 {
                code if is_sticky(code) => driver("cuMemHostAlloc")(error),
                code => CellError::Failed(format!(
                    "cannot allocate {bytes} bytes of page-locked host memory (cuMemHostAlloc: {code:?}): \
                     use --transfer pageable, or choose a smaller size"
                )),
            })?,
        };
        Ok(staging.insert(pinned))
    }
}

/// Returns the number of timed copies of a slice with the given number of bytes.
fn repetitions(bytes: usize) -> usize {
    if bytes <= SMALL { MANY } else { FEW }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_slices_are_copied_less_often() {
        assert_eq!(repetitions(0), 5);
        assert_eq!(repetitions(256 << 20), 5);
        assert_eq!(repetitions((256 << 20) + 1), 3);
    }
}
