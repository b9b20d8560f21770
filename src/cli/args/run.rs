//! The arguments of `run` besides the options of its sweep.

use clap::Args;

use crate::export::FORMATS;
use crate::settings::options::{KEYS, SweepOptions, ThemeName};

/// The help below the options.
fn after_help() -> String {
    format!("{EXAMPLES}{KEYS}{ENDING}")
}

const EXAMPLES: &str = "\
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

";

const ENDING: &str = " A value on the command line replaces the file's; --ops chooses among the file's \
tables, which keep their sizes; an op that the file does not name needs --sizes.

Each answer is checked in float64 before it is timed, and a wrong one gets no time. A cell whose library or device is \
missing is skipped, with the reason and the step that would fix it; a crash or a time-out costs one cell. report.json \
in the folder is brought up to date as the run goes on, so an interrupted run keeps what it has.

Exit codes: 0 finished (skips allowed), 1 some cell incorrect or failed, 2 wrong usage, nothing to run or a required \
backend missing, 130 interrupted with everything finished so far saved.";

/// What `run` takes.
#[derive(Args)]
#[command(after_help = after_help())]
pub(crate) struct RunArgs {
    /// The sweep.
    #[command(flatten)]
    pub sweep: SweepOptions,

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
    pub theme: Option<ThemeName>,

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
