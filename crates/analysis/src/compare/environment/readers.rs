//! Reads the values of facts from a report. A fact that is missing or has another form gives no value.

use std::collections::{BTreeMap, BTreeSet};

use gpubench_report::TransferMemory;
use gpubench_report::report::machine::{
    CPU_IDENTITY, CPU_MODEL, CPU_QUOTA, Fact, MEMORY_CLOCK, SM_CLOCK_DEFAULT, SM_CLOCK_MAX, Value, versions,
};
use gpubench_report::report::variables::{distortion, is_recorded_by};
use gpubench_report::report::{BackendState, Execute, Host, Report};
use gpubench_text::control::collapsed;
use gpubench_text::percent;
use serde_json::Value as Json;

#[derive(Clone, Debug, PartialEq)]
pub(super) struct FactValue {
    /// The item, such as a library or an op; empty for a fact of one value.
    pub(super) item: String,
    pub text: String,
    pub figure: Option<f64>,
    /// False for the meaning of an absence.
    pub(super) is_recorded: bool,
}

impl FactValue {
    /// Creates a text value, collapsed to one line.
    pub(super) fn text(item: &str, text: &str) -> FactValue {
        FactValue { item: collapsed(item), text: collapsed(text), figure: None, is_recorded: true }
    }

    fn of(item: &str, value: &Value) -> FactValue {
        FactValue { figure: value.figure(), ..FactValue::text(item, &value.to_string()) }
    }
}

/// A report and the backends that the fact is about.
pub(super) struct FactSource<'a> {
    pub(super) report: &'a Report,
    backends: Vec<&'a BackendState>,
}

impl<'a> FactSource<'a> {
    pub(super) fn of(report: &'a Report, names: &BTreeSet<&str>) -> FactSource<'a> {
        let backends = &report.environment.backends;
        let backends = backends.iter().filter(|backend| names.contains(backend.name.as_str())).collect();
        FactSource { report, backends }
    }

    /// Reads a value of each backend; the backend is the item if there are several.
    fn of_backends(&self, read: impl Fn(&BackendState) -> Option<Value>) -> Vec<FactValue> {
        let value = |backend: &&BackendState| {
            let item = if self.backends.len() == 1 { "" } else { &backend.name };
            Some(FactValue::of(item, &read(backend)?))
        };
        self.backends.iter().filter_map(value).collect()
    }

    pub(super) fn described(&self, read: impl Fn(&Json) -> Option<Value>) -> Vec<FactValue> {
        self.of_backends(|backend| read(&backend.description))
    }

    /// Reads a list of numbers from the description of each backend. A key without a list, or with an empty one, is `none`.
    pub(super) fn listed(&self, key: &str, none: &str) -> Vec<FactValue> {
        self.described(|description| {
            let numbers = description.get(key)?.as_array().map_or(&[][..], Vec::as_slice);
            let numbers: Vec<String> = numbers.iter().map(ToString::to_string).collect();
            Some(Value::Text(if numbers.is_empty() { none.to_owned() } else { numbers.join(", ") }))
        })
    }

    fn executes(&self) -> impl Iterator<Item = &'a Execute> {
        let backends: BTreeSet<&str> = self.backends.iter().map(|backend| backend.name.as_str()).collect();
        let rows = self.report.rows.iter().filter(move |row| backends.contains(row.backend.as_str()));
        rows.filter_map(|row| row.execute.as_ref())
    }

    fn settings(&self) -> &'a Json {
        &self.report.environment.settings
    }
}

pub(super) fn one(text: Option<&str>) -> Vec<FactValue> {
    text.map(|text| FactValue::text("", text)).into_iter().collect()
}

pub(super) fn share(share: f64) -> FactValue {
    let text = if share == 0.0 { "0 %".to_owned() } else { percent::in_words(share) };
    FactValue { figure: Some(share), ..FactValue::text("", &text) }
}

/// Formats a JSON value, strings without quotes; `None` for null.
fn words(value: &Json) -> Option<String> {
    Value::said(value).map(|value| value.to_string())
}

pub(super) fn host(source: &FactSource, fact: &Fact<Host>) -> Vec<FactValue> {
    fact.of(&source.report.environment.host).iter().map(|value| FactValue::of("", value)).collect()
}

pub(super) fn gpu_clock_limits(source: &FactSource) -> Vec<FactValue> {
    let clocks = [("maximum", &SM_CLOCK_MAX), ("by default", &SM_CLOCK_DEFAULT), ("memory", &MEMORY_CLOCK)];
    let named = clocks.into_iter().flat_map(|(what, clock)| {
        let values = source.described(|description| clock.of(description)).into_iter();
        let item = move |item: &str| format!("{item} {what}").trim_start().to_owned();
        values.map(move |value| FactValue { item: item(&value.item), ..value })
    });
    named.collect()
}

/// Returns the versions of the libraries, and those of the packages of backends that are other programs.
pub(super) fn libraries(source: &FactSource) -> Vec<FactValue> {
    let libraries = source.backends.iter().flat_map(|backend| &backend.libraries);
    let libraries = libraries
        .filter_map(|library| Some(FactValue::text(&library.name, library.version_without_threads()?)));
    let packages = source.backends.iter().flat_map(|backend| {
        let item = |name: &str| match name == backend.name {
            true => name.to_owned(),
            false => format!("{}/{name}", backend.name),
        };
        versions(backend).into_iter().map(move |(name, version)| FactValue::text(&item(name), version))
    });
    libraries.chain(packages).collect()
}

pub(super) fn library_paths(source: &FactSource) -> Vec<FactValue> {
    let libraries = source.report.environment.backends.iter().flat_map(|backend| &backend.libraries);
    libraries.filter_map(|library| Some(FactValue::text(&library.name, library.path.as_deref()?))).collect()
}

/// Returns the CPU threads, and the libraries with another number, unless rows have their own numbers of threads.
pub(super) fn cpu_threads(source: &FactSource) -> Vec<FactValue> {
    source.of_backends(|backend| {
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
        Some(Value::Text(if others.is_empty() {
            threads.to_string()
        } else {
            format!("{threads} ({others})")
        }))
    })
}

pub(super) fn cpu_model(source: &FactSource) -> Vec<FactValue> {
    let identity = host(source, &CPU_IDENTITY).into_iter();
    let identity = identity.map(|value| FactValue { item: "generation".into(), ..value });
    host(source, &CPU_MODEL).into_iter().chain(identity).collect()
}

pub(super) fn thread_speeds(source: &FactSource) -> Vec<FactValue> {
    let speeds = source.report.environment.backends.iter();
    let mut speeds = speeds.filter_map(|backend| backend.timer_overhead.as_ref()?.thread_speeds);
    let ratio = speeds.next().map(|speeds| speeds.ratio()).filter(|ratio| ratio.is_finite());
    let value = |figure| FactValue::of("", &Value::Figure { figure, unit: "", decimals: Some(2) });
    ratio.map(value).into_iter().collect()
}

/// Returns the CPU quota of the control group, in CPUs. Since layout 2 its absence means that there is no limit.
pub(super) fn cpu_quota(source: &FactSource) -> Vec<FactValue> {
    match host(source, &CPU_QUOTA) {
        absent if absent.is_empty() => one((source.report.schema_version >= 2).then_some("no limit")),
        quota => quota,
    }
}

pub(super) fn quota_pauses(source: &FactSource) -> Vec<FactValue> {
    let environment = &source.report.environment;
    let pauses = environment.quota_pauses.map(|pauses| pauses.share());
    let pauses = pauses.or_else(|| environment.host.cpu_quota.is_none().then_some(0.0));
    pauses.map(share).into_iter().collect()
}

/// Returns the chosen environment variables; a mode that distorts times is named after the value.
pub(super) fn set(source: &FactSource, which: impl Fn(&str) -> bool) -> Vec<FactValue> {
    let variables = source.report.environment.variables.iter().filter(|(name, _)| which(name));
    let value = |(name, value): (&String, &String)| match distortion(name, value) {
        Some(effect) => FactValue::text(name, &format!("{value} ({effect})")),
        None => FactValue::text(name, value),
    };
    variables.map(value).collect()
}

/// Returns the meaning of the absence of a variable; earlier reports do not have all that were set.
pub(super) fn unset(report: &Report, name: &str) -> Option<&'static str> {
    is_recorded_by(report.environment.variables_rule, name).then_some("unset")
}

pub(super) fn gpu_programs(source: &FactSource) -> Vec<FactValue> {
    let states = source.executes().flat_map(|execute| execute.conditions.iter().flatten());
    let others = states.flat_map(|state| &state.others);
    let names: BTreeSet<&str> =
        others.map(|other| other.split_once(" (").map_or(other.as_str(), |(name, _)| name)).collect();
    names.into_iter().map(|name| FactValue::text(name, "running")).collect()
}

pub(super) fn no_gpu_program(report: &Report, _: &str) -> Option<&'static str> {
    let executes = report.rows.iter().filter_map(|row| row.execute.as_ref());
    executes.flat_map(|execute| execute.conditions.iter().flatten()).next().map(|_| "not running")
}

/// Returns the share of the samples that were taken at a throttled clock, discarded ones included.
pub(super) fn throttling(source: &FactSource) -> Vec<FactValue> {
    let (mut throttled, mut all) = (0.0, 0.0);
    for execute in source.executes().filter(|execute| !execute.sm_mhz.is_empty()) {
        throttled += f64::from(execute.throttled) + f64::from(execute.discarded);
        all += execute.samples_s.len() as f64 + f64::from(execute.discarded);
    }
    (all > 0.0).then(|| share(throttled / all)).into_iter().collect()
}

/// Reads a sampling setting for each op; shows null as `unset`.
pub(super) fn sampling(
    source: &FactSource,
    key: &str,
    unset: &str,
    show: impl Fn(f64) -> String,
) -> Vec<FactValue> {
    let mut by_op = BTreeMap::<&str, BTreeSet<String>>::new();
    for sweep in source.settings()["sweeps"].as_array().into_iter().flatten() {
        let (Some(op), Some(value)) = (sweep["op"].as_str(), sweep["sampling"].get(key)) else { continue };
        by_op.entry(op).or_default().insert(value.as_f64().map_or(unset.to_owned(), &show));
    }
    let joined = |values: BTreeSet<String>| values.into_iter().collect::<Vec<_>>().join(" and ");
    by_op.into_iter().map(|(op, values)| FactValue::text(op, &joined(values))).collect()
}

/// Reads the host memory of the main copies: a run of both kinds has the same figures as one of pageable memory.
pub(super) fn transfer(source: &FactSource) -> Vec<FactValue> {
    let chosen = words(&source.settings()["options"]["transfer"]);
    let of_word = |word: &str| TransferMemory::ALL.into_iter().find(|memory| memory.name() == word);
    one(chosen.as_deref().map(|word| of_word(word).map_or(word, |memory| memory.main().name())))
}

pub(super) fn isolation(source: &FactSource) -> Vec<FactValue> {
    let isolate = source.settings()["isolate"].as_bool();
    one(isolate.map(|isolate| if isolate { "worker processes" } else { "one process" }))
}

pub(super) fn sim_script(source: &FactSource) -> Vec<FactValue> {
    let simulated = source.report.environment.backends.iter().filter(|backend| backend.name == "sim");
    let seeds = simulated.map(|backend| ("seed", words(&backend.description["seed"])));
    let file = std::iter::once(("file", words(&source.settings()["options"]["sim"])));
    file.chain(seeds).filter_map(|(item, text)| Some(FactValue::text(item, &text?))).collect()
}
