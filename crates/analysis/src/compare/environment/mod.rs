//! Compares the environments of two sides: machines, libraries and settings.
//!
//! [`FACTS`] lists the facts that are compared; `docs/compare-policy.md` shows the same table.

mod facts;
mod readers;

use std::collections::{BTreeMap, BTreeSet};

use gpubench_report::report::Report;
use gpubench_text::cut::shortened;
use gpubench_text::grouped::grouped;
use serde::{Deserialize, Serialize};

use crate::compare::Runs;
pub use facts::{Concerns, EnvironmentFact, FACTS};
use readers::{FactSource, FactValue};

/// Shown for a fact that no run of a side records, such as one that older layouts lack.
const NOT_RECORDED: &str = "not recorded";

const SHOWN: usize = 200;

/// Severity of a difference; the most severe compares as the smallest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Severity {
    /// Times are not comparable.
    Block,
    /// Times are shown, but leave open whether anything changed: something disturbed a run.
    Inconclusive,
    /// Times may differ for this reason.
    Warn,
    /// The difference is counted but not shown.
    Ignore,
}

impl Severity {
    /// Every severity, most severe first.
    pub const ALL: [Severity; 4] =
        [Severity::Block, Severity::Inconclusive, Severity::Warn, Severity::Ignore];

    /// The word used in policy files, tables and JSON.
    pub fn name(self) -> &'static str {
        match self {
            Severity::Block => "block",
            Severity::Inconclusive => "inconclusive",
            Severity::Warn => "warn",
            Severity::Ignore => "ignore",
        }
    }
}

/// A fact about the machine, libraries or settings that differs between both sides.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Difference {
    /// The fact, as a policy names it: `gpu-model`.
    pub fact: String,
    /// Severity of the difference, from the policy or the default.
    pub severity: Severity,
    /// The value in OLD, or several if its runs differ; the names of items, such as libraries, precede it with a colon.
    pub old: String,
    /// The value in NEW.
    pub new: String,
    /// The sides whose runs were disturbed, `OLD` or `NEW`, which must be measured again; empty if the fact shows none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub disturbed: Vec<String>,
}

impl Difference {
    /// Returns the next step for times that it leaves open.
    pub(crate) fn measure_again(&self) -> String {
        let fact = &self.fact;
        let step = match self.disturbed.as_slice() {
            [] => "measure OLD and NEW again under the same conditions".to_owned(),
            sides => format!("close other programs and measure {} again", sides.join(" and ")),
        };
        format!("{step}, or set {fact} = \"warn\" in a policy file")
    }
}

struct RunFact<'a> {
    report: &'a Report,
    values: Vec<FactValue>,
}

/// Returns the differences between the environments of all runs, most severe first.
///
/// A fact counts if both sides measured times that it affects. A side that does not record it makes no difference, except
/// a warning for a blocking fact, and a disturbance of the other side. `severities` overrides the defaults by name.
pub fn differences(old: &Runs, new: &Runs, severities: &BTreeMap<String, Severity>) -> Vec<Difference> {
    let backends = Concerns::ALL.map(|concerns| concerns.backends(old, new));
    let mut found: Vec<Difference> = vec![];
    for fact in FACTS {
        let Some(backends) = &backends[fact.concerns as usize] else { continue };
        let severity = severities.get(fact.name).copied().unwrap_or(fact.severity);
        let [old, new] = [old, new].map(|side| -> Vec<RunFact> {
            let reports = side.runs.iter().map(|run| &run.report);
            let of_run = |report| RunFact { report, values: fact.values(&FactSource::of(report, backends)) };
            reports.map(of_run).collect()
        });
        found.extend(compare(fact, severity, &old, &new));
    }
    found.sort_by_key(|difference| difference.severity);
    found
}

pub(crate) fn affected<'a>(difference: &Difference, old: &'a Runs, new: &'a Runs) -> BTreeSet<&'a str> {
    let fact = FACTS.iter().find(|fact| fact.name == difference.fact);
    fact.and_then(|fact| fact.concerns.backends(old, new)).unwrap_or_default()
}

/// Returns the differences of one fact; items that differ in the same way share one entry.
fn compare(fact: &EnvironmentFact, severity: Severity, old: &[RunFact], new: &[RunFact]) -> Vec<Difference> {
    let all = old.iter().chain(new).flat_map(|run| &run.values);
    let items: BTreeSet<&str> = all.map(|value| value.item.as_str()).collect();
    let differing = items.into_iter().filter_map(|item| {
        let [old, new] = [old, new].map(|runs| of_item(fact, runs, item));
        Some((difference(fact, severity, &old, &new)?, item))
    });
    let entry = |(mut difference, items): (Difference, Vec<&str>)| {
        // A fact of one value has one item, without a name.
        let items = items.join(", ");
        for text in [&mut difference.old, &mut difference.new].into_iter().filter(|_| !items.is_empty()) {
            *text = format!("{items}: {text}");
        }
        difference
    };
    grouped(differing).into_iter().map(entry).collect()
}

/// Returns the values of an item in the runs of a side. A run without one counts if its absence has a meaning.
fn of_item(fact: &EnvironmentFact, runs: &[RunFact], item: &str) -> Vec<FactValue> {
    let of_run = |run: &RunFact| {
        let recorded = run.values.iter().find(|value| value.item == item).cloned();
        let absent = || Some(FactValue::text(item, fact.absent?(run.report, item)?));
        recorded.or_else(|| Some(FactValue { is_recorded: false, ..absent()? }))
    };
    runs.iter().filter_map(of_run).collect()
}

/// Returns the difference between the values of an item; `None` if they agree.
fn difference(
    fact: &EnvironmentFact,
    severity: Severity,
    old: &[FactValue],
    new: &[FactValue],
) -> Option<Difference> {
    let all: Vec<&FactValue> = old.iter().chain(new).collect();
    let is_one_sided = old.is_empty() || new.is_empty();
    let severity = match severity {
        Severity::Block if is_one_sided => Severity::Warn,
        _ if is_one_sided && !all.iter().any(|value| fact.tolerance.is_exceeded(value)) => return None,
        severity => severity,
    };
    if !is_one_sided && same(&all, fact.tolerance) {
        return None;
    }
    // A side shows a disturbance by an item such as a program, or by a figure beyond the limit.
    let shows = |value: &FactValue| match fact.absent {
        Some(_) => value.is_recorded,
        None => fact.tolerance.is_exceeded(value),
    };
    let is_disturbed =
        |values: &[FactValue]| fact.severity == Severity::Inconclusive && values.iter().any(shows);
    let sides = [("OLD", old), ("NEW", new)].into_iter().filter(|(_, values)| is_disturbed(values));
    Some(Difference {
        fact: fact.name.to_owned(),
        severity,
        old: joined(old, fact.tolerance),
        new: joined(new, fact.tolerance),
        disturbed: sides.map(|(side, _)| side.to_owned()).collect(),
    })
}

/// Largest difference between numbers that count as equal.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Tolerance {
    None,
    /// Absolute difference, in the unit of the number.
    Absolute(f64),
    /// Difference relative to the larger number.
    Relative(f64),
    /// Numbers up to this one are equal. A larger one is a disturbance and equals none, on whichever side it is.
    UpTo(f64),
}

impl Tolerance {
    fn covers(self, a: &FactValue, b: &FactValue) -> bool {
        let (Some(x), Some(y)) = (a.figure, b.figure) else { return a.text == b.text };
        match self {
            Tolerance::None => x == y,
            Tolerance::Absolute(most) => (x - y).abs() <= most,
            Tolerance::Relative(most) => (x - y).abs() <= most * x.abs().max(y.abs()),
            Tolerance::UpTo(most) => x.max(y) <= most,
        }
    }

    fn is_exceeded(self, value: &FactValue) -> bool {
        matches!((self, value.figure), (Tolerance::UpTo(most), Some(figure)) if figure > most)
    }
}

fn same(values: &[&FactValue], tolerance: Tolerance) -> bool {
    values.iter().enumerate().all(|(i, a)| values[..i].iter().all(|b| tolerance.covers(a, b)))
}

/// Returns the distinct values in words, in the order of the runs.
fn joined(values: &[FactValue], tolerance: Tolerance) -> String {
    if values.is_empty() {
        return NOT_RECORDED.to_owned();
    }
    let mut distinct: Vec<&FactValue> = vec![];
    for value in values {
        if !distinct.iter().any(|known| known.text == value.text || tolerance.covers(known, value)) {
            distinct.push(value);
        }
    }
    distinct.iter().map(|value| shortened(&value.text, SHOWN)).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests;
