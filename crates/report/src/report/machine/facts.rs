//! Lists the facts about a machine, with their names and the functions that read them from a report.

use serde_json::Value as Json;

use super::value::Value;
use crate::report::Host;

/// A fact about an `S`: the host of a report, or a backend's description.
pub struct Fact<S: 'static> {
    /// Name in policy files.
    pub name: &'static str,
    /// Heading in a list.
    pub label: &'static str,
    /// Name in a sentence.
    pub short: &'static str,
    read: fn(&S) -> Option<Value>,
}

impl<S> Fact<S> {
    /// Returns the value; `None` where the report does not have it.
    pub fn of(&self, source: &S) -> Option<Value> {
        (self.read)(source)
    }
}

/// Makes a fact of the host.
const fn host([name, label, short]: [&'static str; 3], read: fn(&Host) -> Option<Value>) -> Fact<Host> {
    Fact { name, label, short, read }
}

/// Makes a fact from a backend's description, with the same name in lists and sentences.
const fn said(name: &'static str, label: &'static str, read: fn(&Json) -> Option<Value>) -> Fact<Json> {
    Fact { name, label, short: label, read }
}

fn text(text: &str) -> Option<Value> {
    Some(Value::Text(text.to_owned()))
}

/// Splits the operating system into the distribution and, if given, the kernel.
fn system(host: &Host) -> (&str, Option<&str>) {
    match host.os.rsplit_once(", ") {
        Some((distribution, kernel)) if kernel.starts_with("Linux ") => (distribution, Some(kernel)),
        _ => (&host.os, None),
    }
}

fn figure(value: &Json, unit: &'static str, decimals: Option<usize>) -> Option<Value> {
    Some(Value::Figure { figure: value.as_f64()?, unit, decimals })
}

/// Name of the machine.
pub static HOST_NAME: Fact<Host> = host(["host-name", "Host", "host"], |host| text(&host.name));
/// Operating system.
pub static OS: Fact<Host> = host(["os", "System", "system"], |host| text(system(host).0));
/// Version of the kernel.
pub static KERNEL: Fact<Host> = host(["kernel", "Kernel", "kernel"], |host| text(system(host).1?));
/// Model of the CPU.
pub static CPU_MODEL: Fact<Host> =
    host(["cpu-model", "CPU", "CPU"], |host| text(Some(&host.cpu).filter(|model| !model.is_empty())?));
/// Family, model and stepping of the CPU, or what Arm has instead.
pub static CPU_IDENTITY: Fact<Host> =
    host(["cpu-identity", "CPU generation", "CPU generation"], |host| text(host.cpu_identity.as_deref()?));
/// CPUs that the process may use.
pub static PROCESSORS: Fact<Host> = host(["cpus", "CPUs", "CPUs"], |host| Some(Value::Count(host.threads)));
/// Main memory.
pub static MEMORY: Fact<Host> = host(["memory", "Memory", "memory"], |host| {
    Some(host.memory_bytes).filter(|bytes| *bytes > 0).map(Value::Bytes)
});
/// Frequency governor.
pub static GOVERNOR: Fact<Host> =
    host(["governor", "Frequency governor", "governor"], |host| text(host.governor.as_deref()?));
/// Simultaneous multithreading: on if several CPUs share a core.
pub static SMT: Fact<Host> =
    host(["smt", "Simultaneous multithreading", "SMT"], |host| host.smt.map(Value::Switch));
/// NUMA nodes with CPUs.
pub static NUMA: Fact<Host> =
    host(["numa", "NUMA nodes", "NUMA nodes"], |host| host.numa_nodes.map(Value::Count));
/// CPU time that the control group allows, in CPUs.
pub static CPU_QUOTA: Fact<Host> = host(["cpu-quota", "CPU quota", "CPU quota"], |host| {
    Some(Value::Figure { figure: host.cpu_quota?, unit: "CPUs", decimals: None })
});
/// The system's policy of transparent huge pages.
pub static HUGE_PAGES: Fact<Host> = host(["huge-pages", "Transparent huge pages", "huge pages"], |host| {
    text(host.transparent_huge_pages.as_deref()?)
});
/// Bytes of the last-level caches.
pub static LAST_LEVEL_CACHE: Fact<Host> =
    host(["last-level-cache", "Last-level caches", "last-level caches"], |host| {
        host.last_level_cache_bytes.map(Value::Bytes)
    });
/// Runnable processes when the run started.
pub static LOAD: Fact<Host> = host(["load", "Load when the run started", "load at the start"], |host| {
    Some(Value::Figure { figure: host.load_average?, unit: "", decimals: Some(2) })
});

/// Name of the GPU.
pub static GPU_MODEL: Fact<Json> = said("gpu-model", "model", |said| Value::said(&said["name"]));
/// Number of the GPU.
pub static GPU_ORDINAL: Fact<Json> = said("gpu-ordinal", "device", |said| Value::said(&said["device"]));
/// Multiprocessors that the run can use.
pub static GPU_MULTIPROCESSORS: Fact<Json> =
    said("gpu-multiprocessors", "multiprocessors", |said| Value::said(&said["multiprocessors"]));
/// Memory of the GPU.
pub static GPU_MEMORY: Fact<Json> =
    said("gpu-memory", "memory", |said| said["memory_bytes"].as_u64().map(Value::Bytes));
/// MIG mode: on if the GPU is divided into instances.
pub static MIG_MODE: Fact<Json> = said("mig-mode", "MIG", |said| Value::said(&said["mig_mode"]));
/// ECC: on if the GPU's memory corrects errors.
pub static ECC: Fact<Json> = said("ecc", "ECC", |said| Value::said(&said["ecc"]));
/// Version of the GPU's driver.
pub static DRIVER: Fact<Json> = said("driver", "driver", |said| Value::said(&said["driver_version"]));
/// CUDA version that the driver supports.
pub static CUDA_VERSION: Fact<Json> = said("cuda-version", "CUDA", |said| Value::said(&said["cuda_version"]));
/// Persistence mode: on if the driver stays loaded without a program.
pub static PERSISTENCE: Fact<Json> =
    said("gpu-persistence", "persistence mode", |said| Value::said(&said["persistence_mode"]));
/// Method by which a backend empties the caches.
pub static CACHE_FLUSH: Fact<Json> =
    said("cache-flush", "cache flush", |said| Value::said(&said["cold_caches"]));
/// Power that the driver enforces.
pub static POWER_LIMIT: Fact<Json> =
    said("power-limit", "power limit", |said| figure(&said["power_limit_w"], "W", None));
/// Maximum clock of the multiprocessors that the driver allows.
pub static SM_CLOCK_MAX: Fact<Json> =
    said("sm-clock-max", "maximum clock", |said| figure(&said["sm_clock_max_mhz"], "MHz", Some(0)));
/// Default clock of the multiprocessors.
pub static SM_CLOCK_DEFAULT: Fact<Json> =
    said("sm-clock-default", "default clock", |said| figure(&said["sm_clock_default_mhz"], "MHz", Some(0)));
/// The clock of the GPU's memory.
pub static MEMORY_CLOCK: Fact<Json> = said("memory-clock", "memory clock", |said| {
    let mhz = said["memory_clock_khz"].as_f64()? * 1e-3;
    Some(Value::Figure { figure: mhz, unit: "MHz", decimals: Some(0) })
});
/// Method of GPU timing: with or without a blocking kernel that delays the GPU until all work of a sample is queued.
pub static GPU_TIMING: Fact<Json> = said("gpu-timing", "timing", |said| {
    let timing = &said["timing"];
    // Earlier reports have the key "holding".
    let blocking = timing.get("blocking_kernel").or_else(|| timing.get("holding"))?.as_bool()?;
    text(if blocking { "blocking kernel" } else { "no blocking kernel" })
});
/// Address of the GPU on its bus.
pub static BUS_ADDRESS: Fact<Json> =
    said("bus-address", "bus address", |said| text(said["pci_bus_id"].as_str()?));
/// Unique identifier of the GPU.
pub static UUID: Fact<Json> = said("uuid", "UUID", |said| text(said["uuid"].as_str()?));
/// Vector instructions of the CPU kernels.
pub static SIMD: Fact<Json> = said("simd", "vector instructions", |said| Value::said(&said["simd"]));

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::example;
    use serde_json::json;

    #[test]
    fn facts_of_the_host_are_read_and_written() {
        let mut host = example::full().environment.host;
        let of = |fact: &Fact<Host>, host: &Host| fact.of(host).map(|value| value.to_string());
        assert_eq!(of(&CPU_QUOTA, &host).as_deref(), Some("15.5 CPUs"));
        assert_eq!(of(&LAST_LEVEL_CACHE, &host).as_deref(), Some("105 MiB"));
        assert_eq!(of(&LOAD, &host).as_deref(), Some("0.40"));
        assert_eq!([of(&OS, &host), of(&KERNEL, &host)], [Some("Linux 6.8".into()), None]);
        host.os = "Debian GNU/Linux 12, Linux 6.1".into();
        assert_eq!([&OS, &KERNEL].map(|fact| of(fact, &host).unwrap()), ["Debian GNU/Linux 12", "Linux 6.1"]);
    }

    #[test]
    fn a_fact_that_the_host_lacks_has_no_value() {
        let host = Host::default();
        let facts = [&CPU_MODEL, &MEMORY, &GOVERNOR, &SMT, &NUMA, &CPU_QUOTA, &HUGE_PAGES, &LOAD];
        assert!(facts.iter().all(|fact| fact.of(&host).is_none()));
    }

    #[test]
    fn facts_of_a_device_are_read_from_its_backends_description() {
        let said = json!({
            "device": 3, "name": "NVIDIA H200", "ecc": true, "power_limit_w": 700.0, "memory_clock_khz": 3_201_000,
            "memory_bytes": 1u64 << 30, "timing": { "blocking_kernel": true }, "mig_mode": null,
        });
        let of = |fact: &Fact<Json>| fact.of(&said).map(|value| value.to_string());
        let expected = ["3", "NVIDIA H200", "on", "700 W", "3201 MHz", "1.00 GiB", "blocking kernel"];
        let facts = [&GPU_ORDINAL, &GPU_MODEL, &ECC, &POWER_LIMIT, &MEMORY_CLOCK, &GPU_MEMORY, &GPU_TIMING];
        assert_eq!(facts.map(|fact| of(fact).unwrap()), expected);
        assert_eq!([of(&MIG_MODE), of(&UUID)], [None, None]);
        let earlier = |holding: bool| GPU_TIMING.of(&serde_json::json!({ "timing": { "holding": holding } }));
        let timing = [earlier(true), earlier(false)].map(|value| value.unwrap().to_string());
        assert_eq!(timing, ["blocking kernel", "no blocking kernel"]);
    }
}
