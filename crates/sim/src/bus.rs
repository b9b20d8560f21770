//! Simulates the bus between host and device: a copy takes a latency, plus its bytes at the peak rate.

use std::cell::RefCell;

use gpubench_backend::{BusRates, DevicePhases, HostMemory, Transfer};
use gpubench_model::data::Operand;

/// Latency of every copy, in seconds.
const LATENCY_S: f64 = 10e-6;

/// The bus, with the copies since they were last read.
pub(crate) struct Bus {
    memory: HostMemory,
    upload: BusRates,
    download: BusRates,
    seen: RefCell<DevicePhases>,
}

impl Bus {
    /// Creates a bus of those rates, for host memory of that kind.
    pub(crate) fn new(memory: HostMemory, upload: BusRates, download: BusRates) -> Bus {
        Bus { memory, upload, download, seen: RefCell::default() }
    }

    pub(crate) fn upload(&self, operands: &[Operand]) {
        self.seen.borrow_mut().upload = Some(self.copy(operands, self.upload));
    }

    pub(crate) fn download(&self, answer: &[Operand]) {
        self.seen.borrow_mut().download = Some(self.copy(answer, self.download));
    }

    /// Returns the copies since the last call.
    pub(crate) fn take(&self) -> DevicePhases {
        self.seen.take()
    }

    fn copy(&self, operands: &[Operand], rates: BusRates) -> Transfer {
        let bytes = operands.iter().map(Operand::bytes).sum::<u64>();
        let seconds = LATENCY_S + bytes as f64 / rates.of(self.memory);
        Transfer { bytes, memory: self.memory, host_s: vec![seconds], device_s: vec![seconds] }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_take_a_latency_and_their_bytes() {
        let rates = |pageable, pinned| BusRates { pageable, pinned };
        let bus = Bus::new(HostMemory::Pinned, rates(1e9, 4e9), rates(1e9, 2e9));
        let operand = Operand::dense(10, 100, vec![0f64; 1000]);
        bus.upload(&[operand.clone(), operand.clone()]);
        bus.download(&[operand]);
        let seen = bus.take();
        let (upload, download) = (seen.upload.unwrap(), seen.download.unwrap());
        assert_eq!((upload.bytes, download.bytes), (16_000, 8_000));
        assert!((upload.host_s[0] - 14e-6).abs() < 1e-12 && (download.host_s[0] - 14e-6).abs() < 1e-12);
        assert_eq!(bus.take(), DevicePhases::default());
    }
}
