//! The properties of a device that the rules for the variant `auto` depend on.

use cudarc::driver::sys::CUdevice_attribute::CU_DEVICE_ATTRIBUTE_SINGLE_TO_DOUBLE_PRECISION_PERF_RATIO as RATIO;

use crate::context::Cuda;

/// The properties of a device that decide between variants.
#[derive(Clone, Copy, Debug)]
pub(super) struct DeviceTraits {
    /// Ratio of float32 to float64 operations per second, as the driver reports it: 2 on data-centre chips, 32 or 64
    /// on others.
    pub(crate) f64_ratio: u32,
}

impl DeviceTraits {
    /// Reads the properties of the context's device. A device whose driver does not report the ratio counts as slow
    /// in float64.
    pub(crate) fn of(cuda: &Cuda) -> DeviceTraits {
        const SLOW: u32 = 64;
        DeviceTraits {
            f64_ratio: cuda.non_negative_attribute(RATIO).filter(|ratio| *ratio > 0).unwrap_or(SLOW),
        }
    }

    /// Returns whether float64 arithmetic is at least a quarter as fast as float32.
    pub(crate) fn has_fast_f64(&self) -> bool {
        self.f64_ratio <= 4
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_centre_chips_are_fast_in_float64_and_others_are_not() {
        assert!(DeviceTraits { f64_ratio: 2 }.has_fast_f64());
        assert!(
            !DeviceTraits { f64_ratio: 32 }.has_fast_f64() && !DeviceTraits { f64_ratio: 64 }.has_fast_f64()
        );
    }
}
