//! The table of facts: what is looked at, how much a difference matters by default, and which times it bears on.

use std::collections::BTreeSet;

use Concerns::{Clocks, Cpu, Gpu, Run};
use Tolerance::{Absolute, Relative};
use gpubench_model::Side;
use gpubench_model::report::{Clock, Row};

use super::difference::Severity::{self, Block, Ignore, Warn};
use super::read::{Seen, machine, run};
use super::value::{Reading, Tolerance};
use crate::runs::Runs;

/// Something about a machine, its libraries or the settings of a run that times may depend on.
pub struct Fact {
    /// The word by which a policy file names it.
    pub name: &'static str,
    /// What it is, in one line.
    pub summary: &'static str,
    /// The times that it bears on.
    pub concerns: Concerns,
    /// How much a difference matters unless a policy says otherwise.
    pub severity: Severity,
    /// How far figures may lie apart.
    pub(super) tolerance: Tolerance,
    /// What it means that a run does not tell it, where that means something.
    pub(super) absent: Option<&'static str>,
    /// How it is read out of a report.
    pub(super) read: fn(&Seen) -> Vec<Reading>,
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
    Fact { name, summary, concerns, severity, tolerance: Tolerance::None, absent: None, read }
}

impl Fact {
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
    fact("gpu-model", Block, Gpu, machine::gpu_model, "name of the GPU"),
    fact("gpu-multiprocessors", Block, Gpu, machine::gpu_multiprocessors, "multiprocessors that the run can use: fewer in a slice of a divided GPU"),
    fact("mig-mode", Block, Gpu, machine::mig_mode, "whether the GPU is divided into instances"),
    fact("cpu-model", Block, Cpu, machine::cpu_model, "model of the CPU"),
    fact("build-profile", Block, Clocks, run::build_profile, "whether gpubench was built as `release` or `debug`"),
    fact("cpu-threads", Warn, Cpu, machine::cpu_threads, "threads that the CPU backend used, and its libraries where they used another number"),
    fact("processors", Warn, Cpu, machine::processors, "processors that the process may use"),
    fact("cpu-quota", Warn, Cpu, machine::cpu_quota, "processors' worth of time that the control group allows").within(Absolute(0.01)),
    fact("governor", Warn, Cpu, machine::governor, "frequency governor"),
    fact("smt", Warn, Cpu, machine::smt, "whether processors share cores"),
    fact("numa", Warn, Cpu, machine::numa, "NUMA nodes with processors"),
    fact("last-level-cache", Warn, Cpu, machine::last_level_cache, "bytes of the last-level caches, within 1 %").within(Relative(0.01)),
    fact("simd", Warn, Cpu, machine::simd, "vector instructions of the CPU kernels"),
    fact("blas", Warn, Cpu, machine::libraries, "name and version of each BLAS that both sides used"),
    fact("power-limit", Warn, Gpu, machine::power_limit, "power that the driver enforces, within 1 W").within(Absolute(1.0)),
    fact("gpu-clock-limit", Warn, Gpu, machine::gpu_clock_limits, "clocks that the driver allows, within 1 MHz").within(Absolute(1.0)),
    fact("gpu-memory", Warn, Gpu, machine::gpu_memory, "memory of the GPU, within 1 %").within(Relative(0.01)),
    fact("ecc", Warn, Gpu, machine::ecc, "whether the GPU's memory corrects errors"),
    fact("driver", Warn, Gpu, machine::driver, "version of the GPU's driver"),
    fact("cuda-version", Warn, Gpu, machine::cuda_version, "version of CUDA that the driver speaks"),
    fact("gpu-libraries", Warn, Gpu, machine::libraries, "name and version of each library of the GPU that both sides used"),
    fact("gpu-timing", Warn, Gpu, machine::gpu_timing, "whether the GPU was held back until all work of a sample was queued"),
    fact("transfer", Warn, Gpu, run::transfer, "host memory of copies to the GPU and back"),
    fact("precision", Warn, Run, run::precision, "precision asked for, by op"),
    fact("max-time", Warn, Run, run::max_time, "seconds of sampling after which a cell stops, by op"),
    fact("rounds", Warn, Run, run::rounds, "rounds asked for, by op"),
    fact("samples", Warn, Run, run::samples, "samples asked for, by op"),
    fact("warmup", Warn, Run, run::warmup, "executions before the first sample, by op"),
    fact("budget", Warn, Run, run::budget, "time that the whole run was given"),
    fact("isolation", Warn, Run, run::isolation, "whether each backend ran in a process of its own"),
    fact("variables", Warn, Run, run::variables, "environment variables that change results, such as `OMP_NUM_THREADS`").when_absent("unset"),
    fact("gpubench-version", Warn, Run, run::gpubench_version, "version of gpubench"),
    fact("gpubench-revision", Ignore, Run, run::gpubench_revision, "git revision of gpubench's source"),
    fact("git-revision", Ignore, Run, run::git_revision, "git revision of the folder of the run: what the comparison is about"),
    fact("host-name", Ignore, Run, machine::host_name, "name of the machine"),
    fact("os", Ignore, Run, machine::os, "operating system"),
    fact("kernel", Ignore, Run, machine::kernel, "version of the kernel"),
    fact("memory", Ignore, Run, machine::memory, "main memory, within 1 %").within(Relative(0.01)),
    fact("gpu-ordinal", Ignore, Gpu, machine::gpu_ordinal, "number of the GPU"),
    fact("library-paths", Ignore, Run, machine::library_paths, "where libraries were found"),
    fact("place-variables", Ignore, Run, run::place_variables, "environment variables that say where something is, such as `CUDA_HOME`").when_absent("unset"),
    fact("sim-script", Ignore, Run, run::sim_script, "script of the simulated device, and its seed"),
];
