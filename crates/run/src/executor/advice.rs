//! Makes the warnings about a run as a whole, each with the next step.

use gpubench_backend::{Finding, ThreadSpeeds};
use gpubench_report::measure::grade;
use gpubench_report::report::{BackendState, Environment, QuotaPauses, RunWarning, variables};
use gpubench_text::percent;

/// Ratio of the speeds of two CPUs above which a run gets a warning.
const MAX_SPEED_RATIO: f64 = 1.25;
/// Share of the CPUs' time that other programs use, above which a machine counts as busy.
pub(crate) const BUSY: f64 = 0.1;

/// Returns the warnings about the machine when the run started: `other_programs` is the share of the CPUs' time that these used.
pub(crate) fn of_run(other_programs: Option<f64>, thread_speeds: Option<ThreadSpeeds>) -> Vec<RunWarning> {
    let mut warnings = vec![];
    let mut warn = |text: String, next: &str| warnings.push(RunWarning { text, next: next.into() });
    if let Some(share) = other_programs.filter(|share| *share > BUSY) {
        let share = percent::in_words(share);
        warn(
            format!("other programs used {share} of the CPUs' time when the run started"),
            "close other programs and run again",
        );
    }
    let ratio = thread_speeds.map(|speeds| speeds.ratio());
    if let Some(times) = ratio.filter(|times| *times > MAX_SPEED_RATIO) {
        warn(
            format!(
                "one core took {times:.1} times as long as another when the run started, so CPU times may vary as \
                 much between runs"
            ),
            "close other programs, choose cores of one kind with taskset, or use dedicated cores in a virtual machine",
        );
    }
    warnings
}

/// Returns the warnings about the environment of a run: modes of libraries that distort times, a CPU quota that paused it,
/// and memory that lies on one NUMA node. `quota` holds the quota in CPUs and its pauses, `variables` the names of all variables.
pub(crate) fn of_environment(
    environment: &Environment,
    variables: impl Iterator<Item = String>,
    backends: &[BackendState],
    quota: Option<(f64, QuotaPauses)>,
) -> Vec<RunWarning> {
    let distorted = environment.variables.iter().filter_map(|(name, value)| {
        let effect = variables::distortion(name, value)?;
        let text = format!("{name} was set, which {effect}, so times may be far longer than without it");
        Some(RunWarning { text, next: format!("unset {name} and run again") })
    });
    let paused = quota.filter(|(_, pauses)| pauses.paused > 0).map(|(cpus, pauses)| RunWarning {
        text: format!("the run was {}", grade::quota_text(cpus, pauses)),
        next: grade::WHOLE_CPUS.into(),
    });
    let one_node = backends.iter().filter_map(|backend| {
        let reason = backend.description.get("memory_interleaving_refused")?.as_str()?;
        let text = format!(
            "the system refused to interleave memory over NUMA nodes ({reason}), so CPU times depend on the \
                            node that holds the operands"
        );
        let next =
            "allow set_mempolicy (docker: --cap-add SYS_NICE), or use the CPUs of one node, then run again";
        Some(RunWarning { text, next: next.into() })
    });
    let removed: Vec<String> = variables.filter(|name| variables::changes_arithmetic(name)).collect();
    let without = (!removed.is_empty()).then(|| RunWarning {
        text: format!(
            "the workers ran without {}, which would change the arithmetic of libraries",
            removed.join(", ")
        ),
        next: "name variants with other arithmetic, such as cublas-tf32 or cublas-emulated, with --variants"
            .into(),
    });
    distorted.chain(paused).chain(one_node).chain(without).collect()
}

/// Kernels of OpenBLAS for x86 CPUs without AVX2, by the names of its build. OpenBLAS takes them where it does not know the CPU.
const OLD_KERNELS: &str = "Katmai Coppermine Northwood Prescott Banias Core2 Penryn Dunnington Nehalem Atom Athlon Opteron \
                           Opteron_SSE3 Barcelona Bobcat Sandybridge Nano Unknown";

/// Returns a warning for each OpenBLAS whose vector instructions are not as wide as the CPU's `vectors`, such as `avx512`.
pub fn slow_kernels<'a>(findings: impl IntoIterator<Item = &'a Finding>, vectors: &str) -> Vec<RunWarning> {
    let wanted = match vectors {
        "avx512" => "SkylakeX",
        "avx2+fma" => "Haswell",
        _ => return vec![],
    };
    let of_openblas = findings.into_iter().filter(|finding| finding.name.starts_with("OpenBLAS"));
    let warning = |Finding { name, version, .. }: &Finding| {
        let version = version.as_deref().unwrap_or_default();
        let kernels =
            version.split([' ', ',']).find(|word| OLD_KERNELS.split(' ').any(|old| old == *word))?;
        let text = format!("{name} uses its kernels for {kernels} although the CPU has {vectors}");
        let next = match version.contains("DYNAMIC_ARCH") {
            true => format!("set OPENBLAS_CORETYPE={wanted}, or install a newer OpenBLAS"),
            false => "install an OpenBLAS that is built for many CPUs (DYNAMIC_ARCH)".into(),
        };
        Some(RunWarning { text, next })
    };
    of_openblas.filter_map(warning).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conditions_that_distort_a_run_are_named_with_their_cause() {
        let mut environment = Environment::default();
        let backend = |description| BackendState { description, ..BackendState::default() };
        let texts = |environment: &Environment, backends: &[BackendState], quota| -> Vec<String> {
            let names = environment.variables.keys().cloned().chain(["HOME".into()]);
            let found = of_environment(environment, names, backends, quota);
            found.into_iter().map(|warning| format!("{}; {}", warning.text, warning.next)).collect()
        };
        environment.variables.insert("OMP_NUM_THREADS".into(), "2".into());
        let quota = |paused| Some((0.5, QuotaPauses { periods: 112, paused }));
        assert!(texts(&environment, &[backend(serde_json::json!({ "threads": 2 }))], quota(0)).is_empty());
        environment.variables.insert("MKL_VERBOSE".into(), "1".into());
        environment.variables.insert("NVIDIA_TF32_OVERRIDE".into(), "1".into());
        let refused =
            backend(serde_json::json!({ "memory_interleaving_refused": "Operation not permitted" }));
        let found = texts(&environment, &[refused], quota(103));
        assert!(found[0].contains("MKL_VERBOSE was set, which prints each call"), "{found:?}");
        assert!(found[3].starts_with("the workers ran without NVIDIA_TF32_OVERRIDE, which"), "{found:?}");
        let paused = "quota of 0.5 CPUs in 103 of 112 periods; give the group whole CPUs";
        assert!(found[1].contains(paused), "{found:?}");
        assert!(found[2].contains("interleave memory") && found[2].contains("SYS_NICE"), "{found:?}");
    }

    #[test]
    fn an_openblas_with_kernels_of_an_older_cpu_gets_the_variable_that_helps() {
        let warned = |name: &str, kernels: &str, vectors| {
            let version = Some(format!("0.3.21 DYNAMIC_ARCH MAX_THREADS=64 {kernels} pthreads, 2 threads"));
            slow_kernels(&[Finding { name: name.into(), version, ..Finding::default() }], vectors)
        };
        for kernels in ["Prescott", "Core2", "Nehalem", "Sandybridge"] {
            for (vectors, wanted) in [("avx512", "SkylakeX"), ("avx2+fma", "Haswell")] {
                let found = warned("OpenBLAS (numpy)", kernels, vectors);
                assert!(found[0].text.contains(&format!("(numpy) uses its kernels for {kernels}")));
                assert!(found[0].next.contains(&format!("OPENBLAS_CORETYPE={wanted},")), "{}", found[0].next);
            }
            assert!(warned("OpenBLAS", kernels, "sse2").is_empty());
        }
        for kernels in ["Haswell", "Zen", "SkylakeX", "Cooperlake", "SapphireRapids"] {
            assert!(warned("OpenBLAS", kernels, "avx512").is_empty(), "{kernels}");
        }
        assert!(warned("BLIS", "generic", "avx512").is_empty());
    }

    #[test]
    fn a_busy_machine_and_unequal_cpus_get_warnings() {
        let texts = |share, slowest_s| {
            let thread_speeds = Some(ThreadSpeeds { fastest_s: 1.0, slowest_s });
            let found = of_run(Some(share), thread_speeds);
            found.into_iter().map(|warning| warning.text).collect::<Vec<_>>()
        };
        assert!(texts(0.1, 1.25).is_empty());
        assert!(texts(0.42, 1.0)[0].contains("used 42 % of the CPUs' time"));
        assert!(texts(0.0, 1.62)[0].contains("one core took 1.6 times as long as another"));
        assert_eq!(texts(0.9, 1.62).len(), 2);
    }
}
