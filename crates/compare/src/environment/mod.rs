//! Where the environments of two sides differ, and how much that matters.
//!
//! [`FACTS`] is the table of what is looked at; `docs/compare-policy.md` shows it. Knows no cell's times.

mod facts;
mod read;
mod value;

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::policy::Policy;
use super::runs::Runs;
pub use facts::{Concerns, FACTS, Fact};
use read::Seen;
use value::{Reading, joined, same};

/// How much a difference matters; the gravest is smallest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Severity {
    /// Times are not comparable.
    Block,
    /// Times may differ for this reason.
    Warn,
    /// Of no concern.
    Ignore,
}

impl Severity {
    /// Every severity, gravest first.
    pub const ALL: [Severity; 3] = [Severity::Block, Severity::Warn, Severity::Ignore];

    /// The word used in policy files, tables and JSON.
    pub fn name(self) -> &'static str {
        match self {
            Severity::Block => "block",
            Severity::Warn => "warn",
            Severity::Ignore => "ignore",
        }
    }
}

/// A fact about machine, libraries or settings that is not the same on both sides.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Difference {
    /// The fact, as a policy names it: `gpu-model`.
    pub fact: String,
    /// How much it matters.
    pub severity: Severity,
    /// What OLD has, in words; several values where its runs differ.
    pub old: String,
    /// What NEW has.
    pub new: String,
}

/// What stands for a fact that none of a side's runs tells, such as one that older layouts lack.
const NOT_RECORDED: &str = "not recorded";

/// Every difference between the environments of the runs, those among the runs of one side included, the gravest
/// first; differences of no concern come last.
///
/// A fact matters only where times that it bears on were measured on both sides. What one side does not tell is no
/// difference, unless it were one that blocks: that one warns, since nobody knows.
pub fn differences(old: &Runs, new: &Runs, policy: &Policy) -> Vec<Difference> {
    let of_fact = |fact: &'static Fact| {
        let severity = policy.severity(fact.name).unwrap_or(fact.severity);
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

/// What each run of a side tells of a fact.
fn readings(fact: &Fact, side: &Runs, backends: &BTreeSet<&str>) -> Vec<Vec<Reading>> {
    side.runs.iter().map(|run| fact.readings(&Seen::of(&run.report, backends))).collect()
}

/// The differences of one fact; of its items, those that differ in the same way stand in one.
fn compare(fact: &Fact, severity: Severity, old: &[Vec<Reading>], new: &[Vec<Reading>]) -> Vec<Difference> {
    let items: BTreeSet<&str> =
        old.iter().chain(new).flatten().map(|reading| reading.item.as_str()).collect();
    let mut groups: Vec<(Severity, String, String, Vec<&str>)> = vec![];
    for item in items {
        let [old, new] = [old, new].map(|runs| of_item(fact, runs, item));
        let Some((severity, old, new)) = difference(fact, severity, &old, &new) else { continue };
        match groups.iter_mut().find(|group| (group.0, &group.1, &group.2) == (severity, &old, &new)) {
            Some(group) => group.3.push(item),
            None => groups.push((severity, old, new, vec![item])),
        }
    }
    let shown = |items: &[&str], text: String| match items {
        [""] => text,
        items => format!("{}: {text}", items.join(", ")),
    };
    let entry = |(severity, old, new, items): (Severity, String, String, Vec<&str>)| Difference {
        fact: fact.name.to_owned(),
        severity,
        old: shown(&items, old),
        new: shown(&items, new),
    };
    groups.into_iter().map(entry).collect()
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
