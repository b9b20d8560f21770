//! Compares the environments of two sides: machines, libraries and settings.
//!
//! [`FACTS`] lists the facts that are compared; `docs/compare-policy.md` shows the same table.

mod difference;
mod facts;
mod read;
mod value;

use std::collections::{BTreeMap, BTreeSet};

use gpubench_model::report::Report;
use gpubench_text::grouped::grouped;

use super::runs::Runs;
use crate::Sentence;
pub use difference::{Difference, Severity};
pub use facts::{Concerns, FACTS, Fact};
use read::Source;
use value::{Reading, joined, same};

/// Shown for a fact that no run of a side records, such as one that older layouts lack.
const NOT_RECORDED: &str = "not recorded";

/// The readings of a fact in a run.
struct RunReadings<'a> {
    report: &'a Report,
    readings: Vec<Reading>,
}

/// Returns the differences between the environments of all runs, including those between runs of one side, most severe
/// first.
///
/// A fact counts only if both sides measured times that it affects. A fact that one side does not record is no
/// difference, except that a blocking one gives a warning, and that a disturbance of the other side counts.
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

/// Returns the backends whose times a difference affects.
pub(crate) fn affected<'a>(difference: &Difference, old: &'a Runs, new: &'a Runs) -> BTreeSet<&'a str> {
    let fact = FACTS.iter().find(|fact| fact.name == difference.fact);
    fact.and_then(|fact| fact.concerns.backends(old, new)).unwrap_or_default()
}

fn readings<'a>(fact: &Fact, side: &'a Runs, backends: &BTreeSet<&str>) -> Vec<RunReadings<'a>> {
    let of_run = |report: &'a Report| {
        let readings = fact.readings(&Source::of(report, backends));
        RunReadings { report, readings }
    };
    side.runs.iter().map(|run| of_run(&run.report)).collect()
}

/// Returns the differences of one fact; items that differ in the same way share one entry.
fn compare(fact: &Fact, severity: Severity, old: &[RunReadings], new: &[RunReadings]) -> Vec<Difference> {
    let all = old.iter().chain(new).flat_map(|run| &run.readings);
    let items: BTreeSet<&str> = all.map(|reading| reading.item.as_str()).collect();
    let differing = items.into_iter().filter_map(|item| {
        let values = [old, new].map(|runs| of_item(fact, runs, item));
        let (severity, old_text, new_text) = difference(fact, severity, &values[0], &values[1])?;
        let sides = [("OLD", old), ("NEW", new)].into_iter();
        let disturbed = sides.filter(|(_, runs)| is_disturbed(fact, runs, item));
        let disturbed: Vec<String> = disturbed.map(|(side, _)| side.to_owned()).collect();
        Some(((severity, old_text, new_text, disturbed), item))
    });
    // A fact of one value has one item, without a name.
    let shown = |items: &[&str], text: String| Sentence::new(items.join(", "), ": ", text);
    let entry =
        |((severity, old, new, disturbed), items): ((Severity, String, String, Vec<String>), Vec<&str>)| {
            let (old, new) = (shown(&items, old), shown(&items, new));
            Difference { fact: fact.name.to_owned(), severity, old, new, disturbed }
        };
    grouped(differing).into_iter().map(entry).collect()
}

/// Returns whether a run of a side was disturbed, for facts that show that: by the presence of an item, such as a
/// program, or by a figure beyond the limit.
fn is_disturbed(fact: &Fact, runs: &[RunReadings], item: &str) -> bool {
    let mut readings = runs.iter().flat_map(|run| &run.readings).filter(|reading| reading.item == item);
    let shows = |reading: &Reading| fact.absent.is_some() || fact.tolerance.is_exceeded(reading);
    fact.severity == Severity::Inconclusive && readings.any(shows)
}

/// Returns the readings of an item in the runs of a side. A run without one counts if its absence has a meaning.
fn of_item(fact: &Fact, runs: &[RunReadings], item: &str) -> Vec<Reading> {
    let of_run = |run: &RunReadings| {
        let recorded = run.readings.iter().find(|reading| reading.item == item).cloned();
        recorded.or_else(|| Some(Reading::text(item, fact.absent?(run.report, item)?)))
    };
    runs.iter().filter_map(of_run).collect()
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
    let all: Vec<&Reading> = old.iter().chain(new).collect();
    let is_one_sided = old.is_empty() || new.is_empty();
    let severity = match severity {
        Severity::Block if is_one_sided => Severity::Warn,
        _ if is_one_sided && !all.iter().any(|reading| fact.tolerance.is_exceeded(reading)) => return None,
        severity => severity,
    };
    let agree = !is_one_sided && same(&all, fact.tolerance);
    (!agree).then(|| (severity, words(old), words(new)))
}

#[cfg(test)]
mod tests;
