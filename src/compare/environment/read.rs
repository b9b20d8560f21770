//! Reads facts out of a report. What a report does not tell, or tells in another form, gives no reading.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::value::Reading;
use crate::report::quantity::bytes_text;
use crate::report::{BackendState, Host, Report};

/// A report and those of its backends that the fact is about.
pub struct Seen<'a> {
    report: &'a Report,
    backends: Vec<&'a BackendState>,
}

impl<'a> Seen<'a> {
    /// The report with the backends of those names.
    pub fn of(report: &'a Report, names: &BTreeSet<&str>) -> Seen<'a> {
        let backends = &report.environment.backends;
        let backends = backends.iter().filter(|backend| names.contains(backend.name.as_str())).collect();
        Seen { report, backends }
    }
}

/// One value that is a text.
fn one(text: Option<&str>) -> Vec<Reading> {
    text.map(|text| Reading::text("", text)).into_iter().collect()
}

fn switch(on: bool) -> &'static str {
    if on { "on" } else { "off" }
}

/// A JSON value in words: texts without quotes. `None` of null.
fn words(value: &Value) -> Option<String> {
    match value {
        Value::Null => None,
        Value::String(text) => Some(text.clone()),
        Value::Bool(on) => Some(switch(*on).into()),
        other => Some(other.to_string()),
    }
}

/// A reading from each backend's description, under the backend's name where there are several.
fn described(seen: &Seen, read: impl Fn(&Value, &str) -> Option<Reading>) -> Vec<Reading> {
    let item = |backend: &'_ BackendState| match seen.backends.len() {
        1 => String::new(),
        _ => backend.name.clone(),
    };
    seen.backends.iter().filter_map(|backend| read(&backend.description, &item(backend))).collect()
}

/// What every backend says under `key`, in words.
fn described_as(seen: &Seen, key: &str) -> Vec<Reading> {
    described(seen, |description, item| Some(Reading::text(item, &words(&description[key])?)))
}

/// Name of the GPU.
pub fn gpu_model(seen: &Seen) -> Vec<Reading> {
    described_as(seen, "name")
}

/// Multiprocessors of the GPU, or of the slice of it.
pub fn gpu_multiprocessors(seen: &Seen) -> Vec<Reading> {
    described_as(seen, "multiprocessors")
}

/// Memory of the GPU.
pub fn gpu_memory(seen: &Seen) -> Vec<Reading> {
    described(seen, |description, item| {
        let bytes = description["memory_bytes"].as_u64()?;
        Some(Reading::figure(item, bytes as f64, &bytes_text(bytes)))
    })
}

/// Whether the GPU is divided into instances.
pub fn mig_mode(seen: &Seen) -> Vec<Reading> {
    described_as(seen, "mig_mode")
}

/// Whether the GPU's memory corrects errors.
pub fn ecc(seen: &Seen) -> Vec<Reading> {
    described_as(seen, "ecc")
}

/// Number of the GPU.
pub fn gpu_ordinal(seen: &Seen) -> Vec<Reading> {
    described_as(seen, "device")
}

/// Version of the GPU's driver.
pub fn driver(seen: &Seen) -> Vec<Reading> {
    described_as(seen, "driver_version")
}

/// Version of CUDA that the driver speaks.
pub fn cuda_version(seen: &Seen) -> Vec<Reading> {
    described_as(seen, "cuda_version")
}

/// The power that the driver enforces.
pub fn power_limit(seen: &Seen) -> Vec<Reading> {
    described(seen, |description, item| {
        let watts = description["power_limit_w"].as_f64()?;
        Some(Reading::figure(item, watts, &format!("{watts} W")))
    })
}

/// The clocks that the driver allows.
pub fn gpu_clock_limits(seen: &Seen) -> Vec<Reading> {
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
pub fn gpu_timing(seen: &Seen) -> Vec<Reading> {
    described(seen, |description, item| {
        let holding = description["timing"]["holding"].as_bool()?;
        Some(Reading::text(item, if holding { "device held back" } else { "device not held back" }))
    })
}

/// Names and versions of libraries.
pub fn libraries(seen: &Seen) -> Vec<Reading> {
    let libraries = seen.backends.iter().flat_map(|backend| &backend.libraries);
    libraries
        .filter_map(|library| {
            Some(Reading::text(&library.name, split_threads(library.version.as_deref()?).0))
        })
        .collect()
}

/// Paths of the libraries of all backends.
pub fn library_paths(seen: &Seen) -> Vec<Reading> {
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
pub fn cpu_threads(seen: &Seen) -> Vec<Reading> {
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
pub fn simd(seen: &Seen) -> Vec<Reading> {
    described_as(seen, "simd")
}

fn host<'a>(seen: &Seen<'a>) -> &'a Host {
    &seen.report.environment.host
}

/// Model of the CPU.
pub fn cpu_model(seen: &Seen) -> Vec<Reading> {
    one(Some(host(seen).cpu.as_str()).filter(|model| !model.is_empty()))
}

/// Processors that the process may use.
pub fn processors(seen: &Seen) -> Vec<Reading> {
    one(Some(&host(seen).threads.to_string()))
}

/// Whether processors share cores.
pub fn smt(seen: &Seen) -> Vec<Reading> {
    one(host(seen).smt.map(switch))
}

/// NUMA nodes with processors.
pub fn numa(seen: &Seen) -> Vec<Reading> {
    one(host(seen).numa_nodes.map(|nodes| nodes.to_string()).as_deref())
}

/// Processors' worth of time that the control group allows; since layout 2 its absence means that there is no limit.
pub fn cpu_quota(seen: &Seen) -> Vec<Reading> {
    match host(seen).cpu_quota {
        Some(quota) => vec![Reading::figure("", quota, &format!("{quota} processors"))],
        None => one((seen.report.schema_version >= 2).then_some("no limit")),
    }
}

/// Frequency governor.
pub fn governor(seen: &Seen) -> Vec<Reading> {
    one(host(seen).governor.as_deref())
}

/// Bytes of the last-level caches.
pub fn last_level_cache(seen: &Seen) -> Vec<Reading> {
    bytes(host(seen).last_level_cache_bytes)
}

/// Main memory.
pub fn memory(seen: &Seen) -> Vec<Reading> {
    bytes(Some(host(seen).memory_bytes).filter(|bytes| *bytes > 0))
}

fn bytes(bytes: Option<u64>) -> Vec<Reading> {
    bytes.map(|bytes| Reading::figure("", bytes as f64, &bytes_text(bytes))).into_iter().collect()
}

/// Name of the machine.
pub fn host_name(seen: &Seen) -> Vec<Reading> {
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
pub fn os(seen: &Seen) -> Vec<Reading> {
    one(Some(system(seen).0))
}

/// Kernel.
pub fn kernel(seen: &Seen) -> Vec<Reading> {
    one(system(seen).1)
}

/// Profile that gpubench was built with.
pub fn build_profile(seen: &Seen) -> Vec<Reading> {
    one(seen.report.environment.build_profile.as_deref())
}

/// Version of gpubench.
pub fn gpubench_version(seen: &Seen) -> Vec<Reading> {
    one(Some(&seen.report.environment.gpubench_version))
}

/// Revision of gpubench.
pub fn gpubench_revision(seen: &Seen) -> Vec<Reading> {
    one(seen.report.environment.gpubench_revision.as_deref())
}

/// Revision of the folder of the run.
pub fn git_revision(seen: &Seen) -> Vec<Reading> {
    one(seen.report.environment.git_revision.as_deref())
}

/// Environment variables that say where something is, not how it works.
const PLACES: [&str; 4] = ["CUDA_HOME", "CUDA_PATH", "CUDA_VISIBLE_DEVICES", "LD_LIBRARY_PATH"];

/// Environment variables that change results.
pub fn variables(seen: &Seen) -> Vec<Reading> {
    set(seen, |name| !PLACES.contains(&name))
}

/// Environment variables that say where something is.
pub fn place_variables(seen: &Seen) -> Vec<Reading> {
    set(seen, |name| PLACES.contains(&name))
}

fn set(seen: &Seen, which: impl Fn(&str) -> bool) -> Vec<Reading> {
    let variables = seen.report.environment.variables.iter().filter(|(name, _)| which(name));
    variables.map(|(name, value)| Reading::text(name, value)).collect()
}

fn settings<'a>(seen: &Seen<'a>) -> &'a Value {
    &seen.report.environment.settings
}

/// A sampling setting of each op, where its sweeps tell it; `unset` stands for null.
fn sampling(seen: &Seen, key: &str, unset: &str, show: impl Fn(f64) -> String) -> Vec<Reading> {
    let mut by_op = BTreeMap::<&str, BTreeSet<String>>::new();
    for sweep in settings(seen)["sweeps"].as_array().into_iter().flatten() {
        let (Some(op), Some(value)) = (sweep["op"].as_str(), sweep["sampling"].get(key)) else { continue };
        by_op.entry(op).or_default().insert(value.as_f64().map_or(unset.to_owned(), &show));
    }
    let reading = |(op, values): (&str, BTreeSet<String>)| {
        Reading::text(op, &values.into_iter().collect::<Vec<_>>().join(" and "))
    };
    by_op.into_iter().map(reading).collect()
}

/// The precision asked for.
pub fn precision(seen: &Seen) -> Vec<Reading> {
    // Six decimals keep apart what people write, and hide that 0.07 * 100 is no 7.
    sampling(seen, "precision", "by default", |share| format!("{} %", (share * 1e8).round() / 1e6))
}

/// Seconds of sampling after which a cell stops.
pub fn max_time(seen: &Seen) -> Vec<Reading> {
    sampling(seen, "max_time_s", "none", |seconds| format!("{seconds} s"))
}

/// Rounds asked for.
pub fn rounds(seen: &Seen) -> Vec<Reading> {
    sampling(seen, "rounds", "by default", |rounds| rounds.to_string())
}

/// Samples asked for.
pub fn samples(seen: &Seen) -> Vec<Reading> {
    sampling(seen, "samples", "as many as it takes", |samples| samples.to_string())
}

/// Executions before the first sample.
pub fn warmup(seen: &Seen) -> Vec<Reading> {
    sampling(seen, "warmup", "by default", |executions| executions.to_string())
}

/// Time that the whole run was given.
pub fn budget(seen: &Seen) -> Vec<Reading> {
    let budget =
        settings(seen).get("budget_s").map(|budget| budget.as_f64().map(|seconds| format!("{seconds} s")));
    one(budget.map(|seconds| seconds.unwrap_or("none".into())).as_deref())
}

/// Host memory of copies.
pub fn transfer(seen: &Seen) -> Vec<Reading> {
    one(words(&settings(seen)["options"]["transfer"]).as_deref())
}

/// Whether backends run in processes of their own.
pub fn isolation(seen: &Seen) -> Vec<Reading> {
    let isolate = settings(seen)["isolate"].as_bool();
    one(isolate.map(|isolate| if isolate { "worker processes" } else { "one process" }))
}

/// The script of the simulated device and its seed.
pub fn sim_script(seen: &Seen) -> Vec<Reading> {
    let simulated = seen.report.environment.backends.iter().filter(|backend| backend.name == "sim");
    let seed =
        simulated.filter_map(|backend| Some(Reading::text("seed", &words(&backend.description["seed"])?)));
    let file = words(&settings(seen)["options"]["sim"]).map(|file| Reading::text("file", &file));
    file.into_iter().chain(seed).collect()
}
