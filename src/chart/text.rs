//! The words of a chart that come from the environment: machine, clocks, date, program. Knows no pixels.

use crate::backend::Side;
use crate::case::DType;
use crate::report::headline::{SpeedUp, factor_text};
use crate::report::{BackendState, Report};

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
    let text = if factor < 9.95 { factor_text(factor) } else { format!("{factor:.0}x") };
    if found.winner() == Side::Cpu { format!("CPU {text}") } else { text }
}

/// The lines at the foot of every chart: a machine a line, then what a point and a band are.
pub fn captions(reports: &[(&str, &Report)]) -> Vec<String> {
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
        "Points: medians. Bands: 95 % intervals of the medians. Every answer checked. gpubench {versions}"
    ));
    lines
}

/// `GPU: NVIDIA H200, device clock · CPU: Xeon, 16 threads, host clock · 2026-11-21`.
fn machine(report: &Report) -> String {
    let environment = &report.environment;
    let mut facts = vec![];
    if let Some(clock) = clock(report, Side::Gpu) {
        let devices =
            report.environment.backends.iter().filter(|backend| stands_on(report, backend, Side::Gpu));
        let device = devices.filter_map(device).next();
        facts.push(format!("GPU: {}{clock}", device.map(|device| format!("{device}, ")).unwrap_or_default()));
    }
    if let Some(clock) = clock(report, Side::Cpu) {
        let threads = environment.backends.iter().find_map(|backend| {
            let found = backend.description.get("threads").and_then(serde_json::Value::as_u64);
            found.filter(|_| stands_on(report, backend, Side::Cpu))
        });
        let threads = threads.unwrap_or(environment.host.threads);
        let words = if threads == 1 { "thread" } else { "threads" };
        facts.push(format!("CPU: {}, {threads} {words}, {clock}", processor(&environment.host.cpu)));
    }
    facts.extend(environment.started.get(..10).map(String::from));
    facts.join(" · ")
}

/// The clock of a side's first measured row; `None` where none is measured.
fn clock(report: &Report, side: Side) -> Option<&'static str> {
    let mut timed = report.rows.iter().filter(|row| row.side == side).filter_map(|row| row.execute.as_ref());
    timed.next().map(|execute| execute.clock.words())
}

fn stands_on(report: &Report, backend: &BackendState, side: Side) -> bool {
    report.rows.iter().any(|row| row.side == side && row.backend == backend.name)
}

/// The device's name as the backend describes itself: `device` or `name`, a text or an object with a `name`.
fn device(backend: &BackendState) -> Option<&str> {
    let found = ["device", "name", "gpu"].into_iter().find_map(|key| backend.description.get(key))?;
    found.as_str().or_else(|| found.get("name")?.as_str())
}

/// A CPU model without the marks and words that say nothing.
fn processor(model: &str) -> String {
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
        assert_eq!(captions(&[("", &report)])[0], expected);
    }

    #[test]
    fn marks_and_clock_rates_are_cut_from_a_processors_name() {
        assert_eq!(processor("Intel(R) Core(TM) i9-285K CPU @ 3.70GHz"), "Intel Core i9-285K");
        assert_eq!(processor("AMD EPYC 7763 64-Core Processor"), "AMD EPYC 7763 64-Core");
    }
}
