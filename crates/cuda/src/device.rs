//! The description of a CUDA device in a report.

use cudarc::driver::sys::{CUdevice, CUdevice_attribute as Attribute};
use serde_json::{Value, json};

use super::ffi::driver as ffi;

/// Formats a CUDA version number: 13000 becomes `13.0`.
pub(crate) fn version_text(version: i32) -> String {
    format!("{}.{}", version / 1000, version % 1000 / 10)
}

/// Returns the compute capability as two digits, such as 90.
pub(crate) fn capability(device: CUdevice) -> Option<i32> {
    let major = ffi::attribute(device, Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR).ok()?;
    let minor = ffi::attribute(device, Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR).ok()?;
    Some(10 * major + minor)
}

/// Returns the device's name, or its number if the driver does not report one.
pub(crate) fn name(device: CUdevice) -> String {
    ffi::name(device).unwrap_or_else(|_| format!("device {device}"))
}

/// Describes a device in one line, for `doctor`.
pub(crate) fn summary(device: CUdevice) -> String {
    let capability = capability(device).unwrap_or(0);
    let gib = ffi::memory_bytes(device).unwrap_or(0) as f64 / (1u64 << 30) as f64;
    format!("compute capability {}.{}, {gib:.0} GiB", capability / 10, capability % 10)
}

/// Describes everything about a device that can affect a result, as an object. Unknown values are null.
pub(crate) fn describe(device: CUdevice, ordinal: u32) -> Value {
    let attribute = |attribute| ffi::attribute(device, attribute).ok();
    let capability = capability(device).map(|c| format!("{}.{}", c / 10, c % 10));
    json!({
        "device": ordinal,
        "device_count": ffi::device_count().ok(),
        "name": name(device),
        "compute_capability": capability,
        "multiprocessors": attribute(Attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT),
        "memory_bytes": ffi::memory_bytes(device).ok(),
        "l2_bytes": attribute(Attribute::CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE),
        "clock_khz": attribute(Attribute::CU_DEVICE_ATTRIBUTE_CLOCK_RATE),
        "memory_clock_khz": attribute(Attribute::CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE),
        "memory_bus_bits": attribute(Attribute::CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH),
        "ecc": attribute(Attribute::CU_DEVICE_ATTRIBUTE_ECC_ENABLED).map(|on| on != 0),
        "pci_bus_id": ffi::pci_bus_id(device).ok(),
        "driver_version": kernel_module_version(),
        "cuda_version": ffi::version().ok().map(version_text),
    })
}

/// Returns the version of the driver's kernel module, such as 580.159.04.
pub(crate) fn kernel_module_version() -> Option<String> {
    let text = std::fs::read_to_string("/proc/driver/nvidia/version").ok()?;
    module_version(&text)
}

fn module_version(text: &str) -> Option<String> {
    let line = text.lines().find(|line| line.starts_with("NVRM"))?;
    let is_version =
        |word: &&str| word.contains('.') && word.split('.').all(|part| part.parse::<u32>().is_ok());
    line.split_whitespace().find(is_version).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_module_version_is_found_in_both_wordings() {
        let closed =
            "NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.54.15  Tue Mar  5 22:23:56 UTC 2024";
        let open = "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.159.04  Release Build";
        assert_eq!(module_version(closed).as_deref(), Some("550.54.15"));
        assert_eq!(module_version(open).as_deref(), Some("580.159.04"));
        assert_eq!(module_version("GCC version: 12.2.0"), None);
    }

    #[test]
    fn cuda_versions_are_formatted_as_major_and_minor() {
        assert_eq!(version_text(13000), "13.0");
        assert_eq!(version_text(12080), "12.8");
    }
}
