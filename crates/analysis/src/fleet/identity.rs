//! Identifies the host and the GPU of a report, and the class of similar devices to which each belongs.

use gpubench_report::Side;
use gpubench_report::report::{BackendState, Report, machine};
use gpubench_text::control::collapsed;
use gpubench_text::count::counted;
use gpubench_text::cut::fitted;
use serde_json::Value as Json;

pub(crate) const MAX_CHARS: usize = 80;

/// A class of hosts or GPUs: members of one class should be equally fast.
#[derive(Clone, Debug, PartialEq)]
pub struct DeviceClass {
    /// Model of the processor.
    pub model: String,
    /// Other properties that must be equal, in words: `driver 580.159.04, up to 1980 MHz`. Empty if none are recorded.
    pub details: String,
}

impl serde::Serialize for DeviceClass {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl std::fmt::Display for DeviceClass {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.details.as_str() {
            "" => f.write_str(&self.model),
            details => write!(f, "{} ({details})", self.model),
        }
    }
}

/// Joins both to a valid name. Too long ones lose the end of the stem, because the suffix distinguishes them.
pub(crate) fn with_suffix(stem: &str, suffix: &str) -> String {
    let suffix = fitted(suffix, MAX_CHARS / 2);
    fitted(stem, MAX_CHARS - suffix.chars().count()) + &suffix
}

pub(crate) fn host_name(report: &Report) -> String {
    let name = collapsed(&report.environment.host.name);
    if name.is_empty() { "unnamed host".into() } else { name }
}

/// Returns the GPU backend of the first measured row, or of the first row; `cuda` describes the GPU most fully, so it precedes.
pub fn gpu(report: &Report) -> Option<&BackendState> {
    let rows = || report.rows.iter().filter(|row| row.side == Side::Gpu);
    let measured = || rows().filter(|row| row.execute.is_some());
    let row = measured().find(|row| row.backend == "cuda").or_else(|| measured().next());
    report.environment.backend(&row.or_else(|| rows().next())?.backend)
}

/// Returns a fact about the GPU of a report as text; `None` if its backend does not record it.
fn gpu_fact(report: &Report, fact: &machine::Fact<Json>) -> Option<String> {
    Some(fact.of(&gpu(report)?.description)?.to_string())
}

/// Returns model, multiprocessors, driver and maximum clock of the GPU; not its settings, which may explain a difference.
pub fn gpu_class(report: &Report) -> Option<DeviceClass> {
    let backend = gpu(report)?;
    let fact = |fact| gpu_fact(report, fact);
    let details = [
        fact(&machine::GPU_MULTIPROCESSORS).map(|count| format!("{count} multiprocessors")),
        fact(&machine::DRIVER).map(|version| format!("driver {version}")),
        fact(&machine::SM_CLOCK_MAX).map(|clock| format!("up to {clock}")),
    ];
    let details = details.into_iter().flatten().collect::<Vec<_>>().join(", ");
    Some(DeviceClass { model: machine::device_name(backend).unwrap_or(&backend.name).to_owned(), details })
}

/// Returns the class of a report's host: its CPU model and the number of CPUs in use.
pub fn host_class(report: &Report) -> DeviceClass {
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
    let address = collapsed(&gpu_fact(report, &machine::BUS_ADDRESS)?);
    Some(address.strip_prefix("0000:").unwrap_or(&address).to_lowercase())
}

/// Identifies the device of all its runs: the host, or the GPU by UUID or host and bus address, if it has one.
pub fn device_key(report: &Report, side: Side) -> Option<Vec<String>> {
    let host = &report.environment.host;
    let (name, cpu) = (host.name.clone(), host.cpu.clone());
    match side {
        Side::Cpu => Some(vec![name, cpu, host.threads.to_string(), host.memory_bytes.to_string()]),
        Side::Gpu => gpu_fact(report, &machine::UUID)
            .map(|uuid| vec![uuid])
            .or_else(|| Some(vec![name, cpu, bus_address(report)?])),
    }
}

/// Returns the name of the device on `side` of a report, without the run.
pub fn device_name(report: &Report, side: Side) -> String {
    match (side, bus_address(report)) {
        (Side::Cpu, _) => host_name(report),
        (Side::Gpu, Some(address)) => with_suffix(&host_name(report), &format!(" GPU {address}")),
        (Side::Gpu, None) => member_name(report),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpubench_report::report::example;
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
