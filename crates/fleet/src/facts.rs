//! Collects facts about the GPU or host of a report that may explain a difference, and compares them with those of others.

use std::collections::BTreeSet;

use gpubench_model::measure::stats::median;
use gpubench_model::report::quantity::gib;
use gpubench_model::report::{Execute, Report, machine};
use gpubench_model::{Conditions, Side};
use gpubench_text::grouped::grouped;
use serde_json::Value as Json;

use super::identity::gpu;

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Fact {
    pub name: &'static str,
    pub value: Value,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Value {
    Figure {
        figure: f64,
        unit: &'static str,
        /// Largest difference that still counts as equal.
        within: f64,
    },
    Text(String),
}

impl Fact {
    fn figure(name: &'static str, figure: f64, unit: &'static str, within: f64) -> Fact {
        Fact { name, value: Value::Figure { figure, unit, within } }
    }

    fn text(name: &'static str, text: impl Into<String>) -> Fact {
        Fact { name, value: Value::Text(text.into()) }
    }

    /// Creates a fact that is compared for equality.
    fn same<S>(fact: &machine::Fact<S>, source: &S) -> Option<Fact> {
        Some(Fact::text(fact.short, fact.of(source)?.to_string()))
    }

    /// Creates a numeric fact.
    fn near<S>(fact: &machine::Fact<S>, source: &S, unit: &'static str, within: f64) -> Option<Fact> {
        Some(Fact::figure(fact.short, fact.of(source)?.figure()?, unit, within))
    }
}

/// Returns the facts of `own` that differ from most of `others`: `power limit 550 W instead of 700 W`. Unknown facts are
/// no difference.
pub(crate) fn differing(own: &[Fact], others: &[&[Fact]]) -> Vec<String> {
    let differs = |fact: &Fact| {
        let known = others.iter().flat_map(|facts| facts.iter().filter(|other| other.name == fact.name));
        let known: Vec<&Value> = known.map(|other| &other.value).collect();
        let (own, usual) = match &fact.value {
            Value::Figure { figure, unit, within } => {
                let figures: Vec<f64> = known
                    .iter()
                    .filter_map(|value| match value {
                        Value::Figure { figure, .. } => Some(*figure),
                        Value::Text(_) => None,
                    })
                    .collect();
                let usual = median(&figures)?;
                let differs = (figure - usual).abs() > *within;
                differs.then(|| (figure_text(*figure, unit), figure_text(usual, unit)))?
            }
            Value::Text(text) => {
                let usual = most_common(&known)?;
                (*text != usual).then(|| (text.clone(), usual))?
            }
        };
        Some(format!("{} {own} instead of {usual}", fact.name))
    };
    own.iter().filter_map(differs).collect()
}

fn most_common(known: &[&Value]) -> Option<String> {
    let texts = known.iter().filter_map(|value| match value {
        Value::Text(text) => Some((text, ())),
        Value::Figure { .. } => None,
    });
    // The first of equally frequent ones, so that the result is deterministic.
    let most_frequent = grouped(texts).into_iter().rev().max_by_key(|(_, places)| places.len());
    most_frequent.map(|(text, _)| text.clone())
}

/// Formats a number with the digits that suit its unit.
fn figure_text(figure: f64, unit: &str) -> String {
    let digits = if unit.is_empty() || unit == "GiB" { 1 } else { 0 };
    format!("{figure:.digits$} {unit}").trim_end().to_owned()
}

/// Returns the facts about the GPU of a report; those that limit its speed come first.
pub(crate) fn of_gpu(report: &Report) -> Vec<Fact> {
    let said = gpu(report).map_or(&Json::Null, |backend| &backend.description);
    let clocks: Vec<f64> =
        timed(report, Side::Gpu).flat_map(|execute| execute.sm_mhz.iter().copied()).collect();
    let clock = median(&clocks);
    let seen = |figure: fn(&Conditions) -> Option<f64>| conditions(report, Side::Gpu).filter_map(figure);
    let hottest = seen(|state| state.temperature_c).reduce(f64::max);
    let memory = median(&seen(|state| state.memory_mhz).collect::<Vec<f64>>());
    let figures = [
        Fact::near(&machine::POWER_LIMIT, said, "W", 1.0),
        Fact::near(&machine::SM_CLOCK_DEFAULT, said, "MHz", 1.0),
        clock.map(|mhz| Fact::figure("clock while measuring", mhz, "MHz", 0.01 * mhz)),
        memory.map(|mhz| Fact::figure("memory clock", mhz, "MHz", 0.01 * mhz)),
        hottest.map(|degrees| Fact::figure("temperature", degrees, "°C", 5.0)),
    ];
    let mut facts: Vec<Fact> = figures.into_iter().flatten().collect();
    let throttled = conditions(report, Side::Gpu).flat_map(|state| state.throttle.iter());
    facts.push(Fact::text("clocks throttled by", listed(throttled.cloned(), "nothing")));
    let settings = [&machine::ECC, &machine::MIG_MODE, &machine::CUDA_VERSION];
    facts.extend(settings.iter().filter_map(|fact| Fact::same(fact, said)));
    let others = conditions(report, Side::Gpu).flat_map(|state| state.others.iter());
    facts.push(Fact::text("other processes on it:", listed(others.map(|name| program(name)), "none")));
    facts.extend(gpu(report).and_then(|backend| libraries(report, &backend.name)));
    facts.extend(common(report));
    facts
}

/// Returns the facts about the host of `reports`.
pub(crate) fn of_host(reports: &[&Report]) -> Vec<Fact> {
    let Some(report) = reports.first() else { return vec![] };
    let host = &report.environment.host;
    let loads: Vec<f64> = reports.iter().filter_map(|report| report.environment.host.load_average).collect();
    let load = median(&loads);
    let gib = gib(host.memory_bytes);
    let mut facts = vec![];
    facts.extend(Fact::same(&machine::CPU_IDENTITY, host));
    facts.extend(Fact::same(&machine::GOVERNOR, host));
    let threads = machine::threads(report);
    facts.extend(threads.map(|count| Fact::figure("threads", count as f64, "threads", 0.0)));
    let quota = host.cpu_quota.map_or("none".into(), |quota| quota.to_string());
    facts.push(Fact::text(machine::CPU_QUOTA.short, quota));
    facts.extend(load.map(|load| Fact::figure(machine::LOAD.short, load, "", 1.0)));
    facts.extend(Fact::same(&machine::SMT, host));
    facts.extend(Fact::same(&machine::NUMA, host));
    facts.push(Fact::figure(machine::MEMORY.short, gib, "GiB", 0.02 * gib));
    facts.extend(libraries(report, "cpu"));
    facts.push(Fact::text(machine::OS.short, host.os.as_str()));
    facts.extend(common(report));
    facts
}

/// Returns the facts about gpubench, for either side.
fn common(report: &Report) -> Vec<Fact> {
    let environment = &report.environment;
    let mut facts = vec![Fact::text("gpubench", environment.gpubench_version.as_str())];
    facts.extend(environment.build_profile.as_deref().map(|profile| Fact::text("build", profile)));
    facts
}

fn libraries(report: &Report, backend: &str) -> Option<Fact> {
    let backend = report.environment.backend(backend)?;
    let found = backend.libraries.iter().filter_map(|library| {
        let version = library.version.as_deref()?.split([' ', ',']).next().unwrap_or_default();
        Some(format!("{} {version}", library.name))
    });
    let found = listed(found, "");
    (!found.is_empty()).then(|| Fact::text("libraries", found))
}

fn timed(report: &Report, side: Side) -> impl Iterator<Item = &Execute> {
    report.rows.iter().filter(move |row| row.side == side).filter_map(|row| row.execute.as_ref())
}

fn conditions(report: &Report, side: Side) -> impl Iterator<Item = &Conditions> {
    timed(report, side).flat_map(|execute| execute.conditions.iter().flatten())
}

/// Joins the distinct words, sorted; returns `none` without any.
fn listed(words: impl Iterator<Item = String>, none: &str) -> String {
    let words: BTreeSet<String> = words.collect();
    if words.is_empty() { none.to_owned() } else { words.into_iter().collect::<Vec<_>>().join(", ") }
}

/// Removes the process id, which differs on every machine.
fn program(process: &str) -> String {
    process.rsplit_once(" (").map_or(process, |(name, _)| name).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::example::member;

    fn against(own: &Report, others: &[Report]) -> Vec<String> {
        let facts: Vec<Vec<Fact>> = others.iter().map(of_gpu).collect();
        differing(&of_gpu(own), &facts.iter().map(Vec::as_slice).collect::<Vec<_>>())
    }

    #[test]
    fn facts_of_one_card_are_compared_with_those_of_most_others() {
        let others = [member("b", 1.0), member("c", 1.0), member("d", 1.0)];
        let mut own = member("a", 1.0);
        assert_eq!(against(&own, &others), Vec::<String>::new());
        own.environment.backends[1].description["power_limit_w"] = 550.0.into();
        own.environment.backends[1].description["ecc"] = false.into();
        for execute in own.rows.iter_mut().filter_map(|row| row.execute.as_mut()) {
            execute.sm_mhz.iter_mut().for_each(|mhz| *mhz = 1410.0);
            for state in execute.conditions.iter_mut().flatten() {
                state.throttle = vec!["power limit".into()];
                state.temperature_c = Some(81.0);
                state.others = vec!["python3 (4711)".into()];
            }
        }
        assert_eq!(
            against(&own, &others),
            [
                "power limit 550 W instead of 700 W",
                "clock while measuring 1410 MHz instead of 1980 MHz",
                "temperature 81 °C instead of 41 °C",
                "clocks throttled by power limit instead of nothing",
                "ECC off instead of on",
                "other processes on it: python3 instead of none",
            ]
        );
    }

    #[test]
    fn missing_facts_and_small_differences_are_no_difference() {
        let mut own = member("a", 1.0);
        own.environment.backends[1].description = serde_json::json!({ "device": 0, "name": "NVIDIA H200" });
        for execute in own.rows.iter_mut().filter_map(|row| row.execute.as_mut()) {
            execute.sm_mhz.iter_mut().for_each(|mhz| *mhz = 1975.0);
        }
        assert_eq!(against(&own, &[member("b", 1.0)]), Vec::<String>::new());
    }

    #[test]
    fn hosts_differ_in_governor_load_and_quota() {
        let (usual, mut own) = (member("b", 1.0), member("a", 1.0));
        own.environment.host.governor = Some("powersave".into());
        own.environment.host.load_average = Some(7.5);
        own.environment.host.cpu_quota = None;
        let found = differing(&of_host(&[&own]), &[&of_host(&[&usual])]);
        assert_eq!(
            found,
            [
                "governor powersave instead of performance",
                "CPU quota none instead of 15.5",
                "load at the start 7.5 instead of 0.4"
            ]
        );
    }
}
