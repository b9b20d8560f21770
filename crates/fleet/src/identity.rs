//! Identifies the host and the GPU of a report, and the class of similar devices to which each belongs.

use gpubench_model::Side;
use gpubench_model::report::{BackendState, Report, machine};
use gpubench_text::control::collapsed;
use gpubench_text::count::counted;
use serde_json::Value as Json;

use super::fitted_name::with_suffix;

/// A class of hosts or GPUs: members of one class should be equally fast.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeviceClass {
    pub model: String,
    /// Other properties that must be equal, in words: `driver 580.159.04, up to 1980 MHz`. Empty if none are recorded.
    pub(crate) details: String,
}

impl std::fmt::Display for DeviceClass {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.details.as_str() {
            "" => f.write_str(&self.model),
            details => write!(f, "{} ({details})", self.model),
        }
    }
}

/// The identity of a host: name, CPU model, CPUs in use and memory.
pub(crate) type HostKey<'a> = (&'a str, &'a str, u64, u64);

pub(crate) fn host(report: &Report) -> HostKey<'_> {
    let host = &report.environment.host;
    (&host.name, &host.cpu, host.threads, host.memory_bytes)
}

/// Returns the name of the host on one line, or `unnamed host`.
pub(crate) fn host_name(report: &Report) -> String {
    let name = collapsed(&report.environment.host.name);
    if name.is_empty() { "unnamed host".into() } else { name }
}

/// Returns the GPU backend of a report: that of its first measured row, or of its first row if none was measured. The
/// backend `cuda` comes before others of the same GPU, because it describes the GPU most fully.
pub(crate) fn gpu(report: &Report) -> Option<&BackendState> {
    let rows = || report.rows.iter().filter(|row| row.side == Side::Gpu);
    let measured = || rows().filter(|row| row.execute.is_some());
    let row = measured().find(|row| row.backend == "cuda").or_else(|| measured().next());
    report.environment.backend(&row.or_else(|| rows().next())?.backend)
}

/// Returns a fact about the GPU of a report; `None` if its backend does not record it.
pub(crate) fn gpu_fact(report: &Report, fact: &machine::Fact<Json>) -> Option<machine::Value> {
    fact.of(&gpu(report)?.description)
}

/// Returns the model of a GPU, or the name of its backend if the model is unknown.
fn gpu_model(report: &Report) -> Option<String> {
    let backend = gpu(report)?;
    Some(machine::device_name(backend).unwrap_or(&backend.name).to_owned())
}

/// Returns the class of a report's GPU: its model, multiprocessors, driver and maximum clock; `None` without a GPU.
///
/// Settings of a card (power limit, application clocks, ECC) are not part of it, because they may explain a difference.
pub(crate) fn gpu_class(report: &Report) -> Option<DeviceClass> {
    let fact = |fact| gpu_fact(report, fact);
    let details = [
        fact(&machine::GPU_MULTIPROCESSORS).map(|count| format!("{count} multiprocessors")),
        fact(&machine::DRIVER).map(|version| format!("driver {version}")),
        fact(&machine::SM_CLOCK_MAX).map(|clock| format!("up to {clock}")),
    ];
    let details = details.into_iter().flatten().collect::<Vec<_>>().join(", ");
    Some(DeviceClass { model: gpu_model(report)?, details })
}

/// Returns the class of a report's host: its CPU model and the number of CPUs in use.
pub(crate) fn host_class(report: &Report) -> DeviceClass {
    let host = &report.environment.host;
    let model = match host.cpu.as_str() {
        "" => machine::cpu_model(host).to_owned(),
        model => machine::processor(model),
    };
    DeviceClass { model, details: counted(host.threads, "CPU") }
}

/// Returns the default name of a member: its host, and its GPU if it has one.
pub(crate) fn member_name(report: &Report) -> String {
    let suffix = match gpu(report).map(|gpu| gpu.description["device"].as_u64()) {
        None => String::new(),
        Some(None) => " GPU".into(),
        Some(Some(ordinal)) => format!(" GPU {ordinal}"),
    };
    with_suffix(&host_name(report), &suffix)
}

/// Returns the bus address of the GPU without the usual domain prefix: `41:00.0`.
pub(crate) fn bus_address(report: &Report) -> Option<String> {
    let address = collapsed(&gpu_fact(report, &machine::BUS_ADDRESS)?.to_string());
    Some(address.strip_prefix("0000:").unwrap_or(&address).to_lowercase())
}

/// The identity of a physical GPU, equal for all its runs.
#[derive(Clone, Debug)]
pub struct Device {
    key: Vec<String>,
    /// Its name, without the run.
    pub name: String,
}

impl PartialEq for Device {
    fn eq(&self, other: &Device) -> bool {
        self.key == other.key
    }
}

/// Identifies the GPU of a report by its UUID, or by its host and bus address; `None` if neither is recorded.
pub(crate) fn device(report: &Report) -> Option<Device> {
    let address = bus_address(report);
    let key = match gpu_fact(report, &machine::UUID) {
        Some(uuid) => vec![uuid.to_string()],
        None => {
            let host = &report.environment.host;
            vec![host.name.clone(), host.cpu.clone(), address.clone()?]
        }
    };
    let by_address = |address: String| with_suffix(&host_name(report), &format!(" GPU {address}"));
    Some(Device { key, name: address.map_or_else(|| member_name(report), by_address) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpubench_model::report::example;
    use serde_json::json;

    #[test]
    fn a_member_is_called_by_host_and_ordinal_or_by_host_alone() {
        let mut report = example::full();
        assert_eq!(member_name(&report), "node GPU 0");
        report.environment.backends[1].description = json!({ "device": "simulated" });
        assert_eq!(member_name(&report), "node GPU");
        report.rows.retain(|row| row.side == Side::Cpu);
        assert_eq!(member_name(&report), "node");
        report.environment.host.name.clear();
        assert_eq!(member_name(&report), "unnamed host");
    }

    #[test]
    fn a_kind_is_model_driver_and_greatest_clock_and_no_setting() {
        let mut report = example::full();
        let description = json!({
            "device": 3, "name": "NVIDIA H200", "driver_version": "580.1", "multiprocessors": 132,
            "sm_clock_max_mhz": 1980, "power_limit_w": 700.0, "pci_bus_id": "0000:41:00.0",
        });
        report.environment.backends[1].description = description;
        let kind = gpu_class(&report).unwrap();
        assert_eq!(kind.to_string(), "NVIDIA H200 (132 multiprocessors, driver 580.1, up to 1980 MHz)");
        report.environment.backends[1].description["power_limit_w"] = json!(550.0);
        assert_eq!(gpu_class(&report).unwrap(), kind);
        report.environment.backends[1].description["driver_version"] = json!("550.1");
        assert_ne!(gpu_class(&report).unwrap(), kind);
        assert_eq!(bus_address(&report).as_deref(), Some("41:00.0"));
        assert_eq!(host_class(&report).to_string(), "Intel Xeon Platinum 8480C (16 CPUs)");
    }
}
