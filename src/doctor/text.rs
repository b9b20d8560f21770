//! The findings of `gpubench doctor` as text.

use std::io::Write;

use crate::write::terminal::{TERMINAL_WIDTH, hanging_within};
use gpubench_text::count::counted;

use super::summary::summary;
use super::{BackendFindings, DoctorReport, is_usable, python};
use crate::backend::{BACKENDS, CUDA, Finding, Options, cuda};
use crate::report::quantity::gib;

/// Writes the summary, the conditions that make timings worse, the machine, and the findings of every backend.
pub(super) fn write(found: &DoctorReport, out: &mut dyn Write) -> std::io::Result<()> {
    let host = &found.host;
    let known = |text: &str| if text.is_empty() { "unknown".to_owned() } else { text.to_owned() };
    write_wrapped(&summary(&found.backends), 0, out)?;
    writeln!(out, "\nTiming conditions")?;
    if found.hints.is_empty() {
        writeln!(out, "  No problem was found.")?;
    }
    found.hints.iter().try_for_each(|hint| write_wrapped(hint, 2, out))?;
    writeln!(out, "\ngpubench {}", found.gpubench_version)?;
    writeln!(out, "CPU      {}, {} usable", known(&host.cpu), counted(host.threads, "thread"))?;
    writeln!(out, "memory   {:.1} GiB", gib(host.memory_bytes))?;
    writeln!(out, "system   {}", known(&host.os))?;
    for backend in &found.backends {
        writeln!(out, "\n{}: {}", backend.name, backend.summary)?;
        if let Some(problem) = &backend.problem {
            writeln!(out, "  cannot be checked: {problem}")?;
        }
        write_findings(backend, out)?;
    }
    Ok(())
}

/// Writes the findings of a backend. CUDA's libraries are one sentence where there is no driver: adding them would not help.
fn write_findings(backend: &BackendFindings, out: &mut dyn Write) -> std::io::Result<()> {
    // The driver comes first.
    let has_driver = backend.findings.first().is_none_or(is_usable);
    let is_idle = |finding: &Finding| {
        let is_library = || cuda::Library::ALL.iter().any(|library| library.title() == finding.name);
        backend.name == CUDA.name && !has_driver && is_library()
    };
    let (idle, others): (Vec<&Finding>, Vec<&Finding>) =
        backend.findings.iter().partition(|finding| is_idle(finding));
    for (position, finding) in others.into_iter().enumerate() {
        write_finding(finding, backend.name, out)?;
        if position == 0 && !idle.is_empty() {
            write_wrapped(&idle_text(&idle), 2, out)?;
        }
    }
    Ok(())
}

/// Says which of CUDA's libraries were found where there is no driver.
fn idle_text(idle: &[&Finding]) -> String {
    let named = [(true, "found"), (false, "missing")].map(|(usable, state)| {
        let of_state = idle.iter().filter(|finding| is_usable(finding) == usable);
        let names: Vec<&str> = of_state.map(|finding| finding.name.as_str()).collect();
        (!names.is_empty()).then(|| format!("{} {state}", names.join(", ")))
    });
    let named = named.into_iter().flatten().collect::<Vec<_>>().join("; ");
    format!("CUDA's libraries are of no use without a driver: {named}.")
}

/// Writes `text` in lines that fit a terminal, each indented by `indent` columns.
fn write_wrapped(text: &str, indent: usize, out: &mut dyn Write) -> std::io::Result<()> {
    writeln!(out, "{:indent$}{}", "", hanging_within(TERMINAL_WIDTH, text, indent))
}

fn write_finding(finding: &Finding, backend: &str, out: &mut dyn Write) -> std::io::Result<()> {
    let usable = is_usable(finding);
    let mark = match (&finding.path, &finding.problem) {
        (_, None) if usable => "found  ",
        // A library that reports its version loads, so it has no fault: it runs on the CPU only.
        (Some(_), Some(_)) if backend == python::NAME && finding.version.is_some() => "no GPU ",
        (Some(_), Some(_)) => "faulty ",
        _ => "missing",
    };
    let version = finding.version.as_deref().map(|version| format!(" {version}")).unwrap_or_default();
    let path = finding.path.as_deref().map(|path| format!(" ({path})")).unwrap_or_default();
    writeln!(out, "  {mark} {}{version}{path}", finding.name)?;
    if usable {
        return Ok(());
    }
    if let Some(problem) = &finding.problem {
        writeln!(out, "          {problem}")?;
    }
    if !finding.serves.is_empty() {
        let text = format!("needed by {}", needs(&finding.serves, backend));
        write_wrapped(&text, 10, out)?;
    }
    match &finding.fix {
        Some(fix) => writeln!(out, "          fix: {fix}"),
        None => Ok(()),
    }
}

/// The variants that a missing library costs, as one phrase where they are all variants of the backend.
fn needs(serves: &[String], backend: &str) -> String {
    let variants = BACKENDS.iter().find(|registration| registration.name == backend);
    let variants = variants.and_then(|registration| (registration.variants)(&Options::default()).ok());
    if variants.is_some_and(|variants| variants.len() > 1 && serves.len() >= variants.len()) {
        return format!("all {} variants", backend.to_uppercase());
    }
    serves.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the text about the findings of a backend.
    fn text(name: &'static str, findings: Vec<Finding>) -> String {
        let backend = BackendFindings { name, summary: "", findings, problem: None };
        let mut text = vec![];
        write_findings(&backend, &mut text).unwrap();
        String::from_utf8(text).unwrap()
    }

    fn found(name: &str) -> Finding {
        Finding { name: name.into(), version: Some("1".into()), ..Finding::default() }
    }

    fn missing(name: &str) -> Finding {
        let (problem, fix) = (Some("is not on this machine".into()), Some("pip install it".into()));
        Finding { name: name.into(), problem, fix, ..Finding::default() }
    }

    #[test]
    fn a_missing_library_is_listed_with_its_variants_and_its_fix() {
        let text = text("cpu", vec![Finding { serves: vec!["fft/r2c".into()], ..missing("MKL") }]);
        let expected = "  missing MKL\n          is not on this machine\n          needed by fft/r2c\n          fix: pip install it\n";
        assert_eq!(text, expected);
    }

    #[test]
    fn without_a_driver_the_libraries_of_cuda_are_one_sentence() {
        let of =
            |driver: Finding| text("cuda", vec![driver, found("NVRTC"), missing("cuBLAS"), missing("cuFFT")]);
        let without = of(missing("NVIDIA driver"));
        assert!(
            without.contains("missing NVIDIA driver") && without.matches("fix:").count() == 1,
            "{without}"
        );
        let folded =
            "  CUDA's libraries are of no use without a driver: NVRTC found; cuBLAS, cuFFT\n  missing.\n";
        assert!(without.ends_with(folded), "{without}");
        let with = of(found("NVIDIA driver"));
        assert!(with.contains("missing cuBLAS") && with.matches("fix:").count() == 2, "{with}");
    }

    #[test]
    fn a_python_library_is_faulty_if_it_does_not_load_not_without_a_gpu() {
        let of = |version: Option<&str>, backend| {
            let (path, version) = (Some("/venv/torch".into()), version.map(Into::into));
            text(backend, vec![Finding { path, version, ..missing("PyTorch") }])
        };
        let whole = of(Some("2.11.0 (CPU only)"), python::NAME);
        assert!(whole.contains("  no GPU  PyTorch 2.11.0 (CPU only) (/venv/torch)\n"), "{whole}");
        assert!(of(None, python::NAME).contains("  faulty  PyTorch"));
        assert!(of(Some("1"), "cpu").contains("  faulty  PyTorch"));
    }

    #[test]
    fn a_library_that_every_variant_needs_costs_all_of_them() {
        let variants = (CUDA.variants)(&Options::default()).unwrap();
        let all: Vec<_> = variants.iter().map(|variant| format!("{}/{}", variant.op, variant.name)).collect();
        assert_eq!(needs(&all, "cuda"), "all CUDA variants");
        assert_eq!(needs(&all[..2], "cuda"), all[..2].join(", "));
    }
}
