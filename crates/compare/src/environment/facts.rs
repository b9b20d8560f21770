//! The table of facts: what is looked at, how much a difference matters by default, and which times it bears on.

use std::collections::BTreeSet;

use Concerns::{Clocks, Cpu, Gpu, Run};
use Tolerance::{Absolute, Relative};
use gpubench_model::Side;
use gpubench_model::report::{Clock, Host, Row, machine};
use serde_json::Value;

use super::difference::Severity::{self, Block, Ignore, Warn};
use super::read::{self, Seen};
use super::value::{Reading, Tolerance};
use crate::runs::Runs;

/// Something about a machine, its libraries or the settings of a run that times may depend on.
pub struct Fact {
    /// The word by which a policy file names it.
    pub name: &'static str,
    /// What it is, in one line.
    pub summary: &'static str,
    /// The times that it bears on.
    pub(crate) concerns: Concerns,
    /// How much a difference matters unless a policy says otherwise.
    pub severity: Severity,
    /// How far figures may lie apart.
    pub(super) tolerance: Tolerance,
    /// What it means that a run does not tell it, where that means something.
    pub(super) absent: Option<&'static str>,
    read: Read,
}

/// How a fact is read out of a report.
#[derive(Clone, Copy)]
enum Read {
    Host(&'static machine::Fact<Host>),
    Said(&'static machine::Fact<Value>),
    /// Several readings, or one that is made of several facts.
    By(fn(&Seen) -> Vec<Reading>),
}

/// The times that a fact bears on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Concerns {
    /// All.
    Run,
    /// Those by a real clock.
    Clocks,
    /// Those of a CPU backend by a real clock.
    Cpu,
    /// Those of a GPU backend.
    Gpu,
}

impl Concerns {
    /// The times in words.
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

    /// The backends of which both sides have such times; `None` when there are none, so that the fact does not matter.
    pub(super) fn backends<'a>(self, old: &'a Runs, new: &'a Runs) -> Option<BTreeSet<&'a str>> {
        let [old, new] = [old, new].map(|side| -> BTreeSet<&str> {
            let rows = side.runs.iter().flat_map(|run| &run.report.rows);
            rows.filter(|row| self.covers(row)).map(|row| row.backend.as_str()).collect()
        });
        let both: BTreeSet<&str> = old.intersection(&new).copied().collect();
        (self == Run || !both.is_empty()).then_some(both)
    }
}

/// A fact whose value is the same or is not, and of which silence means nothing.
const fn fact(
    name: &'static str,
    severity: Severity,
    concerns: Concerns,
    read: fn(&Seen) -> Vec<Reading>,
    summary: &'static str,
) -> Fact {
    of(name, severity, concerns, Read::By(read), summary)
}

const fn host(
    fact: &'static machine::Fact<Host>,
    severity: Severity,
    concerns: Concerns,
    summary: &'static str,
) -> Fact {
    of(fact.name, severity, concerns, Read::Host(fact), summary)
}

const fn said(
    fact: &'static machine::Fact<Value>,
    severity: Severity,
    concerns: Concerns,
    summary: &'static str,
) -> Fact {
    of(fact.name, severity, concerns, Read::Said(fact), summary)
}

const fn of(
    name: &'static str,
    severity: Severity,
    concerns: Concerns,
    read: Read,
    summary: &'static str,
) -> Fact {
    Fact { name, summary, concerns, severity, tolerance: Tolerance::None, absent: None, read }
}

impl Fact {
    pub(super) fn readings(&self, seen: &Seen) -> Vec<Reading> {
        match self.read {
            Read::Host(fact) => read::host(seen, fact),
            Read::Said(fact) => read::said(seen, fact),
            Read::By(read) => read(seen),
        }
    }

    const fn within(self, tolerance: Tolerance) -> Fact {
        Fact { tolerance, ..self }
    }

    const fn when_absent(self, meaning: &'static str) -> Fact {
        Fact { absent: Some(meaning), ..self }
    }
}

/// Every fact, in the order in which differences of equal severity are told.
#[rustfmt::skip] // One line a fact, as the table in the documentation has it.
pub static FACTS: &[Fact] = &[
    said(&machine::GPU_MODEL, Block, Gpu, "name of the GPU"),
    said(&machine::GPU_MULTIPROCESSORS, Block, Gpu, "multiprocessors that the run can use: fewer in a slice of a divided GPU"),
    said(&machine::MIG_MODE, Block, Gpu, "whether the GPU is divided into instances"),
    host(&machine::CPU_MODEL, Block, Cpu, "model of the CPU"),
    fact("build-profile", Block, Clocks, read::run::build_profile, "whether gpubench was built as `release` or `debug`"),
    fact("cpu-threads", Warn, Cpu, read::machine::cpu_threads, "threads that the CPU backend used, and its libraries where they used another number"),
    host(&machine::PROCESSORS, Warn, Cpu, "processors that the process may use"),
    fact("cpu-quota", Warn, Cpu, read::machine::cpu_quota, "processors' worth of time that the control group allows").within(Absolute(0.01)),
    host(&machine::GOVERNOR, Warn, Cpu, "frequency governor"),
    host(&machine::SMT, Warn, Cpu, "whether processors share cores"),
    host(&machine::NUMA, Warn, Cpu, "NUMA nodes with processors"),
    host(&machine::LAST_LEVEL_CACHE, Warn, Cpu, "bytes of the last-level caches, within 1 %").within(Relative(0.01)),
    said(&machine::SIMD, Warn, Cpu, "vector instructions of the CPU kernels"),
    fact("blas", Warn, Cpu, read::machine::libraries, "name and version of each BLAS that both sides used"),
    said(&machine::POWER_LIMIT, Warn, Gpu, "power that the driver enforces, within 1 W").within(Absolute(1.0)),
    fact("gpu-clock-limit", Warn, Gpu, read::machine::gpu_clock_limits, "clocks that the driver allows, within 1 MHz").within(Absolute(1.0)),
    said(&machine::GPU_MEMORY, Warn, Gpu, "memory of the GPU, within 1 %").within(Relative(0.01)),
    said(&machine::ECC, Warn, Gpu, "whether the GPU's memory corrects errors"),
    said(&machine::DRIVER, Warn, Gpu, "version of the GPU's driver"),
    said(&machine::CUDA_VERSION, Warn, Gpu, "version of CUDA that the driver speaks"),
    fact("gpu-libraries", Warn, Gpu, read::machine::libraries, "name and version of each library of the GPU that both sides used"),
    said(&machine::GPU_TIMING, Warn, Gpu, "whether the GPU was held back until all work of a sample was queued"),
    fact("transfer", Warn, Gpu, read::run::transfer, "host memory of copies to the GPU and back"),
    fact("precision", Warn, Run, read::run::precision, "precision asked for, by op"),
    fact("max-time", Warn, Run, read::run::max_time, "seconds of sampling after which a cell stops, by op"),
    fact("rounds", Warn, Run, read::run::rounds, "rounds asked for, by op"),
    fact("samples", Warn, Run, read::run::samples, "samples asked for, by op"),
    fact("warmup", Warn, Run, read::run::warmup, "executions before the first sample, by op"),
    fact("budget", Warn, Run, read::run::budget, "time that the whole run was given"),
    fact("isolation", Warn, Run, read::run::isolation, "whether each backend ran in a process of its own"),
    fact("variables", Warn, Run, read::run::variables, "environment variables that change results, such as `OMP_NUM_THREADS`").when_absent("unset"),
    fact("gpubench-version", Warn, Run, read::run::gpubench_version, "version of gpubench"),
    fact("gpubench-revision", Ignore, Run, read::run::gpubench_revision, "git revision of gpubench's source"),
    fact("git-revision", Ignore, Run, read::run::git_revision, "git revision of the folder of the run: what the comparison is about"),
    host(&machine::HOST_NAME, Ignore, Run, "name of the machine"),
    host(&machine::OS, Ignore, Run, "operating system"),
    host(&machine::KERNEL, Ignore, Run, "version of the kernel"),
    host(&machine::MEMORY, Ignore, Run, "main memory, within 1 %").within(Relative(0.01)),
    said(&machine::GPU_ORDINAL, Ignore, Gpu, "number of the GPU"),
    fact("library-paths", Ignore, Run, read::machine::library_paths, "where libraries were found"),
    fact("place-variables", Ignore, Run, read::run::place_variables, "environment variables that say where something is, such as `CUDA_HOME`").when_absent("unset"),
    fact("sim-script", Ignore, Run, read::run::sim_script, "script of the simulated device, and its seed"),
];
