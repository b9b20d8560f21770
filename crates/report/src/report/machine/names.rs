//! Names the host and the devices of a report.

use gpubench_text::count::counted;
use gpubench_text::grouped::distinct;

use crate::Side;
use crate::report::{BackendState, Host, Report, Row};

/// Returns the machines of some rows, which are of one side: the devices that their backends name, and for the others the
/// host's CPU with the threads in use; `None` without such rows.
pub fn machine_of(report: &Report, takes_part: impl Fn(&Row) -> bool) -> Option<String> {
    let side = report.rows.iter().find(|row| takes_part(row))?.side;
    let threads = || states(report, &takes_part).find_map(threads_of);
    let on_host = || (side == Side::Cpu).then(|| host_with(report, threads()));
    let name = |backend| device_of_backend(report, backend).map(str::to_owned).or_else(on_host);
    let names = distinct(states(report, &takes_part).filter_map(name));
    if names.is_empty() { on_host() } else { Some(names.join(" and ")) }
}

/// Returns the device of a backend; `None` for the host's CPU, whether the backend names it or not.
pub fn device_of_backend<'a>(report: &Report, backend: &'a BackendState) -> Option<&'a str> {
    let host = processor(&report.environment.host.cpu);
    device_name(backend).filter(|name| processor(name) != host)
}

/// Returns the backends that have some of these rows.
fn states<'a>(
    report: &'a Report,
    takes_part: &impl Fn(&Row) -> bool,
) -> impl Iterator<Item = &'a BackendState> {
    let has_rows = |name: &str| report.rows.iter().any(|row| row.backend == name && takes_part(row));
    report.environment.backends.iter().filter(move |backend| has_rows(&backend.name))
}

/// Returns the device in a backend's description: a string under `name` or `device`. Backends on the host's CPU have none.
pub fn device_name(backend: &BackendState) -> Option<&str> {
    ["name", "device"].iter().find_map(|key| backend.description.get(key)?.as_str())
}

/// Returns the versions of packages in a backend's description, by name: those of a backend that is another program.
pub fn versions(backend: &BackendState) -> Vec<(&str, &str)> {
    let versions = backend.description.get("versions").and_then(|versions| versions.as_object());
    let versions = versions.into_iter().flatten();
    versions.filter_map(|(name, version)| Some((name.as_str(), version.as_str()?))).collect()
}

/// Returns the same as one text: `numpy 2.4.6, scipy 1.16.1`.
pub fn versions_text(backend: &BackendState) -> Option<String> {
    let named: Vec<String> =
        versions(backend).into_iter().map(|(name, version)| format!("{name} {version}")).collect();
    (!named.is_empty()).then(|| named.join(", "))
}

/// Returns the host's CPU and the threads in use.
pub fn host(report: &Report) -> String {
    host_with(report, None)
}

/// Returns the host's CPU with this number of threads, or that of the CPU backend.
fn host_with(report: &Report, known: Option<u64>) -> String {
    let host = &report.environment.host;
    let threads = known.or_else(|| threads(report)).unwrap_or(host.threads);
    format!("{}, {}", processor(&host.cpu), counted(threads, "thread"))
}

/// Returns the number of threads of the CPU backend; `None` where it does not report it.
pub fn threads(report: &Report) -> Option<u64> {
    let mut backends = report.environment.backends.iter().filter(|backend| backend.name == "cpu");
    backends.find_map(threads_of)
}

fn threads_of(backend: &BackendState) -> Option<u64> {
    backend.description.get("threads")?.as_u64()
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

    fn machine(report: &Report, side: Side) -> Option<String> {
        machine_of(report, |row| row.side == side)
    }

    #[test]
    fn each_side_is_called_by_its_device_or_its_cpu() {
        let report = example::full();
        assert_eq!(machine(&report, Side::Gpu).as_deref(), Some("NVIDIA H200"));
        let expected = "Intel Xeon Platinum 8480C, 16 threads";
        assert_eq!(machine(&report, Side::Cpu).as_deref(), Some(expected));
        assert_eq!(machine(&example::empty(), Side::Gpu), None);
    }

    #[test]
    fn a_side_of_the_host_and_of_a_device_is_called_by_both() {
        let rows = ["cpu", "sim"].map(|backend| example::measured("fft", 8, backend, "v", 1e-3));
        let mut report = example::of(rows);
        report.rows.iter_mut().for_each(|row| row.side = Side::Cpu);
        let description = serde_json::json!({ "name": "simulated" });
        let sim = BackendState { name: "sim".into(), description, ..BackendState::default() };
        report.environment.backends.push(sim);
        let expected = "Intel Xeon Platinum 8480C, 16 threads and simulated";
        assert_eq!(machine(&report, Side::Cpu).as_deref(), Some(expected));
    }

    #[test]
    fn a_backend_that_names_the_host_s_cpu_has_no_device_of_its_own() {
        let mut report = example::of([example::measured("fft", 8, "numpy", "fft2", 1e-3)]);
        report.rows[0].side = Side::Cpu;
        let host = report.environment.host.cpu.clone();
        let backend = &mut report.environment.backends[0];
        backend.name = "numpy".into();
        backend.description = serde_json::json!({ "name": host, "threads": 8 });
        let expected = "Intel Xeon Platinum 8480C, 8 threads";
        assert_eq!(machine(&report, Side::Cpu).as_deref(), Some(expected), "numpy's own threads");
        report.environment.backends[0].description["name"] = "Graviton".into();
        assert_eq!(machine(&report, Side::Cpu).as_deref(), Some("Graviton"));
    }

    #[test]
    fn versions_of_packages_are_read_from_the_description() {
        let description = serde_json::json!({ "versions": { "numpy": "2.4.6", "scipy": "1.16.1", "x": 3 } });
        let backend = BackendState { description, ..BackendState::default() };
        assert_eq!(versions_text(&backend).as_deref(), Some("numpy 2.4.6, scipy 1.16.1"));
        assert_eq!(versions_text(&BackendState::default()), None);
    }

    #[test]
    fn trademarks_and_clock_rates_are_cut_from_a_cpu_model() {
        assert_eq!(processor("Intel(R) Core(TM) i9-285K CPU @ 3.70GHz"), "Intel Core i9-285K");
        assert_eq!(processor("AMD EPYC 7763 64-Core Processor"), "AMD EPYC 7763 64-Core");
    }
}
