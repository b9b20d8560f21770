//! Copies data between host and device. Each copy is repeated and timed by both clocks.

use std::cell::RefCell;
use std::sync::Arc;
use std::time::Instant;

use cudarc::driver::sys::CUevent_flags;
use cudarc::driver::{CudaEvent, CudaSlice, CudaStream, DeviceRepr};
use gpubench_backend::TransferMemory;
use gpubench_backend::host::memory::free_host_bytes;
use gpubench_report::data::Plain;

use super::failure::is_sticky;
use super::ffi::driver::Elapsed;
use super::ffi::pinned::Pinned;
use super::ffi::status::Status;
use super::transfer_stats::{CopyRepetitions, CopyTime};
use crate::{CellError, Result, driver};

/// Slices up to this many bytes are copied [`MANY`] times, larger ones [`FEW`] times. A first copy is not counted,
/// because it includes page faults of memory that was never touched.
const SMALL: usize = 256 << 20;
const MANY: usize = 5;
const FEW: usize = 3;

/// Where page-locked memory is optional, it takes at most this part of the free host memory, so that operands of later
/// cells still fit, and so that no control group kills the worker: the kernel cannot swap such memory out.
const LOCKED_PART: u128 = 4;

/// Makes and times all copies of a backend, on its one stream.
pub(crate) struct TransferTimer {
    stream: Arc<CudaStream>,
    start: CudaEvent,
    end: CudaEvent,
    elapsed: Elapsed,
    memory: TransferMemory,
    /// Page-locked memory, as large as the largest copy so far. It is kept, because locking takes longer than copying.
    staging: RefCell<Option<Pinned>>,
}

impl TransferTimer {
    pub(crate) fn new(
        stream: &Arc<CudaStream>,
        elapsed: Elapsed,
        memory: TransferMemory,
    ) -> Result<TransferTimer> {
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

    /// Copies `host` to the start of `device`, several times with each kind of host memory, and returns the time of each
    /// copy, in order.
    ///
    /// The data is moved to page-locked memory before the clock starts.
    pub(crate) fn upload<T: DeviceRepr + Plain>(
        &self,
        host: &[T],
        device: &mut CudaSlice<T>,
    ) -> Result<CopyRepetitions> {
        let (bytes, copy) = (size_of_val(host), driver("cuMemcpyHtoDAsync"));
        let mut copies = CopyRepetitions::default();
        if self.memory != TransferMemory::Pinned {
            let upload = || self.stream.memcpy_htod(host, device).map_err(&copy);
            copies.pageable = Some(self.repeat(bytes, upload)?);
        }
        let mut staging = self.staging.borrow_mut();
        if let Some(block) = self.stage(&mut staging, bytes)? {
            block.fill(host).map_err(driver("cuStreamSynchronize"))?;
            let upload = || block.copy_to(device, host.len()).map_err(&copy);
            copies.pinned = Some(self.repeat(bytes, upload)?);
        }
        Ok(copies)
    }

    /// Copies all of `device` to `host`, which has the same length, several times with each kind of host memory, after all
    /// earlier work. Returns the time of each copy, in order.
    ///
    /// With page-locked memory alone, the data is moved out of it after the clock has stopped.
    pub(crate) fn download<T: DeviceRepr + Plain>(
        &self,
        device: &CudaSlice<T>,
        host: &mut [T],
    ) -> Result<CopyRepetitions> {
        let (bytes, copy) = (size_of_val(host), driver("cuMemcpyDtoHAsync"));
        let mut copies = CopyRepetitions::default();
        if self.memory != TransferMemory::Pinned {
            let download = || self.stream.memcpy_dtoh(device, host).map_err(&copy);
            copies.pageable = Some(self.repeat(bytes, download)?);
        }
        let mut staging = self.staging.borrow_mut();
        if let Some(block) = self.stage(&mut staging, device.num_bytes())? {
            let download = || block.copy_from(device).map_err(&copy);
            copies.pinned = Some(self.repeat(bytes, download)?);
            // After copies with pageable memory, the data is in `host` already.
            if copies.pageable.is_none() {
                block.read(host).map_err(driver("cuStreamSynchronize"))?;
            }
        }
        Ok(copies)
    }

    fn repeat(&self, bytes: usize, mut copy: impl FnMut() -> Result<()>) -> Result<Vec<CopyTime>> {
        copy()?;
        self.synchronize()?;
        (0..repetitions(bytes)).map(|_| self.timed(&mut copy)).collect()
    }

    fn timed(&self, copy: &mut impl FnMut() -> Result<()>) -> Result<CopyTime> {
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

    fn synchronize(&self) -> Result<()> {
        self.stream.synchronize().map_err(driver("cuStreamSynchronize"))
    }

    /// Grows `staging` to at least `bytes` of page-locked memory. `None` where page-locked memory is not asked for, and
    /// where both kinds are asked for but the machine has too little of it.
    fn stage<'a>(&self, staging: &'a mut Option<Pinned>, bytes: usize) -> Result<Option<&'a mut Pinned>> {
        if self.memory == TransferMemory::Pageable {
            return Ok(None);
        }
        // A block that is too small is freed before the larger one is allocated.
        if let Some(block) = staging.take().filter(|block| block.bytes() >= bytes) {
            return Ok(Some(staging.insert(block)));
        }
        let is_optional = self.memory == TransferMemory::Both;
        if is_optional && free_host_bytes().is_some_and(|free| bytes as u128 > free / LOCKED_PART) {
            return Ok(None);
        }
        match Pinned::new(&self.stream, bytes).map_err(Status::from) {
            Ok(block) => Ok(Some(staging.insert(block))),
            Err(status) if is_sticky(status) => Err(driver("cuMemHostAlloc")(status)),
            Err(_) if is_optional => Ok(None),
            Err(status) => Err(CellError::Failed(format!(
                "cannot allocate {bytes} bytes of page-locked host memory (cuMemHostAlloc: {status}): use --transfer \
                 pageable, or choose a smaller size"
            ))),
        }
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
