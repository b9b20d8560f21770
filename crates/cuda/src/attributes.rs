//! Attributes of the device that plans and launches depend on.

use cudarc::driver::sys::CUdevice_attribute as Attribute;

use super::ffi::driver as ffi;
use super::kernels::Capacity;
use crate::{Cuda, device};

impl Cuda {
    /// Returns the number of multiprocessors.
    pub fn multiprocessors(&self) -> u32 {
        self.non_negative_attribute(Attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT).unwrap_or(1)
    }

    /// Returns the compute capability, such as 90, or `None` if the driver does not report it.
    pub fn capability(&self) -> Option<i32> {
        device::capability(self.device())
    }

    /// Returns the bytes of shared memory that one block can request.
    pub fn shared_memory_per_block(&self) -> u32 {
        const EVERY_DEVICE: u32 = 48 << 10;
        self.non_negative_attribute(Attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN)
            .unwrap_or(EVERY_DEVICE)
    }

    /// Returns the limits of the device that plans depend on.
    pub fn capacity(&self) -> Capacity {
        Capacity {
            multiprocessors: self.multiprocessors() as usize,
            shared_memory_per_block: self.shared_memory_per_block() as usize,
        }
    }

    /// Returns the bytes of shared memory of a multiprocessor, or 0 if the driver does not report them.
    pub fn shared_memory_per_multiprocessor(&self) -> u32 {
        self.non_negative_attribute(Attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR)
            .unwrap_or(0)
    }

    /// Returns the number of threads that a multiprocessor runs at the same time, or 0 if the driver does not report it.
    pub fn threads_per_multiprocessor(&self) -> u32 {
        self.non_negative_attribute(Attribute::CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR)
            .unwrap_or(0)
    }

    /// Returns the bytes per second that the memory's clock and bus allow, or `None` if the driver does not report them.
    pub fn memory_bytes_per_s(&self) -> Option<f64> {
        let kilohertz = self.non_negative_attribute(Attribute::CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE)?;
        let bits = self.non_negative_attribute(Attribute::CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH)?;
        // Two transfers per cycle.
        let rate = 2.0 * f64::from(kilohertz) * 1e3 * f64::from(bits) / 8.0;
        (rate > 0.0).then_some(rate)
    }

    /// Returns the bytes of the L2 cache, or `None` if the driver does not report them.
    pub fn l2_bytes(&self) -> Option<usize> {
        let bytes = self.non_negative_attribute(Attribute::CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE);
        bytes.filter(|bytes| *bytes > 0).map(|bytes| bytes as usize)
    }

    /// Returns an attribute of the device, or `None` if the driver does not report it or it is negative.
    pub fn non_negative_attribute(&self, attribute: Attribute) -> Option<u32> {
        ffi::attribute(self.device(), attribute).ok().and_then(|figure| u32::try_from(figure).ok())
    }

    /// Returns whether the device supports cooperative launches, whose blocks are all resident at the same time.
    pub fn launches_cooperatively(&self) -> bool {
        self.non_negative_attribute(Attribute::CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH) == Some(1)
    }
}
