//! Collects the environment of a report: host, revisions, environment variables.

use std::collections::BTreeMap;
use std::fs;

use gpubench_model::report::{Environment, Host, now};

use crate::{git, processors};

/// Environment variables that change results.
const VARIABLES: &[&str] = &[
    "BLIS_NUM_THREADS",
    "CUBLAS_WORKSPACE_CONFIG",
    "CUDA_DEVICE_MAX_CONNECTIONS",
    "CUDA_HOME",
    "CUDA_LAUNCH_BLOCKING",
    "CUDA_MODULE_LOADING",
    "CUDA_PATH",
    "CUDA_VISIBLE_DEVICES",
    "LD_LIBRARY_PATH",
    "LD_PRELOAD",
    "MKL_CBWR",
    "MKL_DYNAMIC",
    "MKL_ENABLE_INSTRUCTIONS",
    "MKL_INTERFACE_LAYER",
    "MKL_NUM_THREADS",
    "MKL_THREADING_LAYER",
    "NVIDIA_TF32_OVERRIDE",
    "OMP_NUM_THREADS",
    "OMP_PLACES",
    "OMP_PROC_BIND",
    "OMP_WAIT_POLICY",
    "OPENBLAS_CORETYPE",
    "OPENBLAS_NUM_THREADS",
    "RAYON_NUM_THREADS",
];

/// The git revision of this build, if `GPUBENCH_REVISION` was set for the compiler.
pub const BUILD_REVISION: Option<&str> = option_env!("GPUBENCH_REVISION");

/// Returns the environment of a run that starts now. The executor fills in times and backends.
pub fn collect(argv: Vec<String>, settings: serde_json::Value) -> Environment {
    Environment {
        gpubench_version: env!("CARGO_PKG_VERSION").into(),
        gpubench_revision: BUILD_REVISION.map(str::to_owned),
        build_profile: Some(if cfg!(debug_assertions) { "debug" } else { "release" }.into()),
        argv,
        git_revision: git::revision(),
        started: now().to_string(),
        elapsed_s: 0.0,
        time_spent: None,
        other_programs: None,
        warnings: vec![],
        planned_rows: None,
        host: host(),
        backends: vec![],
        settings,
        variables: variables(|name| std::env::var(name).ok()),
    }
}

/// Returns the machine of this process. Values that the system does not report stay empty.
pub fn host() -> Host {
    let threads = std::thread::available_parallelism().map_or(1, |n| n.get() as u64);
    Host {
        name: first_line("/proc/sys/kernel/hostname").unwrap_or_default(),
        os: operating_system(),
        cpu: fs::read_to_string("/proc/cpuinfo").ok().and_then(|text| cpu_model(&text)).unwrap_or_default(),
        threads,
        memory_bytes: fs::read_to_string("/proc/meminfo").ok().and_then(|text| total(&text)).unwrap_or(0),
        governor: first_line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
        smt: processors::smt(),
        numa_nodes: processors::numa_nodes(),
        cpu_quota: processors::quota(),
        transparent_huge_pages: first_line("/sys/kernel/mm/transparent_hugepage/enabled")
            .and_then(|line| chosen(&line)),
        last_level_cache_bytes: processors::last_level_cache_bytes(),
        load_average: processors::load_average(),
    }
}

fn variables(value: impl Fn(&str) -> Option<String>) -> BTreeMap<String, String> {
    VARIABLES.iter().filter_map(|name| Some(((*name).to_owned(), value(name)?))).collect()
}

fn first_line(path: &str) -> Option<String> {
    let text = fs::read_to_string(path).ok()?;
    text.lines().next().map(|line| line.trim().to_owned()).filter(|line| !line.is_empty())
}

/// Returns the word in brackets: `madvise` of `always [madvise] never`.
fn chosen(choices: &str) -> Option<String> {
    Some(choices.split_once('[')?.1.split_once(']')?.0.to_owned())
}

/// Returns the distribution and the kernel, such as `Debian GNU/Linux 12 (bookworm), Linux 6.1.0`.
fn operating_system() -> String {
    let release = fs::read_to_string("/etc/os-release").ok();
    let pretty = release.as_deref().and_then(|text| {
        let value = text.lines().find_map(|line| line.strip_prefix("PRETTY_NAME="))?;
        Some(value.trim_matches('"').to_owned())
    });
    let kernel = first_line("/proc/sys/kernel/osrelease").map(|version| format!("Linux {version}"));
    let parts: Vec<String> = [pretty, kernel].into_iter().flatten().collect();
    if parts.is_empty() { std::env::consts::OS.into() } else { parts.join(", ") }
}

/// Returns the first CPU's model: `model name` on x86, implementer and part on Arm.
fn cpu_model(cpuinfo: &str) -> Option<String> {
    let field = |name: &str| {
        cpuinfo.lines().find_map(|line| {
            let (key, value) = line.split_once(':')?;
            (key.trim() == name && !value.trim().is_empty()).then(|| value.trim().to_owned())
        })
    };
    field("model name").or_else(|| {
        let (implementer, part) = (field("CPU implementer")?, field("CPU part")?);
        Some(format!("Arm implementer {implementer} part {part}"))
    })
}

/// Returns `MemTotal` of a `/proc/meminfo`, in bytes.
fn total(meminfo: &str) -> Option<u64> {
    let line = meminfo.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok().map(|kib| kib * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn models_and_memory_are_read_from_their_files() {
        assert_eq!(cpu_model("processor\t: 0\nmodel name\t: Some CPU\n").as_deref(), Some("Some CPU"));
        let arm = "CPU implementer\t: 0x41\nCPU part\t: 0xd4f\n";
        assert_eq!(cpu_model(arm).as_deref(), Some("Arm implementer 0x41 part 0xd4f"));
        assert_eq!(cpu_model(""), None);
        assert_eq!(total("MemTotal:  2048 kB\n"), Some(2 << 20));
    }

    #[test]
    fn of_the_kernels_choices_the_bracketed_one_is_in_force() {
        assert_eq!(chosen("always [madvise] never").as_deref(), Some("madvise"));
        assert_eq!(chosen("always madvise never"), None);
    }

    #[test]
    fn only_variables_that_are_set_are_listed() {
        let listed = variables(|name| (name == "OMP_NUM_THREADS").then(|| "4".to_owned()));
        assert_eq!(listed.into_iter().collect::<Vec<_>>(), [("OMP_NUM_THREADS".to_owned(), "4".to_owned())]);
    }

    #[test]
    fn a_collected_environment_says_when_and_where() {
        let environment = collect(vec!["gpubench".into()], serde_json::json!({}));
        assert!(environment.started.ends_with('Z'), "{}", environment.started);
        assert!(environment.host.threads >= 1);
        let profile = if cfg!(debug_assertions) { "debug" } else { "release" };
        assert_eq!(environment.build_profile.as_deref(), Some(profile));
    }
}
