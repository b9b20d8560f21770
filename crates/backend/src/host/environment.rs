//! Collects the environment of a report: host, revisions, environment variables.

use std::fs;
use std::io::{self, Read};
use std::sync::OnceLock;

use gpubench_report::data::hash::fnv1a;
use gpubench_report::report::{Environment, Host, now, variables};

use crate::host::{cpu_quota, git, memory, process, processors};

/// The git revision of this build, if `GPUBENCH_REVISION` was set for the compiler.
pub const BUILD_REVISION: Option<&str> = option_env!("GPUBENCH_REVISION");

/// Returns version and revision of this build: `0.1.0 (1a2b3c4d)`, without a revision that it does not know.
pub fn version_text() -> String {
    let version = env!("CARGO_PKG_VERSION");
    BUILD_REVISION.map_or(version.to_owned(), |revision| format!("{version} ({revision})"))
}

/// Returns the environment of a run that starts now. The executor fills in times and backends.
pub fn collect(argv: Vec<String>, settings: serde_json::Value) -> Environment {
    Environment {
        gpubench_version: env!("CARGO_PKG_VERSION").into(),
        gpubench_revision: BUILD_REVISION.map(str::to_owned),
        build_profile: Some(if cfg!(debug_assertions) { "debug" } else { "release" }.into()),
        program_hash: program_hash(),
        argv,
        git_revision: git::revision(),
        started: now().to_string(),
        host: host(),
        settings,
        variables: variables::recorded(set_variables()),
        variables_rule: variables::RULE,
        ..Environment::default()
    }
}

/// Returns the hash of the file that this process runs; `None` where it cannot be read.
fn program_hash() -> Option<String> {
    static HASH: OnceLock<Option<String>> = OnceLock::new();
    let hash = || -> io::Result<String> {
        let mut file = fs::File::open(process::running_file()?)?;
        let (mut hash, mut piece) = (0, vec![]);
        while (&mut file).take(1 << 16).read_to_end(&mut piece)? > 0 {
            hash = fnv1a(hash, &piece);
            piece.clear();
        }
        Ok(format!("{hash:016x}"))
    };
    HASH.get_or_init(|| hash().ok()).clone()
}

/// Returns the machine of this process. Values that the system does not report stay empty.
pub fn host() -> Host {
    let threads = std::thread::available_parallelism().map_or(1, |n| n.get() as u64);
    let [cpuinfo, meminfo] =
        ["/proc/cpuinfo", "/proc/meminfo"].map(|file| fs::read_to_string(file).unwrap_or_default());
    Host {
        name: first_line("/proc/sys/kernel/hostname").unwrap_or_default(),
        os: operating_system(),
        cpu: cpu_model(&cpuinfo).unwrap_or_default(),
        cpu_identity: cpu_identity(&cpuinfo),
        threads,
        memory_bytes: memory::amount(&meminfo, "MemTotal:")
            .and_then(|bytes| bytes.try_into().ok())
            .unwrap_or(0),
        governor: first_line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
        smt: processors::smt(),
        numa_nodes: processors::numa_nodes(),
        cpu_quota: cpu_quota::quota(),
        transparent_huge_pages: first_line("/sys/kernel/mm/transparent_hugepage/enabled")
            .and_then(|line| chosen(&line)),
        last_level_cache_bytes: processors::last_level_cache_bytes(),
        load_average: processors::load_average(),
    }
}

/// Returns the environment variables of this process whose names are text.
pub fn set_variables() -> impl Iterator<Item = (String, String)> {
    std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.to_string_lossy().into_owned())))
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

/// Returns a field of the first CPU in a `/proc/cpuinfo`.
fn cpu_field<'a>(cpuinfo: &'a str, name: &str) -> Option<&'a str> {
    cpuinfo.lines().find_map(|line| {
        let (key, value) = line.split_once(':')?;
        (key.trim() == name && !value.trim().is_empty()).then(|| value.trim())
    })
}

/// Returns the first CPU's model: `model name` on x86, implementer and part on Arm.
fn cpu_model(cpuinfo: &str) -> Option<String> {
    let field = |name| cpu_field(cpuinfo, name);
    field("model name").map(str::to_owned).or_else(|| {
        let (implementer, part) = (field("CPU implementer")?, field("CPU part")?);
        Some(format!("Arm implementer {implementer} part {part}"))
    })
}

/// Returns the numbers that distinguish CPUs of one model name: family, model and stepping on x86; implementer, part,
/// variant and revision on Arm. Virtual machines often have one name for all generations.
fn cpu_identity(cpuinfo: &str) -> Option<String> {
    const X86: [(&str, &str); 3] = [("family", "cpu family"), ("model", "model"), ("stepping", "stepping")];
    const ARM: [(&str, &str); 4] = [
        ("implementer", "CPU implementer"),
        ("part", "CPU part"),
        ("variant", "CPU variant"),
        ("revision", "CPU revision"),
    ];
    let named = |fields: &[(&str, &str)]| -> Option<String> {
        let known = fields.iter().map(|(word, key)| Some(format!("{word} {}", cpu_field(cpuinfo, key)?)));
        Some(known.collect::<Option<Vec<String>>>()?.join(", "))
    };
    named(&X86).or_else(|| named(&ARM))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn models_are_read_on_any_architecture() {
        assert_eq!(cpu_model("processor\t: 0\nmodel name\t: Some CPU\n").as_deref(), Some("Some CPU"));
        let arm = "CPU implementer\t: 0x41\nCPU part\t: 0xd4f\n";
        assert_eq!(cpu_model(arm).as_deref(), Some("Arm implementer 0x41 part 0xd4f"));
        assert_eq!((cpu_model(""), cpu_identity("")), (None, None));
    }

    /// The texts are those of two generations of servers, as virtual machines show them.
    #[test]
    fn generations_of_cpus_with_one_name_are_told_apart() {
        let intel = |model: u32, stepping: u32| {
            let name = "Intel(R) Xeon(R) Processor";
            format!("cpu family\t: 6\nmodel\t\t: {model}\nmodel name\t: {name}\nstepping\t: {stepping}\n")
        };
        let [old, new] = [intel(85, 7), intel(143, 8)];
        assert_eq!(cpu_model(&old), cpu_model(&new));
        assert_eq!(cpu_identity(&old).as_deref(), Some("family 6, model 85, stepping 7"));
        assert_ne!(cpu_identity(&old), cpu_identity(&new));
        assert_ne!(cpu_identity(&intel(85, 4)), cpu_identity(&old), "Skylake and Cascade Lake");
        let arm = "CPU implementer\t: 0x41\nCPU architecture: 8\nCPU variant\t: 0x1\nCPU part\t: 0xd4f\nCPU revision\t: 1\n";
        let expected = "implementer 0x41, part 0xd4f, variant 0x1, revision 1";
        assert_eq!(cpu_identity(arm).as_deref(), Some(expected));
    }

    #[test]
    fn of_the_kernels_choices_the_bracketed_one_is_in_force() {
        assert_eq!(chosen("always [madvise] never").as_deref(), Some("madvise"));
        assert_eq!(chosen("always madvise never"), None);
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
