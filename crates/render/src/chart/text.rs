//! The captions of charts: machine, clocks, date, version, and the meaning of points and bands.

use gpubench_answer::{Pair, factor_text};
use gpubench_model::Side;
use gpubench_model::case::Cache;
use gpubench_model::report::Report;
use gpubench_model::report::machine::{device, host};
use gpubench_text::grouped::distinct;

/// The label of a speed-up: `12x` where the GPU is faster, `CPU 2.9x` where the CPU is, `0.97x?` where neither is, and
/// `12x!` where a time has grade D.
pub(crate) fn ratio_text(pair: &Pair<'_>) -> String {
    let Some(winner) = pair.speed_up.winner() else { return pair.speed_up.to_string() };
    let factor = pair.speed_up.factor();
    let whole = (9.95..99.95).contains(&factor);
    let text = if whole { format!("{factor:.0}x") } else { factor_text(factor) };
    let mark = if pair.has_grade_d() { "!" } else { "" };
    if winner == Side::Cpu { format!("CPU {text}{mark}") } else { text + mark }
}

/// The caption of time charts.
pub(crate) const POINTS: &str = "Points: medians. Bands: their 95 % intervals.";
/// The caption of speed-up charts.
pub(crate) const SPEED_UPS: &str =
    "Points: ratios of medians. Rings: GPU faster from this N. Bands: 95 % intervals of both.";
/// The caption of overviews.
pub(crate) const OVERVIEW: &str = "Best correct variant of each side. Bands: 95 % intervals. Rings: certain crossings only. Log axes; x: N.";
/// The caption of phase charts.
pub(crate) const PHASES: &str = "Parts: medians. Launch and wait: the host's time minus the device's.";
/// The caption of rooflines.
pub(crate) const ROOFLINE: &str = "Points: medians. Peaks: measured on this machine.";

/// The lines at the foot of a chart: a machine a line, then how the figures came about.
pub(crate) fn captions(reports: &[(&str, &Report)], cache: Option<Cache>, how: &str) -> Vec<String> {
    let mut lines: Vec<String> = match reports {
        [(_, report)] => vec![machine(report)],
        several => several.iter().map(|(name, report)| format!("{name}: {}", machine(report))).collect(),
    };
    let versions = distinct(reports.iter().map(|(_, report)| report.environment.gpubench_version.as_str()));
    let versions = versions.join(", ");
    let cache = cache.map(|cache| format!(" Cache: {cache}.")).unwrap_or_default();
    lines.push(format!("{how}{cache} Every answer checked. gpubench {versions}"));
    lines
}

/// `GPU: NVIDIA H200, device clock · CPU: Xeon, 16 threads, host clock · 2026-11-21`.
fn machine(report: &Report) -> String {
    let environment = &report.environment;
    let mut facts = vec![];
    if let Some(clock) = clock(report, Side::Gpu) {
        let device = device(report, Side::Gpu).map(|device| format!("{device}, ")).unwrap_or_default();
        facts.push(format!("GPU: {device}{clock}"));
    }
    if let Some(clock) = clock(report, Side::Cpu) {
        let device = device(report, Side::Cpu).map_or_else(|| host(report), String::from);
        facts.push(format!("CPU: {device}, {clock}"));
    }
    facts.extend(environment.started.get(..10).map(String::from));
    facts.join(" · ")
}

/// The clock of a side's first measured row; `None` where none is measured.
fn clock(report: &Report, side: Side) -> Option<&'static str> {
    let mut timed = report.rows.iter().filter(|row| row.side == side).filter_map(|row| row.execute.as_ref());
    timed.next().map(|execute| execute.clock.words())
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpubench_model::report::example;

    #[test]
    fn captions_name_machine_clocks_and_date() {
        let report = example::full();
        let expected = "GPU: NVIDIA H200, device clock · CPU: Intel Xeon Platinum 8480C, 16 threads, host clock · 2026-11-21";
        assert_eq!(captions(&[("", &report)], Some(Cache::Cold), POINTS)[0], expected);
    }

    #[test]
    fn a_device_is_called_by_its_name_not_its_number_and_a_simulated_cpu_is_not_the_hosts() {
        let mut report = example::full();
        report.environment.backends[0].description = serde_json::json!({ "device": "simulated" });
        report.environment.backends[1].description = serde_json::json!({ "device": 0, "name": "NVIDIA L4" });
        let expected = "GPU: NVIDIA L4, device clock · CPU: simulated, host clock · 2026-11-21";
        assert_eq!(captions(&[("", &report)], Some(Cache::Cold), POINTS)[0], expected);
    }
}
