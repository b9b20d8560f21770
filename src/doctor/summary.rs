//! The first line of `gpubench doctor`: what works, and the missing libraries that cost most variants.

use gpubench_text::count::counted;

use super::{BackendFindings, is_usable};
use crate::backend::{CUDA, Finding, cpu, cuda};

/// Missing libraries that the line names; the rest is counted.
const MAX_NAMED: usize = 3;

/// Summarizes the findings of the CPU and of CUDA. Without a GPU, missing CUDA libraries do not count.
pub(super) fn summary(backends: &[BackendFindings]) -> String {
    let of = |name: &str| backends.iter().find(|backend| backend.name == name);
    let [cpu, gpu] = [cpu::REGISTRATION.name, CUDA.name].map(of);
    let has_gpu = gpu.is_some_and(|gpu| !devices(gpu).is_empty());
    let missing = cpu.into_iter().chain(gpu.filter(|_| has_gpu)).flat_map(missing);
    let parts = [cpu.map(cpu_text), gpu.map(gpu_text)].into_iter().flatten().collect::<Vec<_>>();
    format!("{}. {}", parts.join("; "), missing_text(missing.collect()))
}

fn cpu_text(cpu: &BackendFindings) -> String {
    match cpu.findings.iter().filter(|finding| is_usable(finding)).count() {
        _ if cpu.problem.is_some() => "CPU: cannot be checked".into(),
        0 => "CPU: built-in kernels only, no library found".into(),
        found => format!("CPU: {}", counted(found, "library")),
    }
}

fn gpu_text(gpu: &BackendFindings) -> String {
    if gpu.problem.is_some() {
        return "GPU: cannot be checked".into();
    }
    let found = devices(gpu);
    let Some(first) = found.first() else {
        let cause = gpu.findings.iter().find(|finding| !is_usable(finding));
        let cause = cause.map(|finding| format!(" (no usable {})", finding.name)).unwrap_or_default();
        return format!("GPU: none found{cause}");
    };
    let name = first.name.split_once(": ").map_or(first.name.as_str(), |(_, model)| model);
    let others = match found.len() - 1 {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!("GPU: {name}{others}")
}

/// Returns the devices that were found.
fn devices(gpu: &BackendFindings) -> Vec<&Finding> {
    let is_device = |finding: &&Finding| is_usable(finding) && finding.name.starts_with(cuda::DEVICE);
    gpu.findings.iter().filter(is_device).collect()
}

/// Returns the libraries that variants need and that a step would supply.
fn missing(backend: &BackendFindings) -> impl Iterator<Item = &Finding> {
    let can_be_added =
        |finding: &&Finding| !is_usable(finding) && finding.fix.is_some() && !finding.serves.is_empty();
    backend.findings.iter().filter(can_be_added)
}

fn missing_text(mut missing: Vec<&Finding>) -> String {
    if missing.is_empty() {
        return "No library is missing.".into();
    }
    // Stable, so that equal ones keep the order of the findings below.
    missing.sort_by_key(|finding| std::cmp::Reverse(finding.serves.len()));
    let count = missing.len();
    let named = missing.iter().take(MAX_NAMED);
    let named = named.map(|one| format!("{} ({})", one.name, counted(one.serves.len(), "variant")));
    let rest = count.checked_sub(MAX_NAMED).filter(|more| *more > 0);
    let rest = rest.map(|more| format!(" and {more} more")).unwrap_or_default();
    let named = named.collect::<Vec<_>>().join(", ");
    format!("{} can be added: {named}{rest}.", counted(count, "library"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(name: &str, variants: usize) -> Finding {
        let serves = (0..variants).map(|index| format!("op/{index}")).collect();
        Finding { name: name.into(), version: Some("1".into()), serves, ..Finding::default() }
    }

    fn missing(name: &str, variants: usize) -> Finding {
        let (problem, fix) = (Some("was not found".into()), Some("install it".into()));
        Finding { version: None, problem, fix, ..found(name, variants) }
    }

    fn of(cpu: Vec<Finding>, gpu: Vec<Finding>) -> String {
        let backend = |name, findings| BackendFindings { name, summary: "", findings, problem: None };
        summary(&[backend("cpu", cpu), backend("cuda", gpu)])
    }

    #[test]
    fn without_a_gpu_the_line_names_the_cause_and_counts_cpu_libraries() {
        let text = of(
            vec![found("OpenBLAS", 3), missing("BLIS", 1), missing("MKL", 4)],
            vec![missing("NVIDIA driver", 9), missing("NVRTC", 9), missing("cuFFT", 2)],
        );
        let expected = "CPU: 1 library; GPU: none found (no usable NVIDIA driver). \
                        2 libraries can be added: MKL (4 variants), BLIS (1 variant).";
        assert_eq!(text, expected);
    }

    #[test]
    fn with_a_gpu_the_line_names_it_and_the_libraries_that_are_missing() {
        let device = |ordinal: u32| found(&format!("{} {ordinal}: NVIDIA H200", cuda::DEVICE), 9);
        let driver = found("NVIDIA driver", 9);
        let text = of(vec![], vec![driver.clone(), device(0), device(1), found("NVRTC", 9)]);
        let expected = "CPU: built-in kernels only, no library found; GPU: NVIDIA H200 and 1 more. \
                        No library is missing.";
        assert_eq!(text, expected);
        let wanting = ["cuFFT", "cuBLAS", "cuSOLVER"].map(|name| missing(name, 2));
        let gpu = [driver, device(0), missing("NVRTC", 9)].into_iter().chain(wanting);
        let text = of(vec![found("MKL", 1), found("BLIS", 1)], gpu.collect());
        let expected = "CPU: 2 libraries; GPU: NVIDIA H200. 4 libraries can be added: \
                        NVRTC (9 variants), cuFFT (2 variants), cuBLAS (2 variants) and 1 more.";
        assert_eq!(text, expected);
    }
}
