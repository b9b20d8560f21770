//! The options of a sweep, each once: its help, its value's type (of `option_types`), and where it may be written.
//!
//! The command line and sweep files are read into the same struct; what one source leaves open, the one below it says.

use std::path::{Path, PathBuf};

use clap::{ArgAction, Args};
use gpubench_text::escape::shell_word;
use serde::ser::{SerializeMap, Serializer};
use serde::{Deserialize, Serialize};

use super::names;
pub use super::option_types::*;
use super::syntax::{OptionScope, layer};
use crate::backend::external::NamedCommand;
use crate::measure::sampling::Sampling;

const WHAT: &str = "What to measure";
const HOW: &str = "How to measure";

layer! {
/// What to measure, and how, as far as one source says.
#[derive(Args, Clone, Debug, Default, Deserialize, PartialEq)]
#[serde(default, rename_all = "kebab-case")]
pub struct SweepOptions {
    /// Operations to measure, separated by commas, or all; a Python file defines operations of your own: mine.py. Without
    /// --ops and --config, gpubench runs the quick sweep
    #[arg(long, value_name = "LIST", help_heading = WHAT)]
    Table ops: Ops,

    /// Sizes N of the N x N operands: numbers and ranges, such as 100,500 or 64..4096:x2 (doubling) or 64..1024:+64.
    /// Default: the op's own sizes
    #[arg(long, value_name = "LIST", allow_hyphen_values = true, help_heading = WHAT)]
    Table sizes: Sizes,

    /// Shapes of operands that are not square, in the op's order (matmul: m x n x k), such as 4096x512x64, or NxNx32 with --sizes, or
    /// by name: m=4096,n=512,k=64..1024:x2
    #[arg(long, value_name = "LIST", allow_hyphen_values = true, help_heading = WHAT)]
    Table shape: Shapes,

    /// Numbers of problems of one shape that one call computes, such as 1,64 or 1..1024:x2
    #[arg(long, value_name = "LIST", allow_hyphen_values = true, help_heading = WHAT)]
    Table batch: Batches,

    /// Layouts of the factors of a product: nn, nt, tn or tt, where t is one that is stored transposed. Default: nn
    #[arg(long, value_name = "LIST", help_heading = WHAT)]
    Table layout: Layouts,

    /// Element types: f32, f64, bf16, f16, c64 (complex), c128 or all that the op has. Default: f32
    #[arg(long, value_name = "LIST", help_heading = WHAT)]
    Table dtypes: DTypes,

    /// Backends: cpu, cuda, the Python libraries numpy, cupy, torch, torch-cpu, torch-xpu, torch-mps, jax, jax-cpu, sim (a
    /// simulated device, see --sim), or a program of --external. Default: cpu, and cuda where there is an NVIDIA GPU
    #[arg(long, value_name = "LIST", help_heading = WHAT)]
    Table backends: Backends,

    /// Variants, by name or backend/name; * and ? are wildcards. Default: those marked * in 'gpubench list'
    #[arg(long, value_name = "LIST", help_heading = WHAT)]
    Table variants: Variants,

    /// Sweep to run: a TOML file, or a built-in one: quick, article, article-python, full, lessons, shapes,
    /// batched, precision, cpu-peers or gpu-peers
    #[arg(long, value_name = "FILE", help_heading = WHAT)]
    #[serde(skip)]
    Line config: String,

    /// Problems to measure, one JSON object per line: {"op": "matmul", "m": 4096, "n": 512, "k": 64, "dtype": "f32"}. Lines without
    /// a dtype are measured in --dtypes
    #[arg(long, value_name = "FILE", help_heading = WHAT)]
    #[serde(skip)]
    Line problems: PathBuf,

    /// Density of sparse operands, above 0 and at most 1. Default: 0.01 for spgemm, 0.05 for spmv
    #[arg(long, value_name = "SHARE", allow_negative_numbers = true, help_heading = WHAT)]
    Table density: Density,

    /// Matrix Market files (.mtx, .mtx.gz), separated by commas: spmv, spgemm and solve are measured on their matrices, solve on
    /// symmetric ones
    #[arg(long, value_name = "FILE", help_heading = WHAT)]
    Table matrix: Matrices,

    /// Seed of the operands; the same seed gives the same operands on every machine. Default: 42
    #[arg(long, value_name = "SEED", allow_negative_numbers = true, help_heading = WHAT)]
    File seed: Seed,

    /// Caches before each execution: cold (without the operands), hot (back to back) or both. Default: cold
    #[arg(long, value_name = "STATE", help_heading = HOW)]
    Table cache: CacheStates,

    /// Exact number of samples per cell. Default: as many as --precision needs, from 12 to 2000
    #[arg(long, value_name = "N", allow_negative_numbers = true, help_heading = HOW)]
    Table samples: Samples,

    /// Stop sampling a cell when half the 95 % interval of its median is below this. Default: 0.5% on the GPU, 1% on the CPU
    #[arg(long, value_name = "PERCENT", allow_hyphen_values = true, help_heading = HOW)]
    Table precision: Precision,

    /// Longest time to sample a cell; it may be ten times as long for a cell with fewer than 12 samples. Default: 500ms; built-in
    /// sweeps have their own
    #[arg(long, value_name = "TIME", allow_hyphen_values = true, help_heading = HOW)]
    Table max_time: MaxTime,

    /// Number of rounds in which each cell is sampled, with other cells in between. Default: 3
    #[arg(long, value_name = "N", allow_negative_numbers = true, help_heading = HOW)]
    Table rounds: Rounds,

    /// Host memory for copies to and from the GPU: pageable (ordinary), pinned (page-locked) or both, side by side.
    /// Default: both
    #[arg(long, value_name = "KIND", help_heading = HOW)]
    File transfer: Transfer,

    /// Least number of warm-up executions per round; more follow while times still fall, for at most 0.25 s or 1.25 times
    /// --max-time. 0 disables warming up. Default: 2
    #[arg(long, value_name = "N", allow_negative_numbers = true, help_heading = HOW)]
    Table warmup: Warmup,

    /// CPU threads: a number, all, or several such as 1,all. Each smaller number adds rows named VARIANT@N; the verdict uses the
    /// largest. Default: all
    #[arg(long, value_name = "LIST", allow_negative_numbers = true, help_heading = HOW)]
    File threads: ThreadCounts,

    /// Bind CPU threads to cores, one per core, except the thread that calls the libraries
    #[arg(long, num_args = 0, default_missing_value = "true", help_heading = HOW)]
    File pin: bool,

    /// BLAS libraries (OpenBLAS, MKL, BLIS) to use before those found, separated by commas
    #[arg(long, value_name = "FILE", value_delimiter = ',', help_heading = HOW)]
    #[serde(skip)]
    Line blas: Vec<PathBuf>,

    /// CUDA device number. Several, such as 0,2, or all are measured one after another, each in its own folder, and
    /// compared. Default: 0
    #[arg(long, value_name = "LIST", allow_negative_numbers = true, help_heading = HOW)]
    File device: DeviceChoice,

    /// Longest time for a cell, such as 500ms, 30s or 1.5h; then it counts as failed. Default: 5m
    #[arg(long, value_name = "TIME", allow_hyphen_values = true, help_heading = HOW)]
    File cell_timeout: CellTimeout,

    /// Skip measuring peak bandwidth and FLOP rate
    #[arg(long = "no-peaks", num_args = 0, default_missing_value = "false", help_heading = HOW)]
    File peaks: bool,

    /// Backends that must be usable; otherwise gpubench exits with code 2 before measuring
    #[arg(long, value_name = "LIST", help_heading = HOW)]
    File require: Backends,

    /// Script of the simulated device, for --backends sim
    #[arg(long, value_name = "FILE", help_heading = HOW)]
    File sim: PathBuf,

    /// Python interpreter for the Python libraries. Default: that of the active virtual environment, else python3 on PATH
    #[arg(long, value_name = "PATH", help_heading = WHAT)]
    #[serde(skip)]
    Line python: PathBuf,

    /// Program that joins the run as backend NAME by the worker protocol (docs/worker-protocol.md), whether --backends names
    /// it or not. May be given several times. No shell runs the command
    #[arg(long, value_name = "NAME=COMMAND", action = ArgAction::Append, help_heading = WHAT)]
    #[serde(skip)]
    Line external: Vec<NamedCommand>,

    /// Whether cells are added at sizes near crossovers; `run` alone has arguments for it.
    #[arg(skip)]
    File refine: bool,

    /// The contenders of the answer; `run` alone has an argument for it.
    #[arg(skip)]
    File versus: Contenders,

    /// How charts look; `run` alone has an argument for it.
    #[arg(skip)]
    File theme: ThemeName,
}
}

impl SweepOptions {
    /// Returns the values of the options that start a program or load a library. All others are numbers and names, or, as
    /// `--config`, `--problems`, `--sim` and `--matrix`, files that are only read.
    pub fn code_values(&self) -> [(&'static str, Vec<String>); 4] {
        let path = |path: &PathBuf| path.display().to_string();
        let command = |NamedCommand { name, words }: &NamedCommand| {
            let words: Vec<String> = words.iter().map(|word| shell_word(Path::new(word))).collect();
            format!("{name}={}", words.join(" "))
        };
        [
            ("--external", self.external.iter().flatten().map(command).collect()),
            ("--python", self.python.iter().map(path).collect()),
            ("--blas", self.blas.iter().flatten().map(path).collect()),
            ("--ops", self.files()),
        ]
    }

    /// Returns the first option of a list that is given, among those that say which problems are measured.
    pub fn first_given(&self, options: &[&str]) -> Option<&'static str> {
        let all = [
            ("--config", self.config.is_some()),
            ("--sizes", self.sizes.is_some()),
            ("--density", self.density.is_some()),
            ("--shape", self.shape.is_some()),
            ("--batch", self.batch.is_some()),
            ("--layout", self.layout.is_some()),
            ("--matrix", self.matrix.is_some()),
        ];
        let found = all.into_iter().find(|(option, is_given)| *is_given && options.contains(option));
        found.map(|(option, _)| option)
    }

    /// Returns the files among the ops, which define operations of the user's own.
    pub fn files(&self) -> Vec<String> {
        let ops = self.ops.iter().flat_map(|ops| &ops.0);
        ops.filter(|op| names::is_file(op)).cloned().collect()
    }

    /// Returns the options of [`SweepOptions::code_values`] alone.
    pub fn code(&self) -> SweepOptions {
        let SweepOptions { external, python, blas, ops, .. } = self.clone();
        let ops = ops.filter(|_| !self.files().is_empty());
        SweepOptions { external, python, blas, ops, ..SweepOptions::default() }
    }

    /// Replaces the options of [`SweepOptions::code_values`] by those of `code`. The ops stay, of which that list has the files.
    pub fn take_code(&mut self, code: SweepOptions) {
        (self.external, self.python, self.blas) = (code.external, code.python, code.blas);
    }

    /// Lists the keys of a sweep file, for the help of `run`.
    pub fn listed_keys() -> String {
        let in_table: Vec<String> = SweepOptions::keys(true).collect();
        let above = SweepOptions::keys(false).filter(|key| !in_table.contains(key)).collect::<Vec<_>>();
        format!("Keys of a table: {}. At the top also: {}.", in_table.join(", "), above.join(", "))
    }

    /// The keys that a sweep file takes above its tables, or in one of them.
    pub fn keys(in_table: bool) -> impl Iterator<Item = String> {
        let is_taken = move |scope: OptionScope| {
            scope == OptionScope::Table || (scope == OptionScope::File && !in_table)
        };
        let taken = SweepOptions::OPTIONS.iter().filter(move |(_, scope)| is_taken(*scope));
        taken.map(|(field, _)| field.replace('_', "-"))
    }

    /// Returns this layer's values, and those of `under` for options that this layer leaves open. The number of samples
    /// and the precision replace each other.
    pub fn over(&self, under: &SweepOptions) -> SweepOptions {
        let mut merged = self.filled_from(under);
        if self.samples.is_some() || self.precision.is_some() {
            (merged.samples, merged.precision) = (self.samples, self.precision);
        }
        merged
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
}

/// What holds for the whole run, as a report has it. What sweeps and workers are asked for is there in their own settings.
impl Serialize for SweepOptions {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("seed", &self.seed.unwrap_or_default().0)?;
        map.serialize_entry("require", self.required())?;
        map.serialize_entry("cell_timeout_s", &self.cell_timeout.unwrap_or_default().0)?;
        map.serialize_entry("refine", &self.refine.unwrap_or(false))?;
        map.serialize_entry("peaks", &self.peaks.unwrap_or(true))?;
        map.serialize_entry("isolate", &true)?;
        if let Some(Contenders(names)) = &self.versus {
            map.serialize_entry("versus", names)?;
        }
        map.end()
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use clap::{Command, FromArgMatches};

    use super::*;

    /// Returns the options of a command line.
    pub(crate) fn options(line: &str) -> SweepOptions {
        let command = SweepOptions::augment_args(Command::new("test").no_binary_name(true));
        let matches = command.try_get_matches_from(line.split_whitespace());
        SweepOptions::from_arg_matches(&matches.unwrap_or_else(|error| panic!("{error}"))).unwrap()
    }

    #[test]
    fn a_layer_s_own_value_hides_the_one_below_and_samples_hide_precision() {
        for (above, below, expected) in [
            ("--sizes 1 --samples 5", "--sizes 2 --density 0.5", "--sizes 1 --samples 5 --density 0.5"),
            ("--samples 5", "--precision 2%", "--samples 5"),
            ("--precision 2%", "--samples 5", "--precision 2%"),
            ("", "--samples 5", "--samples 5"),
        ] {
            assert_eq!(options(above).over(&options(below)), options(expected), "{above} over {below}");
        }
    }

    #[test]
    fn every_option_that_names_a_file_is_one_of_code_or_is_only_read() {
        let code = SweepOptions::default().code_values().map(|(option, _)| option);
        let only_read = ["--config", "--sim", "--matrix", "--problems"];
        let command = SweepOptions::augment_args(Command::new("test"));
        for arg in command.get_arguments().filter(|arg| arg.get_action().takes_values()) {
            let values = arg.get_value_names().unwrap_or_default();
            let option = format!("--{}", arg.get_long().unwrap());
            // A list of ops may have files of operations too.
            let names_file = option == "--ops"
                || values
                    .iter()
                    .any(|value| ["FILE", "PATH", "NAME=COMMAND", "DIR"].contains(&value.as_str()));
            let known = code.contains(&option.as_str()) || only_read.contains(&option.as_str());
            assert_eq!(names_file, known, "{option}");
        }
    }
}
