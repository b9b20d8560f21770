//! Reads facts about the program and the run: builds, environment variables, settings.

use std::collections::{BTreeMap, BTreeSet};

use gpubench_model::TransferMemory;
use gpubench_text::percent;
use serde_json::Value;

use super::{Source, one, words};
use crate::environment::value::Reading;

/// Environment variables that contain paths or device lists and do not change how libraries work.
const PATHS: [&str; 4] = ["CUDA_HOME", "CUDA_PATH", "CUDA_VISIBLE_DEVICES", "LD_LIBRARY_PATH"];

pub(crate) fn variables(source: &Source) -> Vec<Reading> {
    set(source, |name| !PATHS.contains(&name))
}

pub(crate) fn path_variables(source: &Source) -> Vec<Reading> {
    set(source, |name| PATHS.contains(&name))
}

fn set(source: &Source, which: impl Fn(&str) -> bool) -> Vec<Reading> {
    let variables = source.report.environment.variables.iter().filter(|(name, _)| which(name));
    variables.map(|(name, value)| Reading::text(name, value)).collect()
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
