//! `gpubench doctor`: lists the devices and libraries of each backend, what is missing, the variants that need it, and
//! the fix.
//!
//! Each backend searches in one worker per library, so that a library that crashes when loaded costs one line, and
//! libraries do not call each other's routines.

mod python;
mod summary;
mod text;

use std::io::Write;
use std::path::Path;
use std::time::Duration;

use gpubench_backend::WorkerId;
use gpubench_backend::host::environment;
use gpubench_backend::protocol::{Reply, Request};
use gpubench_text::control::spelled_out;
use gpubench_text::count::counted;
use serde::Serialize;

use crate::backend::{self, BACKENDS, Finding, Options, Registration, cpu};
use crate::executor::slow_kernels;
use crate::processors;
use crate::report::{Host, RunWarning};
use crate::worker::Launcher;
use crate::worker::client::Client;

/// Longest wait for a backend to answer.
const MAX_WAIT: Duration = Duration::from_secs(60);

/// The state of the machine and of every backend.
#[derive(Serialize)]
struct DoctorReport {
    gpubench_version: &'static str,
    host: Host,
    backends: Vec<BackendFindings>,
    /// Conditions that make timings worse, each with the remedy.
    hints: Vec<String>,
}

/// The findings of one backend.
#[derive(Clone, Debug, Serialize)]
pub struct BackendFindings {
    /// Name of the backend.
    pub name: &'static str,
    /// A one-line summary.
    pub summary: &'static str,
    /// The libraries and devices it searched for.
    pub findings: Vec<Finding>,
    /// The reason if it could not search.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}

/// Returns whether the library or device was found and works.
fn is_usable(finding: &Finding) -> bool {
    finding.problem.is_none() && (finding.path.is_some() || finding.version.is_some())
}

/// Examines the machine, with the interpreter `python` for Python libraries, and writes the findings as text or as one JSON object.
///
/// # Errors
/// `python` cannot be used, `out` cannot be written, or the path of this program is unknown. Missing libraries are findings,
/// not errors.
pub fn run(json: bool, options: &Options, python: Option<&Path>, out: &mut dyn Write) -> anyhow::Result<()> {
    let libraries = python::PythonSearch::begin(python, options)?;
    let mut backends = search(&Launcher::new(None, &[])?, options);
    let host = environment::host();
    let hints = hints(&host, processors::load_average(), &backends);
    backends.push(libraries.findings());
    backends.iter_mut().for_each(spell_out);
    let report = DoctorReport { gpubench_version: env!("CARGO_PKG_VERSION"), host, backends, hints };
    if json {
        serde_json::to_writer_pretty(&mut *out, &report)?;
        writeln!(out)?;
    } else {
        text::write(&report, out)?;
    }
    Ok(())
}

/// Spells out control characters, which texts of libraries, names of folders and other programs may contain.
fn spell_out(backend: &mut BackendFindings) {
    for Finding { name, path, version, serves, problem, fix } in &mut backend.findings {
        let known = [path, version, problem, fix].into_iter().flatten();
        [name].into_iter().chain(serves).chain(known).for_each(|text| *text = spelled_out(text));
    }
    backend.problem.iter_mut().for_each(|text| *text = spelled_out(text));
}

/// Lets all backends search at the same time, in workers that `launcher` starts.
fn search(launcher: &Launcher, options: &Options) -> Vec<BackendFindings> {
    let start_all = |backend| {
        let libraries = backend::libraries(backend, options);
        let ids = std::iter::once(None).chain(libraries.into_iter().map(Some));
        let ids = ids.map(|library| WorkerId { library, ..WorkerId::of_backend(backend.name) });
        ids.map(|id| (start_search(&id, launcher, options), id)).collect::<Vec<_>>()
    };
    let begun: Vec<_> = BACKENDS.iter().map(|backend| (backend, start_all(backend))).collect();
    let findings_of = |(backend, searches): (&'static Registration, Vec<WorkerSearch>)| {
        let (mut findings, mut problem) = (vec![], None);
        for (client, id) in searches {
            let client = client.map_err(|error| format!("the worker could not be started: {error}"));
            match (client.and_then(receive_findings), &id.library) {
                (Ok(found), _) => findings.extend(found),
                (Err(reason), Some(library)) => findings.push(unexamined(backend, options, library, reason)),
                (Err(reason), None) => problem = Some(reason),
            }
        }
        BackendFindings { name: backend.name, summary: backend.summary, findings, problem }
    };
    begun.into_iter().map(findings_of).collect()
}

/// A worker that searches, or the error that prevented its start.
type WorkerSearch = (std::io::Result<Client>, WorkerId);

fn start_search(id: &WorkerId, launcher: &Launcher, options: &Options) -> std::io::Result<Client> {
    let mut client = launcher.start(id)?;
    client.send(&Request::Doctor { options: Options { library: id.library.clone(), ..options.clone() } });
    Ok(client)
}

/// Describes a library whose worker did not answer.
fn unexamined(backend: &Registration, options: &Options, library: &str, reason: String) -> Finding {
    let variants = (backend.variants)(options).unwrap_or_default();
    let needing = variants.iter().filter(|variant| variant.library.as_deref() == Some(library));
    Finding {
        name: library.to_owned(),
        path: None,
        version: None,
        serves: needing.map(|variant| format!("{}/{}", variant.op, variant.name)).collect(),
        problem: Some(reason),
        fix: Some("reinstall the library".into()),
    }
}

fn receive_findings(mut client: Client) -> Result<Vec<Finding>, String> {
    match client.reply(MAX_WAIT)? {
        Reply::Findings { findings } => Ok(findings),
        _ => Err("the worker sent an unexpected reply; run one build of gpubench only".into()),
    }
}

/// Returns a hint, with the remedy, per condition that makes timings worse.
fn hints(host: &Host, load: Option<f64>, backends: &[BackendFindings]) -> Vec<String> {
    let findings = backends.iter().flat_map(|backend| &backend.findings);
    let slow = slow_kernels(findings, cpu::widest_vectors());
    let mut hints: Vec<String> =
        slow.into_iter().map(|RunWarning { text, next }| format!("{text}: {next}.")).collect();
    if let Some(governor) = host.governor.as_deref().filter(|governor| *governor != "performance") {
        hints.push(format!(
            "The CPU frequency governor is {governor}, so times vary more. Change it with: sudo cpupower frequency-set -g performance"
        ));
    }
    if let Some(quota) = host.cpu_quota {
        hints.push(format!(
            "The control group has a quota of {quota} CPUs, which pauses threads in the middle of samples. Give it whole \
             CPUs: docker run --cpuset-cpus, not --cpus."
        ));
    }
    if let Some(load) = load.filter(|load| *load > 0.5 && *load > 0.2 * host.threads as f64) {
        hints.push(format!(
            "Other programs are using the CPU (load average {load:.1} on {}). End them before measuring.",
            counted(host.threads, "CPU")
        ));
    }
    hints
}

#[cfg(test)]
mod tests {
    use super::*;

    fn host(governor: Option<&str>) -> Host {
        Host { threads: 8, governor: governor.map(str::to_owned), ..Host::default() }
    }

    #[test]
    fn control_characters_of_findings_are_spelled_out() {
        let hostile = || "\u{1b}]0;x\u{7}\n\u{202e}".to_owned();
        let [path, version, problem, fix] = [(); 4].map(|()| Some(hostile()));
        let finding = Finding { name: hostile(), path, version, serves: vec![hostile()], problem, fix };
        let mut backend =
            BackendFindings { name: "cpu", summary: "", findings: vec![finding], problem: Some(hostile()) };
        spell_out(&mut backend);
        let found = serde_json::to_value(&backend).unwrap().to_string();
        assert_eq!(found.matches("\\\\u{1b}]0;x\\\\u{7}\\\\n\\\\u{202e}").count(), 7, "{found}");
    }

    #[test]
    fn poor_timing_conditions_get_a_hint_and_good_ones_do_not() {
        assert_eq!(hints(&host(Some("performance")), Some(0.1), &[]).len(), 0);
        assert_eq!(hints(&host(None), None, &[]).len(), 0);
        let limited = &hints(&Host { cpu_quota: Some(0.5), ..host(None) }, None, &[])[0];
        assert!(limited.contains("quota of 0.5 CPUs") && limited.contains("--cpuset-cpus"), "{limited}");
        let poor = hints(&host(Some("powersave")), Some(6.0), &[]);
        assert!(poor[0].contains("powersave") && poor[1].contains("6.0"), "{poor:?}");
    }
}
