//! The environment of a report on the page: machine, backends with their libraries and peaks, settings.

use gpubench_report::report::machine::{plain, versions_text};
use gpubench_report::report::quantity::{gib, three_digits, time_text};
use gpubench_report::report::{BackendState, Environment, Report};
use gpubench_report::{BusRates, Finding, Peaks};
use gpubench_text::count::counted;

use super::markup::{Element, Html, classed, element};
use super::table::{self, NONE, cell, facts, framed, words};
use gpubench_document::report::environment::{
    clock_checks, described, device_state, settings_of, timer_overhead, version,
};

/// Machine, backends, device state, timer overhead and settings of the run.
pub(crate) fn environment(report: &Report) -> Html {
    let environment = &report.environment;
    let mut html = Html::from(facts(run(environment)))
        .and(element("h3").holding("Machine"))
        .and(facts(machine(environment)));
    for backend in &environment.backends {
        html = html.and(backend_block(backend));
    }
    let settings = serde_json::to_string_pretty(&environment.settings).unwrap_or_default();
    html.and(clocks(report)).and(opened("Settings of the run", element("pre").holding(settings)))
}

/// A part of the environment that a reader opens; paper leaves it out.
fn opened(title: &str, content: impl Into<Html>) -> Element {
    element("details").holding(element("summary").holding(title)).holding(content)
}

/// The state of the device while it was measured, the timer overhead and the checks of its clock.
fn clocks(report: &Report) -> Html {
    let mut html = Html::new();
    let state = device_state(report);
    if !state.is_empty() {
        html = html.and(element("h3").holding("The device while it was measured"));
        html = html.and(element("ul").holding_all(state.into_iter().map(|line| element("li").holding(line))));
    }
    let backends = &report.environment.backends;
    for table in [timer_overhead(backends), clock_checks(backends)].into_iter().flatten() {
        html = html.and(element("h3").holding(table.title.as_str())).and(framed(&table.title, table.html()));
    }
    if html.is_empty() { html } else { opened("Clocks and timers", html).into() }
}

fn run(environment: &Environment) -> Vec<(Html, Html)> {
    let command = environment.argv.join(" ");
    let mut found = vec![
        ("started".into(), environment.started.as_str().into()),
        ("took".into(), time_text(environment.elapsed_s).into()),
        ("command".into(), element("code").holding(command).into()),
        ("gpubench".into(), version(environment).into()),
    ];
    let revision = environment.git_revision.as_deref();
    found.extend(revision.map(|revision| ("revision of the folder".into(), revision.into())));
    let variables = environment.variables.iter();
    found.extend(
        variables.map(|(name, value)| (element("code").holding(name.as_str()).into(), value.as_str().into())),
    );
    found
}

fn machine(environment: &Environment) -> Vec<(&'static str, String)> {
    let host = &environment.host;
    let gib = gib(host.memory_bytes);
    let mut found = vec![
        ("host", host.name.clone()),
        ("system", host.os.clone()),
        ("CPU", format!("{}, {}", host.cpu, counted(host.threads, "thread"))),
        ("memory", format!("{gib:.0} GiB")),
    ];
    found.extend(settings_of(host));
    found
}

/// The description of a backend, its libraries and its peaks.
fn backend_block(backend: &BackendState) -> Html {
    let mut html = Html::from(element("h3").holding("Backend ").holding(backend.name.as_str()));
    if !backend.available {
        let reason = backend.reason.as_deref().unwrap_or("no reason given");
        let fix = backend.fix.as_ref().map(|fix| format!(" Next: {fix}.")).unwrap_or_default();
        return html.and(element("p").holding(format!("Not available: {reason}.{fix}")));
    }
    let mut known: Vec<(String, String)> =
        described(backend).map(|(name, value)| (name, plain(value))).collect();
    known.extend(versions_text(backend).map(|versions| ("versions".into(), versions)));
    known.extend(backend.startup_s.map(|seconds| ("ready after".into(), time_text(seconds))));
    html = html.and(opened(&format!("Facts about {}", backend.name), facts(known)));
    if !backend.libraries.is_empty() {
        html = html.and(libraries(&backend.libraries));
    }
    match &backend.peaks {
        Some(found) => html.and(peaks(&backend.name, found)),
        None => html,
    }
}

fn libraries(found: &[Finding]) -> Element {
    let row = |library: &Finding| {
        let text = |text: &Option<String>| cell(text.as_deref().unwrap_or(NONE));
        let path = classed("td", "path").holding(library.path.as_deref().unwrap_or(NONE));
        let cells = [cell(library.name.as_str()), text(&library.version), path];
        element("tr").holding_all(table::labelled(cells, ["library", "version", "path"]))
    };
    table::table("libraries", &[words("library"), words("version"), words("path")], found.iter().map(row))
}

/// The measured peaks of a backend.
fn peaks(backend: &str, found: &Peaks) -> Html {
    let rates = [("memory, read", found.read), ("memory, copy", found.copy), ("memory, triad", found.triad)];
    let mut rows: Vec<(String, String)> = vec![];
    let bytes = |rate: f64| format!("{} GB/s", three_digits(rate / 1e9));
    rows.extend(rates.into_iter().filter_map(|(name, rate)| Some((name.into(), bytes(rate?)))));
    let products = found.matmul.iter();
    rows.extend(products.map(|(name, rate)| {
        (format!("matrix product, {name}"), format!("{} TFLOP/s", three_digits(rate / 1e12)))
    }));
    for (name, rates) in [("upload", found.upload), ("download", found.download)] {
        let Some(BusRates { pageable, pinned }) = rates else { continue };
        rows.push((format!("{name}, pageable"), bytes(pageable)));
        rows.push((format!("{name}, pinned"), bytes(pinned)));
    }
    let measured = match (found.measured.as_str(), found.cached) {
        ("", _) => String::new(),
        (when, false) => format!("Measured {when}."),
        (when, true) => format!("Measured {when}, by an earlier run on this machine."),
    };
    Html::from(element("h4").holding(format!("Peaks of {backend}")))
        .and(facts(rows))
        .and(classed("p", "note").holding(measured))
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpubench_report::report::example;

    #[test]
    fn the_environment_shows_machine_backends_peaks_and_settings() {
        let mut report = example::with_peaks(example::full());
        report.environment.backends[0].available = false;
        (report.environment.backends[0].reason, report.environment.backends[0].fix) =
            (Some("no BLAS".into()), Some("install one".into()));
        let html = environment(&report).into_string();
        for expected in [
            "Intel(R) Xeon(R) Platinum 8480C, 16 threads",
            "Not available: no BLAS. Next: install one.",
            "matrix product, tf32",
            "400 TFLOP/s",
            "55.0 GB/s",
            "Frequency governor",
            "Timer overhead",
            "&quot;sweeps&quot;",
        ] {
            assert!(html.contains(expected), "{expected}\n{html}");
        }
    }
}
