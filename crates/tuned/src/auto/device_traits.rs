//! The properties of a device that the rules for the variant `auto` depend on.

use cudarc::driver::sys::CUdevice_attribute::CU_DEVICE_ATTRIBUTE_SINGLE_TO_DOUBLE_PRECISION_PERF_RATIO as RATIO;
use gpubench_cuda::Cuda;

#[derive(Clone, Copy, Debug)]
pub(super) struct DeviceTraits {
    /// Ratio of float32 to float64 operations per second, as the driver reports it: 2 on data-centre chips, 32 or 64
    /// on others.
    pub(crate) f64_ratio: u32,
    /// The compute capability, such as 90, or `None` if the driver does not report it.
    pub(crate) capability: Option<i32>,
    pub(crate) multiprocessors: u32,
}

impl DeviceTraits {
    /// Reads the properties of the context's device. A device whose driver does not report the ratio counts as slow
    /// in float64.
    pub(crate) fn of(cuda: &Cuda) -> DeviceTraits {
        const SLOW: u32 = 64;
        DeviceTraits {
            f64_ratio: cuda.non_negative_attribute(RATIO).filter(|ratio| *ratio > 0).unwrap_or(SLOW),
            capability: cuda.capability(),
            multiprocessors: cuda.multiprocessors(),
        }
    }

    /// Returns whether the sizes in the rules were measured on devices of this kind: the H100 (SXM) and the H200. Grids
    /// depend on the number of multiprocessors, and so do the sizes at which one variant overtakes another.
    pub(crate) fn has_measured_rules(&self) -> bool {
        (self.capability, self.multiprocessors) == (Some(90), 132)
    }

    /// Returns whether float64 arithmetic is at least a quarter as fast as float32.
    pub(crate) fn has_fast_f64(&self) -> bool {
        self.f64_ratio <= 4
    }
}

#[cfg(test)]
impl DeviceTraits {
    /// An H100 or H200.
    pub(crate) const HOPPER: DeviceTraits =
        DeviceTraits { f64_ratio: 2, capability: Some(90), multiprocessors: 132 };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_centre_chips_are_fast_in_float64_and_others_are_not() {
        let has_fast_f64 = |f64_ratio| DeviceTraits { f64_ratio, ..DeviceTraits::HOPPER }.has_fast_f64();
        assert_eq!([2, 32, 64].map(has_fast_f64), [true, false, false]);
    }

    #[test]
    fn the_rules_were_measured_on_hopper_with_132_multiprocessors() {
        let is_measured = |(capability, multiprocessors)| {
            DeviceTraits { capability, multiprocessors, ..DeviceTraits::HOPPER }.has_measured_rules()
        };
        let devices = [(Some(90), 132), (Some(90), 114), (Some(80), 108), (Some(100), 148), (None, 132)];
        assert_eq!(devices.map(is_measured), [true, false, false, false, false]);
    }
}
