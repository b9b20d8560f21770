//! The table of compared facts, each with its default severity and the times that it affects.

use std::collections::BTreeSet;

use Concerns::{Clocks, Cpu, Gpu, Run};
use Read::{By, Description, Host};
use Tolerance::{Absolute, Relative, UpTo};
use gpubench_report::Side;
use gpubench_report::report::{self, Clock, Report, Row, machine, variables};
use gpubench_text::percent;
use serde_json::Value;

use super::Severity::{self, Block, Ignore, Inconclusive, Warn};
use super::Tolerance;
use super::readers::{self, FactSource, FactValue, one, sampling};
use crate::compare::Runs;

/// A property of a machine, its libraries or the settings of a run that times may depend on.
pub struct EnvironmentFact {
    /// Name in policy files.
    pub name: &'static str,
    /// Description in one line, for the documentation.
    pub summary: &'static str,
    pub(super) concerns: Concerns,
    /// Default severity of a difference.
    pub severity: Severity,
    /// Largest difference between numbers that still counts as equal.
    pub(super) tolerance: Tolerance,
    /// The meaning of its absence in a run, if that has one.
    pub(super) absent: Option<Absent>,
    read: Read,
}

/// Returns the meaning of the absence of an item in a report; `None` if it has none there.
type Absent = fn(&Report, &str) -> Option<&'static str>;

#[derive(Clone, Copy)]
enum Read {
    Host(&'static machine::Fact<report::Host>),
    Description(&'static machine::Fact<Value>),
    /// Several values, or one computed from several facts; with its name.
    By(&'static str, fn(&FactSource) -> Vec<FactValue>),
}

/// The times that a fact affects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Concerns {
    /// All times.
    Run,
    /// Times by a real clock.
    Clocks,
    /// Times of a CPU backend by a real clock.
    Cpu,
    /// Times of a GPU backend.
    Gpu,
}

impl Concerns {
    pub(super) const ALL: [Concerns; 4] = [Run, Clocks, Cpu, Gpu];

    /// Returns the words of the documentation's table.
    pub fn words(self) -> &'static str {
        match self {
            Run => "all",
            Clocks => "by a real clock",
            Cpu => "on the CPU",
            Gpu => "on the GPU",
        }
    }

    fn covers(self, row: &Row) -> bool {
        let is_real = row.execute.as_ref().is_some_and(|execute| execute.clock != Clock::Simulated);
        match self {
            Run => true,
            Clocks => is_real,
            Cpu => is_real && row.side == Side::Cpu,
            Gpu => row.execute.is_some() && row.side == Side::Gpu,
        }
    }

    /// Returns the backends for which both sides have such times; `None` if there are none and the fact does not matter.
    pub(super) fn backends<'a>(self, old: &'a Runs, new: &'a Runs) -> Option<BTreeSet<&'a str>> {
        let [old, new] = [old, new].map(|side| -> BTreeSet<&str> {
            side.rows().filter(|row| self.covers(row)).map(|row| row.backend.as_str()).collect()
        });
        let both: BTreeSet<&str> = old.intersection(&new).copied().collect();
        (self == Run || !both.is_empty()).then_some(both)
    }
}

/// Creates a fact that is compared for equality and whose absence has no meaning.
const fn fact(read: Read, severity: Severity, concerns: Concerns, summary: &'static str) -> EnvironmentFact {
    let name = match read {
        Host(fact) => fact.name,
        Description(fact) => fact.name,
        By(name, _) => name,
    };
    EnvironmentFact { name, summary, concerns, severity, tolerance: Tolerance::None, absent: None, read }
}

impl EnvironmentFact {
    pub(super) fn values(&self, source: &FactSource) -> Vec<FactValue> {
        match self.read {
            Host(fact) => readers::host(source, fact),
            Description(fact) => source.described(|description| fact.of(description)),
            By(_, read) => read(source),
        }
    }

    const fn within(self, tolerance: Tolerance) -> EnvironmentFact {
        EnvironmentFact { tolerance, ..self }
    }

    const fn when_absent(self, meaning: Absent) -> EnvironmentFact {
        EnvironmentFact { absent: Some(meaning), ..self }
    }
}

/// Every fact, in the order in which differences of equal severity are shown.
#[rustfmt::skip] // One line per fact, like the table in the documentation.
pub static FACTS: &[EnvironmentFact] = &[
    fact(Description(&machine::GPU_MODEL), Block, Gpu, "name of the GPU"),
    fact(Description(&machine::GPU_MULTIPROCESSORS), Block, Gpu, "multiprocessors that the run can use: fewer in a slice of a divided GPU"),
    fact(Description(&machine::MIG_MODE), Block, Gpu, "whether the GPU is divided into instances"),
    fact(By("cpu-model", readers::cpu_model), Block, Cpu, "model of the CPU, with its family, model number and stepping, since generations may share a name"),
    fact(By("build-profile", |source| one(source.report.environment.build_profile.as_deref())), Block, Clocks, "whether gpubench was built as `release` or `debug`"),
    fact(By("other-programs", |source| source.report.environment.other_programs.map(readers::share).into_iter().collect()), Inconclusive, Cpu, "share of the CPUs' time that other programs used when the run started, above 10 % on either side").within(UpTo(0.1)),
    fact(By("gpu-programs", readers::gpu_programs), Inconclusive, Gpu, "other programs on the GPU").when_absent(readers::no_gpu_program),
    fact(By("cpu-threads", readers::cpu_threads), Warn, Cpu, "threads that the CPU backend could use, and its libraries where they used another number for all rows"),
    fact(Host(&machine::PROCESSORS), Warn, Cpu, "CPUs that the process may use"),
    fact(By("cpu-quota", readers::cpu_quota), Warn, Cpu, "CPU time that the control group allows, in CPUs").within(Absolute(0.01)),
    fact(By("quota-pauses", readers::quota_pauses), Warn, Cpu, "share of the CPU quota's periods in which the control group was paused, within 5 percentage points").within(Absolute(0.05)),
    fact(By("pinning", |source| source.listed("pinned", "not bound")), Warn, Cpu, "CPUs to which `--pin` bound the threads"),
    fact(Host(&machine::HUGE_PAGES), Warn, Cpu, "policy of transparent huge pages"),
    fact(By("numa-interleaving", |source| source.listed("memory_interleaved_over_nodes", "none")), Warn, Cpu, "NUMA nodes over which memory was interleaved"),
    fact(By("thread-speeds", readers::thread_speeds), Warn, Cpu, "time of the slowest thread over that of the fastest, within 25 %").within(Relative(0.25)),
    fact(Host(&machine::GOVERNOR), Warn, Cpu, "frequency governor"),
    fact(Host(&machine::SMT), Warn, Cpu, "whether CPUs share cores"),
    fact(Host(&machine::NUMA), Warn, Cpu, "NUMA nodes with CPUs"),
    fact(Host(&machine::LAST_LEVEL_CACHE), Warn, Cpu, "bytes of the last-level caches, within 1 %").within(Relative(0.01)),
    fact(Description(&machine::SIMD), Warn, Cpu, "vector instructions of the CPU kernels"),
    fact(By("blas", readers::libraries), Warn, Cpu, "name and version of each BLAS and package that both sides used"),
    fact(Description(&machine::POWER_LIMIT), Warn, Gpu, "power that the driver enforces, within 1 W").within(Absolute(1.0)),
    fact(By("gpu-clock-limit", readers::gpu_clock_limits), Warn, Gpu, "clocks that the driver allows, within 1 MHz").within(Absolute(1.0)),
    fact(Description(&machine::GPU_MEMORY), Warn, Gpu, "memory of the GPU, within 1 %").within(Relative(0.01)),
    fact(Description(&machine::ECC), Warn, Gpu, "whether the GPU's memory corrects errors"),
    fact(Description(&machine::DRIVER), Warn, Gpu, "version of the GPU's driver"),
    fact(Description(&machine::CUDA_VERSION), Warn, Gpu, "version of CUDA that the driver supports"),
    fact(By("gpu-libraries", readers::libraries), Warn, Gpu, "name and version of each library of the GPU and package that both sides used"),
    fact(By("gpu-throttling", readers::throttling), Warn, Gpu, "share of the samples taken at a throttled clock, within 10 percentage points").within(Absolute(0.1)),
    fact(Description(&machine::GPU_TIMING), Warn, Gpu, "whether a blocking kernel delayed the GPU until all work of a sample was queued"),
    fact(Description(&machine::CACHE_FLUSH), Warn, Clocks, "method by which a Python backend empties the caches"),
    fact(By("transfer", readers::transfer), Warn, Gpu, "host memory of copies to the GPU and back; `both` counts as `pageable`"),
    fact(By("precision", |source| sampling(source, "precision", "by default", precision)), Warn, Run, "requested precision, by op"),
    fact(By("max-time", |source| sampling(source, "max_time_s", "none", |seconds| format!("{seconds} s"))), Warn, Run, "seconds of sampling after which a cell stops, by op"),
    fact(By("rounds", |source| sampling(source, "rounds", "by default", |rounds| rounds.to_string())), Warn, Run, "requested rounds, by op"),
    fact(By("samples", |source| sampling(source, "samples", "until precise", |samples| samples.to_string())), Warn, Run, "requested samples, by op"),
    fact(By("warmup", |source| sampling(source, "warmup", "by default", |executions| executions.to_string())), Warn, Run, "executions before the first sample, by op"),
    fact(By("isolation", readers::isolation), Warn, Run, "whether each backend ran in its own process"),
    fact(By("variables", |source| readers::set(source, |name| !variables::is_location(name))), Warn, Run, "environment variables that change results, such as `OMP_NUM_THREADS`").when_absent(readers::unset),
    fact(By("gpubench-version", |source| one(Some(&source.report.environment.gpubench_version))), Warn, Run, "version of gpubench"),
    fact(By("gpubench-revision", |source| one(source.report.environment.gpubench_revision.as_deref())), Ignore, Run, "git revision of gpubench's source"),
    fact(By("git-revision", |source| one(source.report.environment.git_revision.as_deref())), Ignore, Run, "git revision of the folder of the run, the subject of the comparison"),
    fact(Host(&machine::HOST_NAME), Ignore, Run, "name of the machine"),
    fact(Host(&machine::OS), Ignore, Run, "operating system"),
    fact(Host(&machine::KERNEL), Ignore, Run, "version of the kernel"),
    fact(Host(&machine::MEMORY), Ignore, Run, "main memory, within 1 %").within(Relative(0.01)),
    fact(Description(&machine::GPU_ORDINAL), Ignore, Gpu, "number of the GPU"),
    fact(By("library-paths", readers::library_paths), Ignore, Run, "where libraries were found"),
    fact(By("path-variables", |source| readers::set(source, variables::is_location)), Ignore, Run, "environment variables that contain paths, such as `CUDA_HOME`").when_absent(readers::unset),
    fact(Host(&machine::LOAD), Ignore, Cpu, "load average when the run started, within 0.5; it counts the run before, so `other-programs` is the measure").within(Absolute(0.5)),
    fact(Description(&machine::PERSISTENCE), Ignore, Gpu, "whether the driver stays loaded without a program"),
    fact(By("sim-script", readers::sim_script), Ignore, Run, "script of the simulated device, and its seed"),
];

/// Formats a relative half-width. Six decimals distinguish all values that people write.
fn precision(share: f64) -> String {
    format!("{} %", percent::rounded(share, 6))
}
