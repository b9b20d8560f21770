//! Collects facts about the GPU or host of a report that may explain a difference, and compares them with those of others.

use std::collections::BTreeSet;

use gpubench_report::Side;
use gpubench_report::measure::stats::median;
use gpubench_report::report::quantity::gib;
use gpubench_report::report::{Execute, Report, machine};
use gpubench_text::grouped::grouped;
use serde_json::Value as Json;

use gpubench_analysis::fleet::identity::gpu;

pub(super) struct DeviceFact {
    name: &'static str,
    text: String,
    /// The number, its unit and the largest difference that still counts as equal, for a fact that has a tolerance.
    figure: Option<(f64, &'static str, f64)>,
}

impl DeviceFact {
    fn figure(name: &'static str, figure: f64, unit: &'static str, within: f64) -> DeviceFact {
        DeviceFact { name, text: figure_text(figure, unit), figure: Some((figure, unit, within)) }
    }

    fn text(name: &'static str, text: impl Into<String>) -> DeviceFact {
        DeviceFact { name, text: text.into(), figure: None }
    }

    fn recorded<S>(fact: &machine::Fact<S>, source: &S) -> Option<DeviceFact> {
        Some(DeviceFact::text(fact.short, fact.of(source)?.to_string()))
    }
}

/// Returns the facts of `own` that differ from most known ones: `power limit 550 W instead of 700 W`.
pub(super) fn differing(own: &[DeviceFact], others: &[Vec<DeviceFact>]) -> Vec<String> {
    let differs = |fact: &DeviceFact| {
        let known = others.iter().flatten().filter(|other| other.name == fact.name);
        let usual = match fact.figure {
            Some((figure, unit, within)) => {
                let figures: Vec<f64> = known.filter_map(|fact| Some(fact.figure?.0)).collect();
                let usual = median(&figures).filter(|usual| (figure - usual).abs() > within)?;
                figure_text(usual, unit)
            }
            None => {
                // The first of equally frequent ones, so that the result is deterministic.
                let texts = grouped(known.map(|fact| (&fact.text, ()))).into_iter().rev();
                let (usual, _) = texts.max_by_key(|(_, same)| same.len())?;
                Some(usual).filter(|usual| **usual != fact.text)?.clone()
            }
        };
        Some(format!("{} {} instead of {usual}", fact.name, fact.text))
    };
    own.iter().filter_map(differs).collect()
}

fn figure_text(figure: f64, unit: &str) -> String {
    let digits = if unit.is_empty() || unit == "GiB" { 1 } else { 0 };
    format!("{figure:.digits$} {unit}").trim_end().to_owned()
}

/// Returns the facts about the GPU of a report; those that limit its speed come first.
pub(super) fn of_gpu(report: &Report) -> Vec<DeviceFact> {
    let described = gpu(report).map_or(&Json::Null, |backend| &backend.description);
    let recorded = |fact: &machine::Fact<Json>, unit| {
        Some(DeviceFact::figure(fact.short, fact.of(described)?.figure()?, unit, 1.0))
    };
    let rows = report.rows.iter().filter(|row| row.side == Side::Gpu);
    let timed: Vec<&Execute> = rows.filter_map(|row| row.execute.as_ref()).collect();
    let conditions = || timed.iter().flat_map(|execute| execute.conditions.iter().flatten());
    let clocks: Vec<f64> = timed.iter().flat_map(|execute| &execute.sm_mhz).copied().collect();
    let memory: Vec<f64> = conditions().filter_map(|state| state.memory_mhz).collect();
    let clock = |name, mhz| DeviceFact::figure(name, mhz, "MHz", 0.01 * mhz);
    let hottest = conditions().filter_map(|state| state.temperature_c).reduce(f64::max);
    let throttled = conditions().flat_map(|state| state.throttle.iter().cloned());
    let others = conditions().flat_map(|state| state.others.iter().map(|name| program(name)));
    let mut facts = vec![
        recorded(&machine::POWER_LIMIT, "W"),
        recorded(&machine::SM_CLOCK_DEFAULT, "MHz"),
        median(&clocks).map(|mhz| clock("clock while measuring", mhz)),
        median(&memory).map(|mhz| clock("memory clock", mhz)),
        hottest.map(|degrees| DeviceFact::figure("temperature", degrees, "°C", 5.0)),
        Some(DeviceFact::text("clocks throttled by", listed(throttled, "nothing"))),
    ];
    let settings = [&machine::ECC, &machine::MIG_MODE, &machine::CUDA_VERSION];
    facts.extend(settings.map(|fact| DeviceFact::recorded(fact, described)));
    facts.push(Some(DeviceFact::text("other processes on it:", listed(others, "none"))));
    facts.push(gpu(report).and_then(|backend| libraries(report, &backend.name)));
    facts.into_iter().flatten().chain(common(report)).collect()
}

/// Returns the facts about the host of `reports`, of which there is at least one.
pub(super) fn of_host(reports: &[&Report]) -> Vec<DeviceFact> {
    let report = reports[0];
    let host = &report.environment.host;
    let loads: Vec<f64> = reports.iter().filter_map(|report| report.environment.host.load_average).collect();
    let quota = host.cpu_quota.map_or("none".into(), |quota| quota.to_string());
    let gib = gib(host.memory_bytes);
    let facts = [
        DeviceFact::recorded(&machine::CPU_IDENTITY, host),
        DeviceFact::recorded(&machine::GOVERNOR, host),
        machine::threads(report).map(|count| DeviceFact::figure("threads", count as f64, "threads", 0.0)),
        Some(DeviceFact::text(machine::CPU_QUOTA.short, quota)),
        median(&loads).map(|load| DeviceFact::figure(machine::LOAD.short, load, "", 1.0)),
        DeviceFact::recorded(&machine::SMT, host),
        DeviceFact::recorded(&machine::NUMA, host),
        Some(DeviceFact::figure(machine::MEMORY.short, gib, "GiB", 0.02 * gib)),
        libraries(report, "cpu"),
        Some(DeviceFact::text(machine::OS.short, host.os.as_str())),
    ];
    facts.into_iter().flatten().chain(common(report)).collect()
}

fn common(report: &Report) -> impl Iterator<Item = DeviceFact> {
    let environment = &report.environment;
    let version = DeviceFact::text("gpubench", environment.gpubench_version.as_str());
    let build = environment.build_profile.as_deref().map(|profile| DeviceFact::text("build", profile));
    std::iter::once(version).chain(build)
}

fn libraries(report: &Report, backend: &str) -> Option<DeviceFact> {
    let found = report.environment.backend(backend)?.libraries.iter().filter_map(|library| {
        let version = library.version.as_deref()?.split([' ', ',']).next().unwrap_or_default();
        Some(format!("{} {version}", library.name))
    });
    Some(DeviceFact::text("libraries", listed(found, ""))).filter(|fact| !fact.text.is_empty())
}

fn listed(words: impl Iterator<Item = String>, none: &str) -> String {
    let words: BTreeSet<String> = words.collect();
    if words.is_empty() { none.to_owned() } else { Vec::from_iter(words).join(", ") }
}

/// Removes the process id, which differs on every machine.
fn program(process: &str) -> String {
    process.rsplit_once(" (").map_or(process, |(name, _)| name).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpubench_analysis::fleet::example::member;

    fn against(own: &Report, others: &[Report]) -> Vec<String> {
        differing(&of_gpu(own), &others.iter().map(of_gpu).collect::<Vec<_>>())
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
        let found = differing(&of_host(&[&own]), &[of_host(&[&usual])]);
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
