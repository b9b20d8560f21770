//! The environment of a report: facts about the machine and backends, timer overhead and the state of the device.

use crate::table::{Column, Field, Table};
use gpubench_report::Conditions;
use gpubench_report::report::machine;
use gpubench_report::report::quantity::{time_text, time_within};
use gpubench_report::report::{BackendState, Environment, Execute, Host, Report};

const SETTINGS: [&machine::Fact<Host>; 8] = [
    &machine::CPU_IDENTITY,
    &machine::GOVERNOR,
    &machine::SMT,
    &machine::NUMA,
    &machine::CPU_QUOTA,
    &machine::HUGE_PAGES,
    &machine::LAST_LEVEL_CACHE,
    &machine::LOAD,
];

/// The facts about a host that influence times, as far as the report has them.
pub fn settings_of(host: &Host) -> Vec<(&'static str, String)> {
    SETTINGS.iter().filter_map(|fact| Some((fact.label, fact.of(host)?.to_string()))).collect()
}

/// The device over all samples: clocks, throttling and other processes. Empty without such facts.
pub fn device_state(report: &Report) -> Vec<String> {
    let timed: Vec<&Execute> = report.rows.iter().filter_map(|row| row.execute.as_ref()).collect();
    let states: Vec<&Conditions> =
        timed.iter().flat_map(|execute| execute.conditions.iter().flatten()).collect();
    let mut lines = vec![];
    let clock = range(timed.iter().flat_map(|execute| execute.sm_mhz.iter().copied()));
    let of = |figure: fn(&Conditions) -> Option<f64>| range(states.iter().copied().filter_map(figure));
    let ranges = [
        ("Clock of the multiprocessors around samples", "MHz", clock),
        ("Clock of the device's memory", "MHz", of(|state| state.memory_mhz)),
        ("Power of the device", "W", of(|state| state.power_w)),
        ("Temperature of the device", "°C", of(|state| state.temperature_c)),
        ("Temperature of its memory", "°C", of(|state| state.memory_temperature_c)),
    ];
    for (name, unit, found) in ranges {
        lines.extend(found.map(|found| format!("{name}: {found} {unit}")));
    }
    if timed.iter().any(|execute| !execute.sm_mhz.is_empty()) {
        let count =
            |what: fn(&Execute) -> u32| timed.iter().map(|execute| u64::from(what(execute))).sum::<u64>();
        let (discarded, kept) = (count(|execute| execute.discarded), count(|execute| execute.throttled));
        let all = timed.iter().filter(|execute| !execute.sm_mhz.is_empty());
        let all = all.map(|execute| execute.samples_s.len()).sum::<usize>() as u64 + discarded;
        lines.push(format!("Throttled samples: {discarded} discarded, {kept} kept, of {all}"));
    }
    let texts = [
        ("Reasons for throttling", distinct(states.iter().flat_map(|state| &state.throttle))),
        ("Other processes on the device", distinct(states.iter().flat_map(|state| &state.others))),
    ];
    lines.extend(texts.into_iter().filter_map(|(name, found)| Some(format!("{name}: {}", found?))));
    lines
}

/// `1755–1980`, or `1980` where all are equal.
fn range(figures: impl Iterator<Item = f64>) -> Option<String> {
    let (low, high) = figures.fold(None, |ends: Option<(f64, f64)>, figure| {
        let (low, high) = ends.unwrap_or((figure, figure));
        Some((low.min(figure), high.max(figure)))
    })?;
    let (low, high) = (format!("{low:.0}"), format!("{high:.0}"));
    Some(if low == high { low } else { format!("{low}–{high}") })
}

fn distinct<'a>(texts: impl Iterator<Item = &'a String>) -> Option<String> {
    let texts: std::collections::BTreeSet<&str> = texts.map(String::as_str).collect();
    let joined = texts.into_iter().collect::<Vec<_>>().join(", ");
    (!joined.is_empty()).then_some(joined)
}

/// The timer overhead of the backends; `None` for reports without it.
pub fn timer_overhead(backends: &[BackendState]) -> Option<Table> {
    let headings = [
        "backend",
        "clock",
        "empty kernel",
        "launch and synchronise",
        "events add",
        "arithmetic, fastest thread",
        "slowest thread",
    ];
    let row = |backend: &BackendState| -> Option<Vec<Field>> {
        let overhead = backend.timer_overhead.as_ref()?;
        let seconds = [
            Some(overhead.clock_s),
            overhead.empty_kernel_s,
            overhead.launch_sync_s,
            overhead.event_constant_s,
            overhead.thread_speeds.map(|speeds| speeds.fastest_s),
            overhead.thread_speeds.map(|speeds| speeds.slowest_s),
        ];
        let texts = seconds.map(|seconds| seconds.map_or("-".into(), time_text).into());
        Some([Field::from(backend.name.as_str())].into_iter().chain(texts).collect())
    };
    table("Timer overhead", &headings, backends.iter().filter_map(row).collect())
}

/// The times of kernels of known duration by each clock.
pub fn clock_checks(backends: &[BackendState]) -> Option<Table> {
    let rows = backends.iter().flat_map(|backend| {
        let checks = backend.timer_overhead.iter().flat_map(|overhead| &overhead.checks);
        checks.map(|check| -> Vec<Field> {
            let times = [check.spun_s, check.events_s, check.device_s];
            let times = times.map(|seconds| time_within(seconds, Some(0.0)).into());
            [Field::from(backend.name.as_str())].into_iter().chain(times).collect()
        })
    });
    table(
        "Clock checks: kernels that spin for a known time",
        &["backend", "spun", "events", "reported"],
        rows.collect(),
    )
}

/// A table whose first column holds names; `None` without rows.
fn table(title: &str, headings: &[&'static str], rows: Vec<Vec<Field>>) -> Option<Table> {
    let columns = headings.iter().enumerate();
    let columns = columns.map(|(index, &heading)| Column::new(heading, index > 0)).collect();
    (!rows.is_empty()).then(|| Table::new(title, columns, rows))
}

/// The version of the program, with its revision, and its profile where that is no release.
pub fn version(environment: &Environment) -> String {
    let revision = environment.gpubench_revision.as_ref().map(|revision| format!(" ({revision})"));
    let profile = environment.build_profile.as_deref().filter(|profile| *profile != "release");
    let profile = profile.map(|profile| format!(", {profile} build")).unwrap_or_default();
    format!("{}{}{profile}", environment.gpubench_version, revision.unwrap_or_default())
}

/// The facts in a backend's description, named in words, without versions and empty lists.
pub fn described(backend: &BackendState) -> impl Iterator<Item = (String, &serde_json::Value)> {
    let description = backend.description.as_object().into_iter().flatten();
    let says_something = |value: &serde_json::Value| {
        !value.is_null() && !value.is_object() && value.as_array().is_none_or(|list| !list.is_empty())
    };
    let known = description.filter(move |(_, value)| says_something(value));
    known.map(|(key, value)| (key.replace('_', " "), value))
}
