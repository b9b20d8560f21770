//! Reads facts out of a report. What a report does not tell, or tells in another form, gives no reading.

pub(crate) mod machine;
pub(crate) mod run;

use std::collections::BTreeSet;

use gpubench_model::report::{BackendState, Report};
use serde_json::Value;

use super::value::Reading;

/// A report and those of its backends that the fact is about.
pub(crate) struct Seen<'a> {
    report: &'a Report,
    backends: Vec<&'a BackendState>,
}

impl<'a> Seen<'a> {
    /// The report with the backends of those names.
    pub(crate) fn of(report: &'a Report, names: &BTreeSet<&str>) -> Seen<'a> {
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
