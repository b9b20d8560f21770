//! Where the environments of two sides differ, and how much that matters.
//!
//! [`FACTS`] is the table of what is looked at; `docs/compare-policy.md` shows it. Knows no cell's times.

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
use read::Seen;
use value::{Reading, joined, same};

/// What stands for a fact that none of a side's runs tells, such as one that older layouts lack.
const NOT_RECORDED: &str = "not recorded";

/// Every difference between the environments of the runs, those among the runs of one side included, the gravest
/// first; differences of no concern come last.
///
/// A fact matters only where times that it bears on were measured on both sides. What one side does not tell is no
/// difference, unless it were one that blocks: that one warns, since nobody knows.
///
/// `severities` says how much each fact matters, by its name, where not as much as by default.
pub fn differences(old: &Runs, new: &Runs, severities: &BTreeMap<String, Severity>) -> Vec<Difference> {
    let of_fact = |fact: &'static Fact| {
        let severity = severities.get(fact.name).copied().unwrap_or(fact.severity);
        let backends = fact.concerns.backends(old, new);
        let found = backends.map(|backends| {
            let [old, new] = [old, new].map(|side| readings(fact, side, &backends));
            compare(fact, severity, &old, &new)
        });
        found.unwrap_or_default()
    };
    let mut found: Vec<Difference> = FACTS.iter().flat_map(of_fact).collect();
    found.sort_by_key(|difference| difference.severity);
    found
}

fn readings(fact: &Fact, side: &Runs, backends: &BTreeSet<&str>) -> Vec<Vec<Reading>> {
    side.runs.iter().map(|run| fact.readings(&Seen::of(&run.report, backends))).collect()
}

/// The differences of one fact; of its items, those that differ in the same way stand in one.
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

/// What the runs of a side tell of an item; a run that does not tell it counts where that means something.
fn of_item(fact: &Fact, runs: &[Vec<Reading>], item: &str) -> Vec<Reading> {
    let told = |run: &Vec<Reading>| run.iter().find(|reading| reading.item == item).cloned();
    runs.iter().filter_map(|run| told(run).or_else(|| Some(Reading::text(item, fact.absent?)))).collect()
}

/// How much the readings of both sides differ, and both in words; `None` where they agree.
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
