//! Names the host and the devices of a report.

use gpubench_text::count::counted;

use crate::Side;
use crate::report::{BackendState, Host, Report};

/// Returns the machine of a side: the device that the first of its backends names, or the host's CPU with the threads
/// in use; `None` when no row is on that side.
pub fn machine(report: &Report, side: Side) -> Option<String> {
    report.rows.iter().any(|row| row.side == side).then_some(())?;
    match (device(report, side), side) {
        (Some(device), _) => Some(device.to_owned()),
        (None, Side::Cpu) => Some(host(report)),
        (None, Side::Gpu) => None,
    }
}

/// Returns the device of a side: that of the first of its backends that names one.
pub fn device(report: &Report, side: Side) -> Option<&str> {
    let has_rows = |name: &str| report.rows.iter().any(|row| row.side == side && row.backend == name);
    let mut backends = report.environment.backends.iter().filter(|backend| has_rows(&backend.name));
    backends.find_map(device_name)
}

/// Returns the device in a backend's description: a string under `name` or `device`. A backend on the host's CPU has
/// none.
pub fn device_name(backend: &BackendState) -> Option<&str> {
    ["name", "device"].iter().find_map(|key| backend.description.get(key)?.as_str())
}

/// Returns the host's CPU and the threads in use.
pub fn host(report: &Report) -> String {
    let host = &report.environment.host;
    format!("{}, {}", processor(&host.cpu), counted(threads(report).unwrap_or(host.threads), "thread"))
}

/// Returns the number of threads of the CPU backend; `None` where it does not report it.
pub fn threads(report: &Report) -> Option<u64> {
    let mut backends = report.environment.backends.iter().filter(|backend| backend.name == "cpu");
    backends.find_map(|backend| backend.description.get("threads")?.as_u64())
}

/// Returns the model of the host's CPU, as the system names it.
pub fn cpu_model(host: &Host) -> &str {
    if host.cpu.is_empty() { "unknown CPU" } else { &host.cpu }
}

/// Returns a CPU model without trademark signs and filler words.
pub fn processor(model: &str) -> String {
    let plain = model.replace("(R)", "").replace("(TM)", "").replace("(tm)", "");
    let plain = plain.split(" @ ").next().unwrap_or_default();
    let words = plain.split_whitespace().filter(|word| !["CPU", "Processor"].contains(word));
    words.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::example;

    #[test]
    fn each_side_is_called_by_its_device_or_its_cpu() {
        let report = example::full();
        assert_eq!(machine(&report, Side::Gpu).as_deref(), Some("NVIDIA H200"));
        let expected = "Intel Xeon Platinum 8480C, 16 threads";
        assert_eq!(machine(&report, Side::Cpu).as_deref(), Some(expected));
        assert_eq!(machine(&example::empty(), Side::Gpu), None);
    }

    #[test]
    fn trademarks_and_clock_rates_are_cut_from_a_cpu_model() {
        assert_eq!(processor("Intel(R) Core(TM) i9-285K CPU @ 3.70GHz"), "Intel Core i9-285K");
        assert_eq!(processor("AMD EPYC 7763 64-Core Processor"), "AMD EPYC 7763 64-Core");
    }
}
