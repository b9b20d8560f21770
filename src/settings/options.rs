//! The options of a sweep, each once: its help, its value's type (of `values`), and where it may be written.
//!
//! The command line and sweep files are read into the same struct; what one source leaves open, the one below it says.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use serde::ser::{SerializeMap, Serializer};
use serde::{Deserialize, Serialize};

use super::value::{Place, layer};
pub use super::values::*;
use crate::measure::sampling::Sampling;

/// Yes or no.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum YesNo {
    /// Yes.
    Yes,
    /// No.
    No,
}

const WHAT: &str = "What to measure";
const HOW: &str = "How to measure";

layer! {
/// What to measure, and how, as far as one source says.
#[derive(Args, Clone, Debug, Default, Deserialize, PartialEq)]
#[serde(default, rename_all = "kebab-case")]
pub struct SweepOptions {
    /// Ops to measure, separated by commas, or all. Without --ops and --config: the quick sweep
    #[arg(long, value_name = "LIST", help_heading = WHAT)]
    Table ops: Ops,

    /// Sides N of the N x N operands (of overhead: a count): numbers and ranges, such as 100,500 or 64..4096:x2 (doubling) or 64..1024:+64.
    /// Both ends of a range belong to it. Default: the op's own sizes
    #[arg(long, value_name = "LIST", allow_hyphen_values = true, help_heading = WHAT)]
    Table sizes: Sizes,

    /// Element types: f32, f64 or all. Default: f32; both together take twice as long
    #[arg(long, value_name = "LIST", help_heading = WHAT)]
    Table dtypes: DTypes,

    /// Backends: cpu, cuda, sim (a simulated device, see --sim). Default: cpu,cuda
    #[arg(long, value_name = "LIST", help_heading = WHAT)]
    Table backends: Backends,

    /// Variants, by name or backend/name; * and ? stand for any characters and any one. Default: each backend's
    /// candidates for best, marked * in 'gpubench list'; '*' takes all
    #[arg(long, value_name = "LIST", help_heading = WHAT)]
    Table variants: Variants,

    /// Sweep to run: a TOML file, or a built-in one: quick, article, full, lessons, peers or
    /// cpu-peers
    #[arg(long, value_name = "FILE", help_heading = WHAT)]
    #[serde(skip)]
    Line config: String,

    /// Share of stored entries of sparse operands, above 0 and at most 1. Default: 0.01 for spgemm, 0.05 for spmv
    #[arg(long, value_name = "SHARE", allow_negative_numbers = true, help_heading = WHAT)]
    Table density: Density,

    /// Seed of the operands; the same seed makes the same operands on every machine. Default: 42
    #[arg(long, value_name = "SEED", allow_negative_numbers = true, help_heading = WHAT)]
    File seed: Seed,

    /// State of the caches before each execution: cold (emptied of the operands), hot (back to back) or both.
    /// Default: cold
    #[arg(long, value_name = "STATE", help_heading = HOW)]
    Table cache: CacheStates,

    /// Samples a cell, exactly. Default: as many as --precision needs, from 12 to 2000
    #[arg(long, value_name = "N", allow_negative_numbers = true, help_heading = HOW)]
    Table samples: Samples,

    /// Half the 95 % interval of the median, relative to it, at which a cell has enough samples. Default: 0.5% on the
    /// GPU, 1% on the CPU
    #[arg(long, value_name = "PERCENT", allow_hyphen_values = true, help_heading = HOW)]
    Table precision: Precision,

    /// Sampling of a cell ends after this time though it is not precise, once it has 12 samples; without them after
    /// ten times as long. Default: 2s
    #[arg(long, value_name = "TIME", allow_hyphen_values = true, help_heading = HOW)]
    Table max_time: MaxTime,

    /// Time for the whole run, such as 10m: cells get equal shares, and what they leave goes to those with the widest
    /// intervals
    #[arg(long, value_name = "TIME", allow_hyphen_values = true, help_heading = HOW)]
    File budget: Budget,

    /// Rounds in which a cell is sampled, with other cells in between; each takes one sample at least. Default: 3
    #[arg(long, value_name = "N", allow_negative_numbers = true, help_heading = HOW)]
    Table rounds: Rounds,

    /// Host memory of copies to the GPU and back: pageable (ordinary) or pinned (page-locked). Default: pageable
    #[arg(long, value_name = "KIND", help_heading = HOW)]
    File transfer: Transfer,

    /// Executions before the first sample of a round, at least; 0 warms nothing up. Default: 2, and on while times still
    /// fall. A warm-up ends after 0.5 s (or 1.25 times --max-time) whatever the count
    #[arg(long, value_name = "N", allow_negative_numbers = true, help_heading = HOW)]
    Table warmup: Warmup,

    /// CPU threads; several numbers or 'all', such as 1,all, make rows of their own, named VARIANT@N but for the largest,
    /// which alone stands for the CPU. Default: all that the process may use
    #[arg(long, value_name = "LIST", allow_negative_numbers = true, help_heading = HOW)]
    File threads: ThreadCounts,

    /// Bind CPU threads to processors, one a core; the thread that calls the libraries stays free
    #[arg(long, num_args = 0, default_missing_value = "true", help_heading = HOW)]
    File pin: bool,

    /// BLAS library files to take before those that are found, separated by commas: OpenBLAS, MKL or BLIS. The first of
    /// a kind bears its plain name, such as openblas
    #[arg(long, value_name = "FILE", value_delimiter = ',', help_heading = HOW)]
    #[serde(skip)]
    Line blas: Vec<PathBuf>,

    /// CUDA device, by CUDA's ordinal; several, such as 0,2, or all are measured one after the other, each in a folder
    /// of its own, and compared. Default: 0
    #[arg(long, value_name = "LIST", allow_negative_numbers = true, help_heading = HOW)]
    File device: DeviceChoice,

    /// Give a cell up after this time, such as 500ms, 30s, 5m or 1.5h. Default: 5m
    #[arg(long, value_name = "TIME", allow_hyphen_values = true, help_heading = HOW)]
    File cell_timeout: CellTimeout,

    /// Do not tell how near each cell comes to the most that this machine does: its bandwidths and matrix products,
    /// which else are measured once a machine, in a few seconds, and kept (docs/limits.md)
    #[arg(long = "no-peaks", num_args = 0, default_missing_value = "false", help_heading = HOW)]
    File peaks: bool,

    /// Backends that must be usable; else the run ends with code 2 before any work
    #[arg(long, value_name = "LIST", help_heading = HOW)]
    File require: Backends,

    /// Script of the simulated device, for --backends sim
    #[arg(long, value_name = "FILE", help_heading = HOW)]
    File sim: PathBuf,

    /// Whether each backend gets a process of its own; with no, a crash ends the run
    #[arg(long, value_name = "YES|NO", hide = true, help_heading = HOW)]
    #[serde(skip)]
    Line isolate: YesNo,

    /// Whether cells are added at sizes near crossovers; `run` alone has arguments for it.
    #[arg(skip)]
    File refine: bool,

    /// How charts look; `run` alone has an argument for it.
    #[arg(skip)]
    File theme: ThemeName,
}
}

/// The keys of a sweep file, for the help of `run`: the names of the options, those most in use first.
pub const KEYS: &str = "\
Keys of a table: ops, sizes, dtypes, backends, variants, density, cache, samples, precision, max-time, rounds, warmup. \
At the top also: seed, threads, pin, device, transfer, budget, cell-timeout, refine, peaks, require, sim, theme.";

impl SweepOptions {
    /// The keys that a sweep file takes above its tables, or in one of them.
    pub fn keys(in_table: bool) -> impl Iterator<Item = String> {
        let is_taken = move |place: Place| place == Place::Table || (place == Place::File && !in_table);
        let taken = SweepOptions::OPTIONS.iter().filter(move |(_, place)| is_taken(*place));
        taken.map(|(field, _)| field.replace('_', "-"))
    }

    /// How cells are sampled.
    pub fn sampling(&self) -> Sampling {
        let standard = Sampling::default();
        Sampling {
            warmup: self.warmup.map_or(standard.warmup, |warmup| warmup.0),
            samples: self.samples.map(|samples| samples.0),
            precision: self.precision.map(|precision| precision.0),
            max_time_s: self.max_time.map_or(standard.max_time_s, |time| time.0),
            rounds: self.rounds.map_or(standard.rounds, |rounds| rounds.0),
        }
    }

    /// Backends without which the run must not start.
    pub fn required(&self) -> &[String] {
        self.require.as_ref().map_or(&[], |named| &named.0)
    }

    /// Whether each backend runs in a worker process of its own.
    pub fn isolates(&self) -> bool {
        self.isolate != Some(YesNo::No)
    }
}

/// What holds for the whole run, as a report has it. What sweeps and workers are asked for is there in their own settings.
impl Serialize for SweepOptions {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("seed", &self.seed.unwrap_or_default().0)?;
        map.serialize_entry("require", self.required())?;
        map.serialize_entry("cell_timeout_s", &self.cell_timeout.unwrap_or_default().0)?;
        map.serialize_entry("budget_s", &self.budget.map(|budget| budget.0))?;
        map.serialize_entry("refine", &self.refine.unwrap_or(false))?;
        map.serialize_entry("peaks", &self.peaks.unwrap_or(true))?;
        map.serialize_entry("isolate", &self.isolates())?;
        map.end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_layer_s_own_value_hides_the_one_below_and_only_that() {
        let (one, two) = (Some(Sizes(vec![1])), Some(Sizes(vec![2])));
        let above = SweepOptions { sizes: one.clone(), samples: Some(Samples(5)), ..SweepOptions::default() };
        let below = SweepOptions { sizes: two, density: Some(Density(0.5)), ..SweepOptions::default() };
        let expected = SweepOptions { sizes: one, density: Some(Density(0.5)), ..above.clone() };
        assert_eq!(above.over(&below), expected);
    }

    #[test]
    fn the_help_names_the_keys_that_sweep_files_take() {
        let named = |text: &str| -> Vec<String> {
            let (_, list) = text.split_once(": ").unwrap();
            let mut keys: Vec<String> = list.trim_end_matches('.').split(", ").map(str::to_owned).collect();
            keys.sort_unstable();
            keys
        };
        let (table, top) = KEYS.split_once(". ").unwrap();
        let [mut of_tables, mut others] =
            [true, false].map(|in_table| SweepOptions::keys(in_table).collect::<Vec<_>>());
        others.retain(|key| !of_tables.contains(key));
        of_tables.sort_unstable();
        others.sort_unstable();
        assert_eq!((named(table), named(top)), (of_tables, others));
    }
}
