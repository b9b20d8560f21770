//! The captions of charts: machine, clocks, date, version, and the meaning of points and bands.

use gpubench_analysis::answer::{Contender, Pair, Versus, factor_text};
use gpubench_ops as op;
use gpubench_report::case::Cache;
use gpubench_report::report::Report;
use gpubench_text::grouped::distinct;

use gpubench_document::report::problems::ended_early;

/// The whole name of a contender in prose: `the GPU`, `cupy, torch and jax`.
pub(crate) fn name(versus: Versus<'_>, one: Contender) -> String {
    let noun = versus.noun(one);
    let items: Vec<&str> = noun.split(',').map(str::trim).collect();
    match items.as_slice() {
        [first @ .., last] if !first.is_empty() => format!("{} and {last}", first.join(", ")),
        _ => noun,
    }
}

/// The label of a speed-up: `12x` where B is faster, `CPU 2.9x` where A is, with its marks.
pub(crate) fn ratio_text(pair: &Pair<'_>) -> String {
    let factor = pair.speed_up.factor();
    let whole = (9.95..99.95).contains(&factor);
    let text = if whole { format!("{factor:.0}x") } else { factor_text(factor) };
    let leader = match pair.speed_up.leader() {
        Contender::A => format!("{} ", pair.versus.label(Contender::A)),
        Contender::B => String::new(),
    };
    let tie = if pair.speed_up.winner().is_none() { "?" } else { "" };
    format!("{leader}{text}{tie}{}", if pair.is_unreliable() { "!" } else { "" })
}

/// What points, bands and marks of a chart are: `{b}` is B's name, and `{side}` empty where the contenders have names. And whether
/// the times of each side are by its own clock, so that the clocks must be named.
pub(crate) type Caption = (&'static str, bool);

const POINTS: &str = "Points: medians. Bands: their 95 % intervals.";
pub(crate) const THROUGHPUT: Caption = (POINTS, true);
/// The caption of time charts, whose axis names the one clock.
pub(crate) const TIME: Caption = (POINTS, false);

/// The lines at the foot of a chart: a machine per line, then how the figures came about.
pub(crate) fn captions(
    reports: &[(&str, &Report)],
    cache: Option<Cache>,
    (text, own_clocks): Caption,
) -> Vec<String> {
    let mut lines: Vec<String> = match reports {
        [(_, report)] => vec![machine(report, own_clocks)],
        several => {
            several.iter().map(|(name, report)| format!("{name}: {}", machine(report, own_clocks))).collect()
        }
    };
    let versions = distinct(reports.iter().map(|(_, report)| report.environment.gpubench_version.as_str()));
    let versions = versions.join(", ");
    let cache = cache.map(|cache| format!(" Cache: {cache}.")).unwrap_or_default();
    let versus = reports.first().map_or(Versus::SIDES, |(_, report)| Versus::of(report));
    let side = if versus.is_named() { "" } else { " side" };
    let text = text.replace("{b}", versus.label(Contender::B)).replace("{side}", side);
    lines.push(format!("{text}{cache} Every answer checked. gpubench {versions}"));
    lines
}

/// `GPU: NVIDIA H200, device clock · CPU: Xeon, 16 threads, host clock · 2026-11-21`.
fn machine(report: &Report, own_clocks: bool) -> String {
    let environment = &report.environment;
    let versus = Versus::of(report);
    let of_contender = |one: Contender| {
        let clock = clock(report, versus, one)?;
        let device = versus.device(report, one);
        let clock = (own_clocks || device.is_none()).then_some(clock);
        let facts: Vec<String> = device.into_iter().chain(clock).collect();
        let (label, name) = (versus.label(one), name(versus, one));
        let whole = if versus.label(one) == versus.name(one) { String::new() } else { format!(" ({name})") };
        Some(format!("{label}{whole}: {}", facts.join(", ")))
    };
    let mut facts: Vec<String> = [Contender::B, Contender::A].into_iter().filter_map(of_contender).collect();
    facts.extend(environment.started.get(..10).map(String::from));
    facts.extend(ended_early(report));
    facts.join(" · ")
}

/// The clocks of a contender's measured rows; `None` where none is measured.
fn clock(report: &Report, versus: Versus<'_>, contender: Contender) -> Option<String> {
    let rows =
        report.rows.iter().filter(|row| versus.has(contender, row) && op::compares_sides(&row.case.op));
    let clocks = distinct(rows.filter_map(|row| Some(row.execute.as_ref()?.clock.words())));
    (!clocks.is_empty()).then(|| clocks.join(" and "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpubench_report::report::example;

    #[test]
    fn devices_have_names_and_a_simulated_cpu_is_not_the_hosts() {
        let mut report = example::full();
        report.environment.backends[0].description = serde_json::json!({ "device": "simulated" });
        report.environment.backends[1].description = serde_json::json!({ "device": 0, "name": "NVIDIA L4" });
        let expected = "GPU: NVIDIA L4, device clock · CPU: simulated, host clock · 2026-11-21";
        assert_eq!(captions(&[("", &report)], Some(Cache::Cold), THROUGHPUT)[0], expected);
    }
}
