//! Compares the environments of two sides: machines, libraries and settings.
//!
//! [`FACTS`] lists the facts that are compared; `docs/compare-policy.md` shows the same table.

mod difference;
mod facts;
mod read;
mod value;

use std::collections::{BTreeMap, BTreeSet};

use gpubench_text::grouped::grouped;

use super::runs::Runs;
use crate::Sentence;
pub use difference::{Difference, Severity};
pub use facts::{Concerns, FACTS, Fact};
use read::Source;
use value::{Reading, joined, same};

/// Shown for a fact that no run of a side records, such as one that older layouts lack.
const NOT_RECORDED: &str = "not recorded";

/// Returns the differences between the environments of all runs, including those between runs of one side, most severe
/// first.
///
/// A fact counts only if both sides measured times that it affects. A fact that one side does not record is no
/// difference, except that a blocking one gives a warning.
///
/// `severities` overrides the default severity of facts, by name.
pub fn differences(old: &Runs, new: &Runs, severities: &BTreeMap<String, Severity>) -> Vec<Difference> {
    let backends = Concerns::ALL.map(|concerns| concerns.backends(old, new));
    let of_fact = |fact: &'static Fact| {
        let severity = severities.get(fact.name).copied().unwrap_or(fact.severity);
        let found = backends[fact.concerns as usize].as_ref().map(|backends| {
            let [old, new] = [old, new].map(|side| readings(fact, side, backends));
            compare(fact, severity, &old, &new)
        });
        found.unwrap_or_default()
    };
    let mut found: Vec<Difference> = FACTS.iter().flat_map(of_fact).collect();
    found.sort_by_key(|difference| difference.severity);
    found
}

fn readings(fact: &Fact, side: &Runs, backends: &BTreeSet<&str>) -> Vec<Vec<Reading>> {
    side.runs.iter().map(|run| fact.readings(&Source::of(&run.report, backends))).collect()
}

/// Returns the differences of one fact; items that differ in the same way share one entry.
fn compare(fact: &Fact, severity: Severity, old: &[Vec<Reading>], new: &[Vec<Reading>]) -> Vec<Difference> {
    let items: BTreeSet<&str> =
        old.iter().chain(new).flatten().map(|reading| reading.item.as_str()).collect();
    let differing = items.into_iter().filter_map(|item| {
        let [old, new] = [old, new].map(|runs| of_item(fact, runs, item));
        Some((difference(fact, severity, &old, &new)?, item))
    });
    // A fact of one value has one item, without a name.
    let shown = |items: &[&str], text: String| Sentence::new(items.join(", "), ": ", text);
    let entry = |((severity, old, new), items): ((Severity, String, String), Vec<&str>)| Difference {
        fact: fact.name.to_owned(),
        severity,
        old: shown(&items, old),
        new: shown(&items, new),
    };
    grouped(differing).into_iter().map(entry).collect()
}

/// Returns the readings of an item in the runs of a side. A run without one counts if its absence has a meaning.
fn of_item(fact: &Fact, runs: &[Vec<Reading>], item: &str) -> Vec<Reading> {
    let recorded = |run: &Vec<Reading>| run.iter().find(|reading| reading.item == item).cloned();
    runs.iter().filter_map(|run| recorded(run).or_else(|| Some(Reading::text(item, fact.absent?)))).collect()
}

/// Returns the severity and both values in words; `None` if the readings agree.
fn difference(
    fact: &Fact,
    severity: Severity,
    old: &[Reading],
    new: &[Reading],
) -> Option<(Severity, String, String)> {
    let words = |readings: &[Reading]| match readings {
        [] => NOT_RECORDED.to_owned(),
        readings => joined(readings, fact.tolerance),
    };
    let severity = match old.is_empty() || new.is_empty() {
        true if severity == Severity::Block => Severity::Warn,
        true => return None,
        false => severity,
    };
    let all: Vec<&Reading> = old.iter().chain(new).collect();
    let agree = !old.is_empty() && !new.is_empty() && same(&all, fact.tolerance);
    (!agree).then(|| (severity, words(old), words(new)))
}

#[cfg(test)]
mod tests;
