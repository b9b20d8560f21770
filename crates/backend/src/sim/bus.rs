//! Simulates the bus between host and device: a copy takes a latency, plus its bytes at the peak rate.

use std::cell::RefCell;

use crate::{BusRates, DevicePhases, HostMemory, Transfer, TransferMemory};
use gpubench_report::data::Operand;
use gpubench_report::error::CellError;

/// Latency of every copy, in seconds.
const LATENCY_S: f64 = 10e-6;

/// Times of each copy, as many as on a real device; fewer would mean wide intervals.
const REPETITIONS: usize = 5;

/// The bus, with the copies since they were last read.
pub(crate) struct Bus {
    memory: TransferMemory,
    upload: BusRates,
    download: BusRates,
    /// Bytes of page-locked memory that it can allocate; `None` for any number.
    lockable: Option<u64>,
    seen: RefCell<DevicePhases>,
}

impl Bus {
    /// Creates a bus of those rates, for host memory of those kinds, `lockable` bytes of which can be page-locked.
    pub(crate) fn new(
        memory: TransferMemory,
        upload: BusRates,
        download: BusRates,
        lockable: Option<u64>,
    ) -> Bus {
        Bus { memory, upload, download, lockable, seen: RefCell::default() }
    }

    pub(crate) fn upload(&self, operands: &[Operand]) -> Result<(), CellError> {
        let [main, pinned] = self.copies(operands, self.upload)?;
        let mut seen = self.seen.borrow_mut();
        (seen.upload, seen.pinned_upload) = (main, pinned);
        Ok(())
    }

    pub(crate) fn download(&self, answer: &[Operand]) -> Result<(), CellError> {
        let [main, pinned] = self.copies(answer, self.download)?;
        let mut seen = self.seen.borrow_mut();
        (seen.download, seen.pinned_download) = (main, pinned);
        Ok(())
    }

    /// Returns the copies since the last call.
    pub(crate) fn take(&self) -> DevicePhases {
        self.seen.take()
    }

    /// Copies with the main kind of memory, then with pinned memory next to it. As on a real device, memory that cannot be
    /// page-locked is an error only where no other kind was asked for.
    fn copies(&self, operands: &[Operand], rates: BusRates) -> Result<[Option<Transfer>; 2], CellError> {
        let bytes = operands.iter().map(Operand::bytes).sum::<u64>();
        let lockable = self.lockable.is_none_or(|limit| bytes <= limit);
        let copy = |memory: HostMemory| {
            let seconds = LATENCY_S + bytes as f64 / rates.of(memory);
            let times = vec![seconds; REPETITIONS];
            Some(Transfer { bytes, memory, host_s: times.clone(), device_s: times })
        };
        match self.memory {
            TransferMemory::Pinned if !lockable => {
                Err(CellError::Failed(format!("cannot allocate {bytes} bytes of page-locked host memory")))
            }
            TransferMemory::Both if lockable => Ok([copy(HostMemory::Pageable), copy(HostMemory::Pinned)]),
            memory => Ok([copy(memory.main()), None]),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Uploads 16 kB and downloads 8 kB, and returns what was seen.
    fn seen(memory: TransferMemory, lockable: Option<u64>) -> Result<DevicePhases, CellError> {
        let rates = |pageable, pinned| BusRates { pageable, pinned };
        let bus = Bus::new(memory, rates(1e9, 4e9), rates(1e9, 2e9), lockable);
        let operand = Operand::dense(10, 100, vec![0f64; 1000]);
        bus.upload(&[operand.clone(), operand.clone()])?;
        bus.download(&[operand])?;
        let seen = bus.take();
        assert_eq!(bus.take(), DevicePhases::default());
        Ok(seen)
    }

    fn is_copy(copy: &Transfer, bytes: u64, seconds: f64) -> bool {
        copy.bytes == bytes && (copy.host_s[0] - seconds).abs() < 1e-12
    }

    #[test]
    fn copies_take_a_latency_and_their_bytes_by_each_kind_of_memory() {
        let pinned = seen(TransferMemory::Pinned, None).unwrap();
        assert!(is_copy(&pinned.upload.unwrap(), 16_000, 14e-6));
        assert!(is_copy(&pinned.download.unwrap(), 8_000, 14e-6));
        assert_eq!((pinned.pinned_upload, pinned.pinned_download), (None, None));
        let both = seen(TransferMemory::Both, Some(16_000)).unwrap();
        assert!(is_copy(&both.upload.unwrap(), 16_000, 26e-6));
        assert!(is_copy(&both.pinned_upload.unwrap(), 16_000, 14e-6));
        assert!(is_copy(&both.pinned_download.unwrap(), 8_000, 14e-6));
    }

    #[test]
    fn unlockable_memory_is_an_error_only_where_requested_alone() {
        let both = seen(TransferMemory::Both, Some(8_000)).unwrap();
        assert!(both.upload.is_some() && both.download.is_some() && both.pinned_download.is_some());
        assert_eq!(both.pinned_upload, None);
        let error = seen(TransferMemory::Pinned, Some(8_000)).unwrap_err().to_string();
        assert!(error.contains("16000 bytes of page-locked host memory"), "{error}");
    }
}
