//! Reads facts about the program and the run: builds, environment variables, settings.

use std::collections::{BTreeMap, BTreeSet};

use gpubench_model::report::variables::{distortion, is_location, is_recorded_by};
use gpubench_model::report::{Execute, Report};
use gpubench_model::{Conditions, TransferMemory};
use gpubench_text::percent;
use serde_json::Value;

use super::{Source, one, words};
use crate::environment::value::Reading;

pub(crate) fn variables(source: &Source) -> Vec<Reading> {
    set(source, |name| !is_location(name))
}

pub(crate) fn path_variables(source: &Source) -> Vec<Reading> {
    set(source, is_location)
}

/// Returns the chosen variables; a mode that distorts times is named after the value.
fn set(source: &Source, which: impl Fn(&str) -> bool) -> Vec<Reading> {
    let variables = source.report.environment.variables.iter().filter(|(name, _)| which(name));
    let reading = |(name, value): (&String, &String)| match distortion(name, value) {
        Some(effect) => Reading::text(name, &format!("{value} ({effect})")),
        None => Reading::text(name, value),
    };
    variables.map(reading).collect()
}

/// Returns the meaning of the absence of a variable; earlier reports do not have all that were set.
pub(crate) fn unset(report: &Report, name: &str) -> Option<&'static str> {
    is_recorded_by(report.environment.variables_rule, name).then_some("unset")
}

fn share(share: f64) -> Reading {
    let text = if share == 0.0 { "0 %".to_owned() } else { percent::in_words(share) };
    Reading::figure("", share, &text)
}

/// Returns the share of the CPUs' time that other programs used when the run started.
pub(crate) fn other_programs(source: &Source) -> Vec<Reading> {
    source.report.environment.other_programs.map(share).into_iter().collect()
}

/// Returns the share of the quota's periods with a pause; 0 without a quota.
pub(crate) fn quota_pauses(source: &Source) -> Vec<Reading> {
    let environment = &source.report.environment;
    let pauses = environment.quota_pauses.map(|pauses| share(pauses.share()));
    pauses.or_else(|| environment.host.cpu_quota.is_none().then(|| share(0.0))).into_iter().collect()
}

/// Returns the other programs on the GPU, each an item; their process numbers say nothing.
pub(crate) fn gpu_programs(source: &Source) -> Vec<Reading> {
    let others = conditions(source).flat_map(|state| &state.others);
    let names: BTreeSet<&str> =
        others.map(|other| other.split_once(" (").map_or(other.as_str(), |(name, _)| name)).collect();
    names.into_iter().map(|name| Reading::text(name, "running")).collect()
}

/// Returns the meaning of the absence of a program on the GPU, in a report with the states of the GPU.
pub(crate) fn no_gpu_program(report: &Report, _: &str) -> Option<&'static str> {
    let executes = report.rows.iter().filter_map(|row| row.execute.as_ref());
    executes.flat_map(|execute| execute.conditions.iter().flatten()).next().map(|_| "not running")
}

/// Returns the share of the samples that were taken at a throttled clock, discarded ones included.
pub(crate) fn throttling(source: &Source) -> Vec<Reading> {
    let (mut throttled, mut all) = (0.0, 0.0);
    for execute in executes(source).filter(|execute| !execute.sm_mhz.is_empty()) {
        throttled += f64::from(execute.throttled) + f64::from(execute.discarded);
        all += execute.samples_s.len() as f64 + f64::from(execute.discarded);
    }
    (all > 0.0).then(|| share(throttled / all)).into_iter().collect()
}

fn conditions<'a>(source: &Source<'a>) -> impl Iterator<Item = &'a Conditions> {
    executes(source).flat_map(|execute| execute.conditions.iter().flatten())
}

/// Returns the timed phases of the rows of the source's backends.
fn executes<'a>(source: &Source<'a>) -> impl Iterator<Item = &'a Execute> {
    let backends: BTreeSet<&str> = source.backends.iter().map(|backend| backend.name.as_str()).collect();
    let rows = source.report.rows.iter().filter(move |row| backends.contains(row.backend.as_str()));
    rows.filter_map(|row| row.execute.as_ref())
}

fn settings<'a>(source: &Source<'a>) -> &'a Value {
    &source.report.environment.settings
}

/// Reads a sampling setting for each op; shows null as `unset`.
pub(crate) fn sampling(
    source: &Source,
    key: &str,
    unset: &str,
    show: impl Fn(f64) -> String,
) -> Vec<Reading> {
    let mut by_op = BTreeMap::<&str, BTreeSet<String>>::new();
    for sweep in settings(source)["sweeps"].as_array().into_iter().flatten() {
        let (Some(op), Some(value)) = (sweep["op"].as_str(), sweep["sampling"].get(key)) else { continue };
        by_op.entry(op).or_default().insert(value.as_f64().map_or(unset.to_owned(), &show));
    }
    let reading = |(op, values): (&str, BTreeSet<String>)| {
        Reading::text(op, &values.into_iter().collect::<Vec<_>>().join(" and "))
    };
    by_op.into_iter().map(reading).collect()
}

pub(crate) fn precision(source: &Source) -> Vec<Reading> {
    // Six decimals distinguish all values that people write.
    sampling(source, "precision", "by default", |share| format!("{} %", percent::rounded(share, 6)))
}

/// Reads the time budget of the whole run.
pub(crate) fn budget(source: &Source) -> Vec<Reading> {
    let budget =
        settings(source).get("budget_s").map(|budget| budget.as_f64().map(|seconds| format!("{seconds} s")));
    one(budget.map(|seconds| seconds.unwrap_or("none".into())).as_deref())
}

/// Reads the host memory of the main copies: a run of both kinds has the same figures as one of pageable memory.
pub(crate) fn transfer(source: &Source) -> Vec<Reading> {
    let chosen = words(&settings(source)["options"]["transfer"]);
    let of_word = |word: &str| TransferMemory::ALL.into_iter().find(|memory| memory.name() == word);
    let main = chosen.as_deref().map(|word| of_word(word).map_or(word, |memory| memory.main().name()));
    one(main)
}

pub(crate) fn isolation(source: &Source) -> Vec<Reading> {
    let isolate = settings(source)["isolate"].as_bool();
    one(isolate.map(|isolate| if isolate { "worker processes" } else { "one process" }))
}

pub(crate) fn sim_script(source: &Source) -> Vec<Reading> {
    let simulated = source.report.environment.backends.iter().filter(|backend| backend.name == "sim");
    let seed =
        simulated.filter_map(|backend| Some(Reading::text("seed", &words(&backend.description["seed"])?)));
    let file = words(&settings(source)["options"]["sim"]).map(|file| Reading::text("file", &file));
    file.into_iter().chain(seed).collect()
}
