//! What each side ran on, in words. Knows the environment of a report, no figure.

use gpubench_model::Side;
use gpubench_model::report::Report;
use gpubench_text::count::counted;

/// What a side ran on: the device that the first of its backends names, or the host's processor with the threads in
/// use; `None` when no row stands on that side.
pub fn machine(report: &Report, side: Side) -> Option<String> {
    report.rows.iter().any(|row| row.side == side).then_some(())?;
    match (device(report, side), side) {
        (Some(device), _) => Some(device.to_owned()),
        (None, Side::Cpu) => Some(host(report)),
        (None, Side::Gpu) => None,
    }
}

/// The device of a side, as the first of its backends that names one describes itself: a text under `name` or
/// `device`. A backend that runs on the host's processor names none.
pub fn device(report: &Report, side: Side) -> Option<&str> {
    let stands = |name: &str| report.rows.iter().any(|row| row.side == side && row.backend == name);
    let backends = report.environment.backends.iter().filter(|backend| stands(&backend.name));
    backends
        .flat_map(|backend| ["name", "device"].map(|key| backend.description.get(key)))
        .find_map(|value| value?.as_str())
}

/// The host's processor and the threads in use.
pub fn host(report: &Report) -> String {
    let environment = &report.environment;
    let told = environment.backends.iter().filter(|backend| backend.name == "cpu");
    let threads = told.filter_map(|backend| backend.description.get("threads")?.as_u64()).next();
    let threads = threads.unwrap_or(environment.host.threads);
    format!("{}, {}", processor(&environment.host.cpu), counted(threads, "thread"))
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
    use gpubench_model::report::example;

    #[test]
    fn each_side_is_called_by_its_device_or_its_processor() {
        let report = example::full();
        assert_eq!(machine(&report, Side::Gpu).as_deref(), Some("NVIDIA H200"));
        let expected = "Intel Xeon Platinum 8480C, 16 threads";
        assert_eq!(machine(&report, Side::Cpu).as_deref(), Some(expected));
        assert_eq!(machine(&example::empty(), Side::Gpu), None);
    }

    #[test]
    fn marks_and_clock_rates_are_cut_from_a_processors_name() {
        assert_eq!(processor("Intel(R) Core(TM) i9-285K CPU @ 3.70GHz"), "Intel Core i9-285K");
        assert_eq!(processor("AMD EPYC 7763 64-Core Processor"), "AMD EPYC 7763 64-Core");
    }
}
