//! Reads facts about the machine that consist of several readings: clocks, libraries, threads, CPU quota.

use gpubench_model::report::BackendState;
use gpubench_model::report::machine::{
    CPU_IDENTITY, CPU_MODEL, CPU_QUOTA, MEMORY_CLOCK, SM_CLOCK_DEFAULT, SM_CLOCK_MAX, versions,
};

use super::{Source, described, host, one};
use crate::environment::value::Reading;

pub(crate) fn gpu_clock_limits(source: &Source) -> Vec<Reading> {
    let clocks = [("maximum", &SM_CLOCK_MAX), ("by default", &SM_CLOCK_DEFAULT), ("memory", &MEMORY_CLOCK)];
    let named = clocks.into_iter().flat_map(|(what, clock)| {
        let readings = described(source, clock).into_iter();
        readings.map(move |reading| Reading {
            item: format!("{} {what}", reading.item).trim_start().to_owned(),
            ..reading
        })
    });
    named.collect()
}

/// Returns the versions of the libraries, and those of the packages of backends that are other programs.
pub(crate) fn libraries(source: &Source) -> Vec<Reading> {
    let libraries = source.backends.iter().flat_map(|backend| &backend.libraries);
    let libraries = libraries
        .filter_map(|library| Some(Reading::text(&library.name, library.version_without_threads()?)));
    let packages = source.backends.iter().flat_map(|backend| {
        let item = |name: &str| match name == backend.name {
            true => name.to_owned(),
            false => format!("{}/{name}", backend.name),
        };
        versions(backend).into_iter().map(move |(name, version)| Reading::text(&item(name), version))
    });
    libraries.chain(packages).collect()
}

pub(crate) fn library_paths(source: &Source) -> Vec<Reading> {
    let libraries = source.report.environment.backends.iter().flat_map(|backend| &backend.libraries);
    libraries.filter_map(|library| Some(Reading::text(&library.name, library.path.as_deref()?))).collect()
}

/// Returns the threads of the CPU backend, with the libraries that use another number. Where rows have their own numbers,
/// that of a library is the one last tried, and says nothing about the run.
pub(crate) fn cpu_threads(source: &Source) -> Vec<Reading> {
    let of_backend = |backend: &&BackendState| {
        let threads = backend.description["threads"].as_u64()?;
        let rayon = ("rayon", backend.description["rayon_threads"].as_u64());
        let is_per_row =
            source.report.rows.iter().any(|row| row.backend == backend.name && row.threads.is_some());
        let libraries = backend.libraries.iter().filter(|_| !is_per_row);
        let libraries = libraries.map(|library| (library.name.as_str(), library.threads()));
        let others = std::iter::once(rayon).chain(libraries);
        let others =
            others.filter_map(|(name, count)| Some(format!("{name} {}", count.filter(|n| *n != threads)?)));
        let others = others.collect::<Vec<_>>().join(", ");
        let text = if others.is_empty() { threads.to_string() } else { format!("{threads} ({others})") };
        Some(Reading::text(source.item(backend), &text))
    };
    source.backends.iter().filter_map(of_backend).collect()
}

/// Returns the model of the CPU, and the numbers that distinguish CPUs of one name.
pub(crate) fn cpu_model(source: &Source) -> Vec<Reading> {
    let identity = host(source, &CPU_IDENTITY).into_iter();
    let identity = identity.map(|reading| Reading { item: "generation".into(), ..reading });
    host(source, &CPU_MODEL).into_iter().chain(identity).collect()
}

/// Returns the CPUs to which each backend bound its threads.
pub(crate) fn pinning(source: &Source) -> Vec<Reading> {
    listed(source, "pinned", "not bound")
}

/// Returns the NUMA nodes over which each backend interleaved memory.
pub(crate) fn interleaving(source: &Source) -> Vec<Reading> {
    listed(source, "memory_interleaved_over_nodes", "none")
}

/// Returns a list of numbers in the description of each backend. A key without a list, or with an empty one, is `none`.
fn listed(source: &Source, key: &str, none: &str) -> Vec<Reading> {
    let of_backend = |backend: &&BackendState| {
        let numbers = backend.description.get(key)?.as_array().map_or(&[][..], Vec::as_slice);
        let numbers: Vec<String> = numbers.iter().map(ToString::to_string).collect();
        let text = if numbers.is_empty() { none.to_owned() } else { numbers.join(", ") };
        Some(Reading::text(source.item(backend), &text))
    };
    source.backends.iter().filter_map(of_backend).collect()
}

/// Returns how much slower the slowest thread of a host is than the fastest.
pub(crate) fn thread_speeds(source: &Source) -> Vec<Reading> {
    let speeds = source.report.environment.backends.iter();
    let mut speeds = speeds.filter_map(|backend| backend.timer_overhead.as_ref()?.thread_speeds);
    let ratio = speeds.next().map(|speeds| speeds.ratio()).filter(|ratio| ratio.is_finite());
    ratio.map(|ratio| Reading::figure("", ratio, &format!("{ratio:.2}"))).into_iter().collect()
}

/// Returns the CPU quota of the control group, in CPUs. Since layout 2 its absence means that there is no limit.
pub(crate) fn cpu_quota(source: &Source) -> Vec<Reading> {
    match host(source, &CPU_QUOTA) {
        absent if absent.is_empty() => one((source.report.schema_version >= 2).then_some("no limit")),
        quota => quota,
    }
}
