//! The words of a chart that come from the environment: machine, clocks, date, program. Knows no pixels.

use crate::backend::Side;
use crate::case::{Cache, DType};
use crate::report::Report;
use crate::report::headline::{SpeedUp, factor_text};

/// The element type as the literature writes it.
pub fn dtype_text(dtype: DType) -> &'static str {
    match dtype {
        DType::F32 => "float32",
        DType::F64 => "float64",
    }
}

/// What stands beside a speed-up: `12x` where the GPU wins, `CPU 2.9x` where the CPU does.
pub fn ratio_text(found: &SpeedUp) -> String {
    let factor = found.factor();
    let whole = (9.95..99.95).contains(&factor);
    let text = if whole { format!("{factor:.0}x") } else { factor_text(factor) };
    if found.winner() == Side::Cpu { format!("CPU {text}") } else { text }
}

/// The lines at the foot of a chart: a machine a line, then what a point and a band are.
pub fn captions(reports: &[(&str, &Report)], cache: Cache) -> Vec<String> {
    let mut lines: Vec<String> = match reports {
        [(_, report)] => vec![machine(report)],
        several => several.iter().map(|(name, report)| format!("{name}: {}", machine(report))).collect(),
    };
    let mut versions: Vec<&str> = vec![];
    for (_, report) in reports {
        let version = report.environment.gpubench_version.as_str();
        if !versions.contains(&version) {
            versions.push(version);
        }
    }
    let versions = versions.join(", ");
    lines.push(format!(
        "Points: medians, {cache} cache. Bands: 95 % intervals of the medians. Every answer checked. gpubench {versions}"
    ));
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

/// The device of a side, as the first of its backends that names one describes itself: a text under `name` or
/// `device`. A backend that runs on the host's processor names none.
fn device(report: &Report, side: Side) -> Option<&str> {
    let stands = |name: &str| report.rows.iter().any(|row| row.side == side && row.backend == name);
    let backends = report.environment.backends.iter().filter(|backend| stands(&backend.name));
    backends
        .flat_map(|backend| ["name", "device"].map(|key| backend.description.get(key)))
        .find_map(|value| value?.as_str())
}

/// The host's processor and the threads in use.
fn host(report: &Report) -> String {
    let environment = &report.environment;
    let told = environment.backends.iter().filter(|backend| backend.name == "cpu");
    let threads = told.filter_map(|backend| backend.description.get("threads")?.as_u64()).next();
    let threads = threads.unwrap_or(environment.host.threads);
    let words = if threads == 1 { "thread" } else { "threads" };
    format!("{}, {threads} {words}", processor(&environment.host.cpu))
}

/// A CPU model without the marks and words that say nothing.
pub fn processor(model: &str) -> String {
    let plain = model.replace("(R)", "").replace("(TM)", "").replace("(tm)", "");
    let plain = plain.split(" @ ").next().unwrap_or_default();
    let words = plain.split_whitespace().filter(|word| !["CPU", "Processor"].contains(word));
    words.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::example;

    #[test]
    fn captions_name_machine_clocks_and_date() {
        let report = example::full();
        let expected = "GPU: NVIDIA H200, device clock · CPU: Intel Xeon Platinum 8480C, 16 threads, host clock · 2026-11-21";
        assert_eq!(captions(&[("", &report)], Cache::Cold)[0], expected);
    }

    #[test]
    fn a_device_is_called_by_its_name_not_its_number_and_a_simulated_cpu_is_not_the_hosts() {
        let mut report = example::full();
        report.environment.backends[0].description = serde_json::json!({ "device": "simulated" });
        report.environment.backends[1].description = serde_json::json!({ "device": 0, "name": "NVIDIA L4" });
        let expected = "GPU: NVIDIA L4, device clock · CPU: simulated, host clock · 2026-11-21";
        assert_eq!(captions(&[("", &report)], Cache::Cold)[0], expected);
    }

    #[test]
    fn marks_and_clock_rates_are_cut_from_a_processors_name() {
        assert_eq!(processor("Intel(R) Core(TM) i9-285K CPU @ 3.70GHz"), "Intel Core i9-285K");
        assert_eq!(processor("AMD EPYC 7763 64-Core Processor"), "AMD EPYC 7763 64-Core");
    }
}
