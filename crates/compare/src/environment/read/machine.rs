//! Facts about the machine: GPU, CPU, their libraries, the operating system.

use gpubench_model::report::quantity::bytes_text;
use gpubench_model::report::{BackendState, Host};

use super::{Seen, described, described_as, one, switch};
use crate::environment::value::Reading;

/// Name of the GPU.
pub(crate) fn gpu_model(seen: &Seen) -> Vec<Reading> {
    described_as(seen, "name")
}

/// Multiprocessors of the GPU, or of the slice of it.
pub(crate) fn gpu_multiprocessors(seen: &Seen) -> Vec<Reading> {
    described_as(seen, "multiprocessors")
}

/// Memory of the GPU.
pub(crate) fn gpu_memory(seen: &Seen) -> Vec<Reading> {
    described(seen, |description, item| {
        let bytes = description["memory_bytes"].as_u64()?;
        Some(Reading::figure(item, bytes as f64, &bytes_text(bytes)))
    })
}

/// Whether the GPU is divided into instances.
pub(crate) fn mig_mode(seen: &Seen) -> Vec<Reading> {
    described_as(seen, "mig_mode")
}

/// Whether the GPU's memory corrects errors.
pub(crate) fn ecc(seen: &Seen) -> Vec<Reading> {
    described_as(seen, "ecc")
}

/// Number of the GPU.
pub(crate) fn gpu_ordinal(seen: &Seen) -> Vec<Reading> {
    described_as(seen, "device")
}

/// Version of the GPU's driver.
pub(crate) fn driver(seen: &Seen) -> Vec<Reading> {
    described_as(seen, "driver_version")
}

/// Version of CUDA that the driver speaks.
pub(crate) fn cuda_version(seen: &Seen) -> Vec<Reading> {
    described_as(seen, "cuda_version")
}

/// The power that the driver enforces.
pub(crate) fn power_limit(seen: &Seen) -> Vec<Reading> {
    described(seen, |description, item| {
        let watts = description["power_limit_w"].as_f64()?;
        Some(Reading::figure(item, watts, &format!("{watts} W")))
    })
}

/// The clocks that the driver allows.
pub(crate) fn gpu_clock_limits(seen: &Seen) -> Vec<Reading> {
    let clocks = [
        ("most", "sm_clock_max_mhz", 1.0),
        ("by default", "sm_clock_default_mhz", 1.0),
        ("memory", "memory_clock_khz", 1e-3),
    ];
    let clock = |(what, key, unit): (&str, &str, f64)| {
        described(seen, |description, item| {
            let mhz = description[key].as_f64()? * unit;
            Some(Reading::figure(&format!("{item} {what}"), mhz, &format!("{mhz:.0} MHz")))
        })
    };
    clocks.into_iter().flat_map(clock).collect()
}

/// Whether the device is held back until all work of a sample is queued.
pub(crate) fn gpu_timing(seen: &Seen) -> Vec<Reading> {
    described(seen, |description, item| {
        let holding = description["timing"]["holding"].as_bool()?;
        Some(Reading::text(item, if holding { "device held back" } else { "device not held back" }))
    })
}

/// Names and versions of libraries.
pub(crate) fn libraries(seen: &Seen) -> Vec<Reading> {
    let libraries = seen.backends.iter().flat_map(|backend| &backend.libraries);
    libraries
        .filter_map(|library| {
            Some(Reading::text(&library.name, split_threads(library.version.as_deref()?).0))
        })
        .collect()
}

/// Paths of the libraries of all backends.
pub(crate) fn library_paths(seen: &Seen) -> Vec<Reading> {
    let libraries = seen.report.environment.backends.iter().flat_map(|backend| &backend.libraries);
    libraries.filter_map(|library| Some(Reading::text(&library.name, library.path.as_deref()?))).collect()
}

/// The version that a BLAS tells of itself, and the threads that it was told to use.
fn split_threads(version: &str) -> (&str, Option<u64>) {
    let split = version.rsplit_once(", ").and_then(|(version, threads)| {
        Some((version, Some(threads.strip_suffix(" threads")?.parse().ok()?)))
    });
    split.unwrap_or((version, None))
}

/// Threads of the CPU backend, and what uses another number of them.
pub(crate) fn cpu_threads(seen: &Seen) -> Vec<Reading> {
    let of_backend = |backend: &&BackendState| {
        let threads = backend.description["threads"].as_u64()?;
        let rayon = ("rayon", backend.description["rayon_threads"].as_u64());
        let libraries = backend.libraries.iter().map(|library| {
            (library.name.as_str(), library.version.as_deref().and_then(|version| split_threads(version).1))
        });
        let others = std::iter::once(rayon).chain(libraries);
        let others =
            others.filter_map(|(name, count)| Some(format!("{name} {}", count.filter(|n| *n != threads)?)));
        let others = others.collect::<Vec<_>>().join(", ");
        let text = if others.is_empty() { threads.to_string() } else { format!("{threads} ({others})") };
        Some(Reading::text(if seen.backends.len() == 1 { "" } else { &backend.name }, &text))
    };
    seen.backends.iter().filter_map(of_backend).collect()
}

/// The vector instructions that CPU kernels were chosen for.
pub(crate) fn simd(seen: &Seen) -> Vec<Reading> {
    described_as(seen, "simd")
}

fn host<'a>(seen: &Seen<'a>) -> &'a Host {
    &seen.report.environment.host
}

/// Model of the CPU.
pub(crate) fn cpu_model(seen: &Seen) -> Vec<Reading> {
    one(Some(host(seen).cpu.as_str()).filter(|model| !model.is_empty()))
}

/// Processors that the process may use.
pub(crate) fn processors(seen: &Seen) -> Vec<Reading> {
    one(Some(&host(seen).threads.to_string()))
}

/// Whether processors share cores.
pub(crate) fn smt(seen: &Seen) -> Vec<Reading> {
    one(host(seen).smt.map(switch))
}

/// NUMA nodes with processors.
pub(crate) fn numa(seen: &Seen) -> Vec<Reading> {
    one(host(seen).numa_nodes.map(|nodes| nodes.to_string()).as_deref())
}

/// Processors' worth of time that the control group allows; since layout 2 its absence means that there is no limit.
pub(crate) fn cpu_quota(seen: &Seen) -> Vec<Reading> {
    match host(seen).cpu_quota {
        Some(quota) => vec![Reading::figure("", quota, &format!("{quota} processors"))],
        None => one((seen.report.schema_version >= 2).then_some("no limit")),
    }
}

/// Frequency governor.
pub(crate) fn governor(seen: &Seen) -> Vec<Reading> {
    one(host(seen).governor.as_deref())
}

/// Bytes of the last-level caches.
pub(crate) fn last_level_cache(seen: &Seen) -> Vec<Reading> {
    bytes(host(seen).last_level_cache_bytes)
}

/// Main memory.
pub(crate) fn memory(seen: &Seen) -> Vec<Reading> {
    bytes(Some(host(seen).memory_bytes).filter(|bytes| *bytes > 0))
}

fn bytes(bytes: Option<u64>) -> Vec<Reading> {
    bytes.map(|bytes| Reading::figure("", bytes as f64, &bytes_text(bytes))).into_iter().collect()
}

/// Name of the machine.
pub(crate) fn host_name(seen: &Seen) -> Vec<Reading> {
    one(Some(&host(seen).name))
}

/// The distribution, and the kernel where both are told.
fn system<'a>(seen: &Seen<'a>) -> (&'a str, Option<&'a str>) {
    let os = host(seen).os.as_str();
    match os.rsplit_once(", ") {
        Some((distribution, kernel)) if kernel.starts_with("Linux ") => (distribution, Some(kernel)),
        _ => (os, None),
    }
}

/// Operating system.
pub(crate) fn os(seen: &Seen) -> Vec<Reading> {
    one(Some(system(seen).0))
}

/// Kernel.
pub(crate) fn kernel(seen: &Seen) -> Vec<Reading> {
    one(system(seen).1)
}
