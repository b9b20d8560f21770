//! The arguments of `run`, and those of every command that runs a sweep.

use std::path::PathBuf;

use clap::Args;

use super::YesNo;
use crate::cli::values;
use crate::export::FORMATS;
use crate::settings::devices::Devices;
use crate::settings::threads::Threads;

const RUN_HELP: &str = "\
Examples:
  gpubench run                                         the quick sweep: seven ops, small sizes
  gpubench run --ops matmul,fft --sizes 100,1000       two ops at two sizes, in float32
  gpubench run --ops svd --sizes 64..1024:x2 --dtypes all   doubling sizes, both element types
  gpubench run --config article --out results/mine     the article's sweep, results in that folder
  gpubench run --config article --ops fft              only its FFTs, at the sizes it names
  gpubench run --ops matmul --variants 'cublas*,faer'  chosen variants (see 'gpubench list')
  gpubench run --ops solve --backends cpu --threads 1  one thread, no GPU
  gpubench run --ops spgemm --density 0.001            sparser operands
  gpubench run --cache both --budget 10m               cold and hot caches, as precise as ten minutes allow
  gpubench run --config mine.toml --dry-run            what would be measured; touches no device
  gpubench run --ops fft --out - --format json | jq .  one format on stdout and nothing else
  gpubench run --require cuda || echo no usable GPU    for CI: no GPU is an error, not a skip
  gpubench run --device all --backends cuda --out new  every GPU of this machine in turn, and which is unlike the rest

A sweep file is TOML: defaults at the top, and [[sweep]] tables whose values replace them:

  dtypes = [\"f32\", \"f64\"]
  precision = \"2%\"
  cell-timeout = \"2m\"

  [[sweep]]
  ops = [\"matmul\", \"fft\"]
  sizes = [100, 1000, \"2048..8192:x2\"]

  [[sweep]]
  ops = [\"spgemm\"]
  density = 0.001

Keys of a table: ops, sizes, dtypes, backends, variants, density, cache, samples, precision, max-time, rounds, warmup. \
At the top also: seed, threads, pin, device, transfer, budget, cell-timeout, refine, peaks, require, sim, theme. A value on the command line replaces the file's; --ops chooses among the file's \
tables, which keep their sizes; an op that the file does not name needs --sizes.

Each answer is checked in float64 before it is timed, and a wrong one gets no time. A cell whose library or device is \
missing is skipped, with the reason and the step that would fix it; a crash or a time-out costs one cell. report.json \
in the folder is brought up to date as the run goes on, so an interrupted run keeps what it has.

Exit codes: 0 finished (skips allowed), 1 some cell incorrect or failed, 2 wrong usage, nothing to run or a required \
backend missing, 130 interrupted with everything finished so far saved.";

/// What `run` takes.
#[derive(Args)]
#[command(after_help = RUN_HELP)]
pub struct RunArgs {
    /// The sweep.
    #[command(flatten)]
    pub sweep: SweepArgs,

    /// Print what would be measured, with work and least memory traffic; touch no device, write nothing
    #[arg(long, help_heading = "How to measure")]
    pub dry_run: bool,

    /// Measure one or two further sizes near each crossover that is not known within 5 %, resident and end to end. They take
    /// 15 % of --budget, else at most a quarter of the time of the planned cells or 10 s. Default: on for built-in
    /// sweeps at their own sizes, else off
    #[arg(long, conflicts_with = "no_refine", help_heading = "How to measure")]
    pub refine: bool,

    /// Measure the sizes of the sweep and no others
    #[arg(long, help_heading = "How to measure")]
    pub no_refine: bool,

    /// Folder for results, made when missing; - writes one --format to stdout and nothing else.
    /// Default: a new folder in results, named by the time
    #[arg(long, value_name = "DIR", help_heading = "Results")]
    pub out: Option<String>,

    #[arg(help = format!(
        "What to write: {}. Default: {}. report.json is kept in the folder whatever is named",
        FORMATS.listed(),
        FORMATS.listed_defaults()
    ))]
    #[arg(long, value_name = "LIST", help_heading = "Results")]
    pub format: Option<String>,

    /// How charts look: light or dark. Default: light
    #[arg(long, value_name = "THEME", help_heading = "Results")]
    pub theme: Option<String>,

    /// Print a table an op after the answer, then what to mind about the times, and why cells have none
    #[arg(long, help_heading = "Results")]
    pub tables: bool,

    /// Print these tables with every variant, not only the best of each side. What runs is --variants' choice
    #[arg(long, help_heading = "Results")]
    pub all_variants: bool,

    /// Replace results that --out already holds
    #[arg(long, help_heading = "Results")]
    pub force: bool,

    /// Show no progress
    #[arg(long, short, help_heading = "Results")]
    pub quiet: bool,

    /// Use no colours; also by NO_COLOR in the environment, and where stdout is no terminal
    #[arg(long, help_heading = "Results")]
    pub no_color: bool,
}

/// What to measure, and how.
#[derive(Args)]
pub struct SweepArgs {
    /// Ops to measure, separated by commas, or all. Without --ops and --config: the quick sweep
    #[arg(long, value_name = "LIST", help_heading = "What to measure")]
    pub ops: Option<String>,

    /// Sides N of the N x N operands (of overhead: a count): numbers and ranges, such as 100,500 or 64..4096:x2 (doubling) or 64..1024:+64.
    /// Both ends of a range belong to it. Default: the op's own sizes
    #[arg(long, value_name = "LIST", allow_hyphen_values = true, help_heading = "What to measure")]
    pub sizes: Option<String>,

    /// Element types: f32, f64 or all. Default: f32; both together take twice as long
    #[arg(long, value_name = "LIST", help_heading = "What to measure")]
    pub dtypes: Option<String>,

    /// Backends: cpu, cuda, sim (a simulated device, see --sim). Default: cpu,cuda
    #[arg(long, value_name = "LIST", help_heading = "What to measure")]
    pub backends: Option<String>,

    /// Variants, by name or backend/name; * and ? stand for any characters and any one. Default: each backend's
    /// candidates for best, marked * in 'gpubench list'; '*' takes all
    #[arg(long, value_name = "LIST", help_heading = "What to measure")]
    pub variants: Option<String>,

    /// Sweep to run: a TOML file, or a built-in one: quick, article, full, lessons, peers or
    /// cpu-peers
    #[arg(long, value_name = "FILE", help_heading = "What to measure")]
    pub config: Option<String>,

    /// Share of stored entries of sparse operands, above 0 and at most 1. Default: 0.01 for spgemm, 0.05 for spmv
    #[arg(long, value_name = "SHARE", allow_negative_numbers = true, value_parser = values::density)]
    #[arg(help_heading = "What to measure")]
    pub density: Option<f64>,

    /// Seed of the operands; the same seed makes the same operands on every machine. Default: 42
    #[arg(long, value_name = "SEED", allow_negative_numbers = true, value_parser = values::seed)]
    #[arg(help_heading = "What to measure")]
    pub seed: Option<u64>,

    /// State of the caches before each execution: cold (emptied of the operands), hot (back to back) or both.
    /// Default: cold
    #[arg(long, value_name = "STATE", help_heading = "How to measure")]
    pub cache: Option<String>,

    /// Samples a cell, exactly. Default: as many as --precision needs, from 12 to 2000
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = values::samples)]
    #[arg(help_heading = "How to measure")]
    pub samples: Option<u32>,

    /// Half the 95 % interval of the median, relative to it, at which a cell has enough samples. Default: 0.5% on the
    /// GPU, 1% on the CPU
    #[arg(long, value_name = "PERCENT", allow_hyphen_values = true, value_parser = values::precision)]
    #[arg(help_heading = "How to measure")]
    pub precision: Option<f64>,

    /// Sampling of a cell ends after this time though it is not precise, once it has 12 samples; without them after
    /// ten times as long. Default: 2s
    #[arg(long, value_name = "TIME", allow_hyphen_values = true, value_parser = values::max_time)]
    #[arg(help_heading = "How to measure")]
    pub max_time: Option<f64>,

    /// Time for the whole run, such as 10m: cells get equal shares, and what they leave goes to those with the widest
    /// intervals
    #[arg(long, value_name = "TIME", allow_hyphen_values = true, value_parser = values::budget)]
    #[arg(help_heading = "How to measure")]
    pub budget: Option<f64>,

    /// Rounds in which a cell is sampled, with other cells in between; each takes one sample at least. Default: 3
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = values::rounds)]
    #[arg(help_heading = "How to measure")]
    pub rounds: Option<u32>,

    /// Host memory of copies to the GPU and back: pageable (ordinary) or pinned (page-locked). Default: pageable
    #[arg(long, value_name = "KIND", help_heading = "How to measure")]
    pub transfer: Option<String>,

    /// Executions before the first sample of a round, at least; 0 warms nothing up. Default: 2, and on while times still
    /// fall. A warm-up ends after 0.5 s (or 1.25 times --max-time) whatever the count
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = values::warmup)]
    #[arg(help_heading = "How to measure")]
    pub warmup: Option<u32>,

    /// CPU threads; several numbers or 'all', such as 1,all, make rows of their own, named VARIANT@N but for the largest,
    /// which alone stands for the CPU. Default: all that the process may use
    #[arg(long, value_name = "LIST", allow_negative_numbers = true, value_parser = values::threads)]
    #[arg(help_heading = "How to measure")]
    pub threads: Option<Threads>,

    /// Bind CPU threads to processors, one a core; the thread that calls the libraries stays free
    #[arg(long, help_heading = "How to measure")]
    pub pin: bool,

    /// BLAS library files to take before those that are found, separated by commas: OpenBLAS, MKL or BLIS. The first of
    /// a kind bears its plain name, such as openblas
    #[arg(long, value_name = "FILE", value_delimiter = ',', help_heading = "How to measure")]
    pub blas: Vec<PathBuf>,

    /// CUDA device, by CUDA's ordinal; several, such as 0,2, or all are measured one after the other, each in a folder
    /// of its own, and compared. Default: 0
    #[arg(long, value_name = "LIST", allow_negative_numbers = true, value_parser = values::device)]
    #[arg(help_heading = "How to measure")]
    pub device: Option<Devices>,

    /// Give a cell up after this time, such as 500ms, 30s, 5m or 1.5h. Default: 5m
    #[arg(long, value_name = "TIME", allow_hyphen_values = true, value_parser = values::cell_timeout)]
    #[arg(help_heading = "How to measure")]
    pub cell_timeout: Option<f64>,

    /// Do not tell how near each cell comes to the most that this machine does: its bandwidths and matrix products,
    /// which else are measured once a machine, in a few seconds, and kept (docs/limits.md)
    #[arg(long, help_heading = "How to measure")]
    pub no_peaks: bool,

    /// Backends that must be usable; else the run ends with code 2 before any work
    #[arg(long, value_name = "LIST", help_heading = "How to measure")]
    pub require: Option<String>,

    /// Script of the simulated device, for --backends sim
    #[arg(long, value_name = "FILE", help_heading = "How to measure")]
    pub sim: Option<PathBuf>,

    /// Whether each backend gets a process of its own; with no, a crash ends the run
    #[arg(long, value_name = "YES|NO", hide = true, default_value = "yes", help_heading = "How to measure")]
    pub isolate: YesNo,
}
