//! Reads facts from a report. A fact that is missing or has another form gives no reading.

pub(crate) mod machine;
pub(crate) mod run;

use std::collections::BTreeSet;

use gpubench_model::report::machine::{Fact, Value};
use gpubench_model::report::{BackendState, Host, Report};
use serde_json::Value as Json;

use super::value::Reading;

/// A report and the backends that the fact is about.
pub(crate) struct Source<'a> {
    pub(crate) report: &'a Report,
    pub(crate) backends: Vec<&'a BackendState>,
}

impl<'a> Source<'a> {
    pub(crate) fn of(report: &'a Report, names: &BTreeSet<&str>) -> Source<'a> {
        let backends = &report.environment.backends;
        let backends = backends.iter().filter(|backend| names.contains(backend.name.as_str())).collect();
        Source { report, backends }
    }

    /// Returns the item name for a backend: empty if there is only one.
    fn item<'b>(&self, backend: &'b BackendState) -> &'b str {
        if self.backends.len() == 1 { "" } else { &backend.name }
    }
}

/// Returns a single text value.
pub(crate) fn one(text: Option<&str>) -> Vec<Reading> {
    text.map(|text| Reading::text("", text)).into_iter().collect()
}

/// Formats a JSON value, strings without quotes; `None` for null.
fn words(value: &Json) -> Option<String> {
    Value::said(value).map(|value| value.to_string())
}

fn reading(item: &str, value: &Value) -> Reading {
    let text = value.to_string();
    value.figure().map_or_else(|| Reading::text(item, &text), |figure| Reading::figure(item, figure, &text))
}

pub(crate) fn host(source: &Source, fact: &Fact<Host>) -> Vec<Reading> {
    fact.of(&source.report.environment.host).iter().map(|value| reading("", value)).collect()
}

/// Reads a fact from the description of each backend.
pub(crate) fn described(source: &Source, fact: &Fact<Json>) -> Vec<Reading> {
    let of_backend =
        |backend: &&BackendState| Some(reading(source.item(backend), &fact.of(&backend.description)?));
    source.backends.iter().filter_map(of_backend).collect()
}
