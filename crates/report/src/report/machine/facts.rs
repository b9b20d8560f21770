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

/// Defines facts: name in policy files, heading in a list, name in a sentence where it differs, and the reading function.
macro_rules! facts {
    ($source:ty { $($fact:ident = $name:literal, $label:literal, $short:literal, $read:expr;)+ }) => {
        $(
            #[doc = concat!("The fact `", $name, "`: ", $label, ".")]
            pub static $fact: Fact<$source> = Fact { name: $name, label: $label, short: $short, read: $read };
        )+
    };
    ($source:ty { $($fact:ident = $name:literal, $label:literal, $read:expr;)+ }) => {
        facts!($source { $($fact = $name, $label, $label, $read;)+ });
    };
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

facts!(Host {
    HOST_NAME = "host-name", "Host", "host", |host| text(&host.name);
    OS = "os", "System", "system", |host| text(system(host).0);
    KERNEL = "kernel", "Kernel", "kernel", |host| text(system(host).1?);
    CPU_MODEL = "cpu-model", "CPU", "CPU", |host| text(Some(&host.cpu).filter(|model| !model.is_empty())?);
    // Family, model and stepping, or what Arm has instead.
    CPU_IDENTITY = "cpu-identity", "CPU generation", "CPU generation", |host| text(host.cpu_identity.as_deref()?);
    PROCESSORS = "cpus", "CPUs", "CPUs", |host| Some(Value::Count(host.threads));
    MEMORY = "memory", "Memory", "memory", |host| {
        Some(host.memory_bytes).filter(|bytes| *bytes > 0).map(Value::Bytes)
    };
    GOVERNOR = "governor", "Frequency governor", "governor", |host| text(host.governor.as_deref()?);
    SMT = "smt", "Simultaneous multithreading", "SMT", |host| host.smt.map(Value::Switch);
    NUMA = "numa", "NUMA nodes", "NUMA nodes", |host| host.numa_nodes.map(Value::Count);
    CPU_QUOTA = "cpu-quota", "CPU quota", "CPU quota", |host| {
        Some(Value::Figure { figure: host.cpu_quota?, unit: "CPUs", decimals: None })
    };
    HUGE_PAGES = "huge-pages", "Transparent huge pages", "huge pages", |host| {
        text(host.transparent_huge_pages.as_deref()?)
    };
    LAST_LEVEL_CACHE = "last-level-cache", "Last-level caches", "last-level caches", |host| {
        host.last_level_cache_bytes.map(Value::Bytes)
    };
    LOAD = "load", "Load when the run started", "load at the start", |host| {
        Some(Value::Figure { figure: host.load_average?, unit: "", decimals: Some(2) })
    };
});

facts!(Json {
    GPU_MODEL = "gpu-model", "model", |said| Value::said(&said["name"]);
    GPU_ORDINAL = "gpu-ordinal", "device", |said| Value::said(&said["device"]);
    GPU_MULTIPROCESSORS = "gpu-multiprocessors", "multiprocessors", |said| Value::said(&said["multiprocessors"]);
    GPU_MEMORY = "gpu-memory", "memory", |said| said["memory_bytes"].as_u64().map(Value::Bytes);
    MIG_MODE = "mig-mode", "MIG", |said| Value::said(&said["mig_mode"]);
    ECC = "ecc", "ECC", |said| Value::said(&said["ecc"]);
    DRIVER = "driver", "driver", |said| Value::said(&said["driver_version"]);
    CUDA_VERSION = "cuda-version", "CUDA", |said| Value::said(&said["cuda_version"]);
    PERSISTENCE = "gpu-persistence", "persistence mode", |said| Value::said(&said["persistence_mode"]);
    CACHE_FLUSH = "cache-flush", "cache flush", |said| Value::said(&said["cold_caches"]);
    POWER_LIMIT = "power-limit", "power limit", |said| figure(&said["power_limit_w"], "W", None);
    SM_CLOCK_MAX = "sm-clock-max", "maximum clock", |said| figure(&said["sm_clock_max_mhz"], "MHz", Some(0));
    SM_CLOCK_DEFAULT = "sm-clock-default", "default clock", |said| {
        figure(&said["sm_clock_default_mhz"], "MHz", Some(0))
    };
    MEMORY_CLOCK = "memory-clock", "memory clock", |said| {
        let mhz = said["memory_clock_khz"].as_f64()? * 1e-3;
        Some(Value::Figure { figure: mhz, unit: "MHz", decimals: Some(0) })
    };
    GPU_TIMING = "gpu-timing", "timing", |said| {
        let timing = &said["timing"];
        // Earlier reports have the key "holding".
        let blocking = timing.get("blocking_kernel").or_else(|| timing.get("holding"))?.as_bool()?;
        text(if blocking { "blocking kernel" } else { "no blocking kernel" })
    };
    BUS_ADDRESS = "bus-address", "bus address", |said| text(said["pci_bus_id"].as_str()?);
    UUID = "uuid", "UUID", |said| text(said["uuid"].as_str()?);
    SIMD = "simd", "vector instructions", |said| Value::said(&said["simd"]);
});

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
        assert_eq!([&SMT, &NUMA].map(|fact| of(fact, &host).unwrap()), ["on", "1"]);
        let figures = [&MEMORY, &CPU_QUOTA, &NUMA].map(|fact| fact.of(&host).unwrap().figure());
        assert_eq!(
            figures,
            [Some(137_438_953_472.0), Some(15.5), None],
            "only sizes and figures can be near to others"
        );
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
            "memory_bytes": 1u64 << 30, "timing": { "blocking_kernel": true }, "mig_mode": null, "persistence_mode": false,
        });
        let of = |fact: &Fact<Json>| fact.of(&said).map(|value| value.to_string());
        let expected = ["3", "NVIDIA H200", "on", "off", "700 W", "3201 MHz", "1.00 GiB", "blocking kernel"];
        let facts = [
            &GPU_ORDINAL,
            &GPU_MODEL,
            &ECC,
            &PERSISTENCE,
            &POWER_LIMIT,
            &MEMORY_CLOCK,
            &GPU_MEMORY,
            &GPU_TIMING,
        ];
        assert_eq!(facts.map(|fact| of(fact).unwrap()), expected);
        assert_eq!([of(&MIG_MODE), of(&UUID)], [None, None]);
        let earlier = |holding: bool| GPU_TIMING.of(&serde_json::json!({ "timing": { "holding": holding } }));
        let timing = [earlier(true), earlier(false)].map(|value| value.unwrap().to_string());
        assert_eq!(timing, ["blocking kernel", "no blocking kernel"]);
    }
}
