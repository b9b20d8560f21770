//! The arguments of `run` besides the options of its sweep.

use std::path::PathBuf;

use clap::builder::PossibleValuesParser;
use clap::{Args, Command};

use crate::cli::stream::ColorArgs;
use crate::settings::config::BUILT_IN;
use crate::settings::options::{Contenders, SweepOptions, ThemeName};
use crate::write::report::FORMATS;

/// The text below the options.
fn after_help() -> String {
    format!("{EXAMPLES}{SWEEP_FILES}{}{PRECEDENCE}{EXIT_CODES}", SweepOptions::listed_keys())
}

const EXAMPLES: &str = "\
Examples:
  gpubench run                                        the quick sweep
  gpubench run --ops matmul,fft --sizes 100,1000
  gpubench run --ops svd --sizes 64..1024:x2 --dtypes all
  gpubench run article -o results/mine                a built-in sweep
  gpubench run --ops matmul --variants 'cublas*,mkl'
  gpubench run --ops fft --out - --format json | jq .
  gpubench run --require cuda || echo no usable GPU
";

const SWEEP_FILES: &str = "
A sweep file is TOML. Keys at the top are defaults; a [[sweep]] table overrides
them (docs/options.md):

  dtypes = [\"f32\", \"f64\"]
  cell-timeout = \"2m\"

  [[sweep]]
  ops = [\"matmul\", \"fft\"]
  sizes = [100, 1000, \"2048..8192:x2\"]
  precision = \"2%\"

";

const PRECEDENCE: &str = " Options on the command line override the file. --ops selects among the file's tables, which keep their \
sizes.
";

const EXIT_CODES: &str = "
Exit codes: 0 finished (skips allowed); 1 a cell is incorrect or failed; 2 wrong usage, nothing to run, every cell skipped \
or a required backend missing; 130 interrupted, finished cells are saved.";

/// The options that `run --help` shows; `run --help --all` shows every one.
const COMMON: [&str; 13] = [
    "named_sweep",
    "ops",
    "sizes",
    "shape",
    "batch",
    "dtypes",
    "config",
    "backends",
    "variants",
    "max_time",
    "out",
    "tables",
    "dry_run",
];

impl RunArgs {
    /// Takes the sweep that is named without an option as the value of `--config`.
    pub(crate) fn with_named_sweep(mut self) -> RunArgs {
        self.sweep.config = self.named_sweep.take().or(self.sweep.config);
        self
    }
}

/// The help with the common options alone.
pub(crate) fn common_help(run: Command) -> Command {
    let run = run.mut_args(|arg| if COMMON.contains(&arg.get_id().as_str()) { arg } else { arg.hide(true) });
    run.after_help(format!("All options: gpubench run --help --all\n\n{EXAMPLES}{EXIT_CODES}"))
}

/// What `run` takes.
#[derive(Args)]
#[command(after_help = after_help())]
pub(crate) struct RunArgs {
    /// Built-in sweep to run, such as quick or article; the same as --config SWEEP
    #[arg(value_name = "SWEEP", value_parser = PossibleValuesParser::new(BUILT_IN.iter().map(|(name, _)| *name)), hide_possible_values = true, conflicts_with = "config")]
    pub named_sweep: Option<String>,

    /// The sweep.
    #[command(flatten)]
    pub sweep: SweepOptions,

    /// Print the cells, and measure nothing
    #[arg(long, help_heading = "How to measure")]
    pub dry_run: bool,

    /// Measure one or two more sizes near each crossover that is not known within 5 %. They take at most
    /// 10 s or a quarter of the time of the planned cells, whichever is longer. Default: on for built-in sweeps at their own sizes
    #[arg(long, conflicts_with = "no_refine", help_heading = "How to measure")]
    pub refine: bool,

    /// Measure only the sizes of the sweep
    #[arg(long, help_heading = "How to measure")]
    pub no_refine: bool,

    /// Folder for results, created if missing; with -, one --format goes to stdout. Default: a new folder in results
    #[arg(long, short, value_name = "DIR", help_heading = "Results")]
    pub out: Option<PathBuf>,

    /// Go on with the run in this folder after any stop, with the options of its first start; finished cells are kept. Refuses
    /// another machine or another build of gpubench, unless --force accepts it
    #[arg(long, value_name = "DIR", help_heading = "Results")]
    pub resume: Option<PathBuf>,

    #[arg(help = format!(
        "Formats to write besides report.json: {}. Default: {}",
        FORMATS.listed(),
        FORMATS.listed_defaults()
    ))]
    #[arg(long, value_name = "LIST", help_heading = "Results")]
    pub format: Option<String>,

    /// Charts to draw: overview, speedup, throughput, time, grid, roofline or all. Default: overview,speedup,throughput,
    /// grid, and time for ops without a throughput
    #[arg(long, value_name = "LIST", help_heading = "Results")]
    pub charts: Option<String>,

    /// Theme of the charts: light or dark. Default: light
    #[arg(long, value_name = "THEME", help_heading = "Results")]
    pub theme: Option<ThemeName>,

    /// Compare B with A instead of the GPU with the CPU: names of backends, or backend/variant, and lists of these, such as
    /// numpy:cupy or cpu,numpy:cuda
    #[arg(long, value_name = "A:B", help_heading = "Results")]
    pub versus: Option<Contenders>,

    /// Also print a table per op, notes on the times, and reasons for missing ones
    #[arg(long, help_heading = "Results")]
    pub tables: bool,

    /// Sample every default variant to precision, also those far behind the best, and print tables of all
    #[arg(long, help_heading = "Results")]
    pub all_variants: bool,

    /// Replace results already in --out
    #[arg(long, help_heading = "Results")]
    pub force: bool,

    /// Do not show progress
    #[arg(long, short, help_heading = "Results")]
    pub quiet: bool,

    /// The colours of stdout.
    #[command(flatten, next_help_heading = "Results")]
    pub colors: ColorArgs,
}
