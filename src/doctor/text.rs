//! The findings of `gpubench doctor` as text.

use std::io::Write;

use crate::write::terminal::{TERMINAL_WIDTH, hanging_within};
use gpubench_text::count::counted;

use super::summary::summary;
use super::{BackendFindings, DoctorReport, is_usable, python};
use crate::backend::{CUDA, Finding};
use crate::report::quantity::gib;

/// Variants that the text about a missing library names; more are counted.
const MAX_NAMED: usize = 20;

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

/// Writes the findings of a backend. Without a driver, which comes first, adding CUDA's libraries would not help.
fn write_findings(backend: &BackendFindings, out: &mut dyn Write) -> std::io::Result<()> {
    let has_driver = backend.name != CUDA.name || backend.findings.first().is_none_or(is_usable);
    let shown = if has_driver { backend.findings.len() } else { 1 };
    backend.findings.iter().take(shown).try_for_each(|finding| write_finding(finding, backend.name, out))?;
    match has_driver {
        true => Ok(()),
        false => {
            write_wrapped("CUDA's libraries were not listed: without a driver they are of no use.", 2, out)
        }
    }
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
        let serves = match finding.serves.len() {
            0..=MAX_NAMED => finding.serves.join(", "),
            more => counted(more, "variant"),
        };
        write_wrapped(&format!("needed by {serves}"), 10, out)?;
    }
    match &finding.fix {
        Some(fix) => writeln!(out, "          fix: {fix}"),
        None => Ok(()),
    }
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
        let of = |serves: &[&str]| {
            let serves = serves.iter().map(|name| (*name).to_owned()).collect();
            text("cpu", vec![Finding { serves, ..missing("MKL") }])
        };
        let expected = "  missing MKL\n          is not on this machine\n          needed by fft/r2c\n          fix: pip install it\n";
        assert_eq!(of(&["fft/r2c"]), expected);
        assert!(of(&["fft/r2c"; 30]).contains("needed by 30 variants\n"));
    }

    #[test]
    fn without_a_driver_the_libraries_of_cuda_are_not_listed() {
        let of = |driver: Finding| text("cuda", vec![driver, found("NVRTC"), missing("cuBLAS")]);
        let without = of(missing("NVIDIA driver"));
        assert!(without.matches("fix:").count() == 1 && !without.contains("cuBLAS"), "{without}");
        assert!(of(found("NVIDIA driver")).contains("missing cuBLAS"));
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
}
