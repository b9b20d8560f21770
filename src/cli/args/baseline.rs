//! The arguments of `baseline`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use crate::cli::values;
use crate::settings::options::SweepOptions;

/// What can be done with baselines.
#[derive(Subcommand)]
pub(crate) enum BaselineCommand {
    /// Run a sweep several times, and save the runs with their variation
    Save(Box<SaveArgs>),
    /// List the baselines
    List {
        /// Folder of baselines
        #[arg(long, value_name = "DIR", default_value = crate::baseline::FOLDER)]
        dir: PathBuf,
    },
    /// Show a baseline: machine, cells, and the smallest change that one run can show
    Show {
        /// Name or folder of the baseline
        name: String,
        /// Folder of baselines
        #[arg(long, value_name = "DIR", default_value = crate::baseline::FOLDER)]
        dir: PathBuf,
    },
}

const SAVE_HELP: &str = "\
Examples:
  gpubench baseline save main                     the quick sweep, five times
  gpubench baseline save main --passes 8          detects smaller changes
  gpubench baseline save gpu --config article --backends cuda
  gpubench baseline save nights --from n1 n2 n3   use existing runs
  gpubench compare results/baselines/main results/new

gpubench stores each pass as a report folder in results/baselines/NAME. It saves nothing if two passes of a cell differ by more \
than the cell's threshold, because a gate could not tell such a difference from a regression. It also saves nothing if a single \
unchanged run would be inconclusive more often than not; the message names the number of passes or runs needed.

Exit codes: 0 saved; 1 the passes disagree, or a cell is incorrect or failed; 2 wrong usage; 130 interrupted.";

/// What `baseline save` takes.
#[derive(Args)]
#[command(after_help = SAVE_HELP)]
pub(crate) struct SaveArgs {
    /// Name of the baseline: letters, digits, '.', '_' and '-'
    pub name: String,

    /// Number of times to run the sweep, at least 3
    #[arg(long, value_name = "N", default_value = "5", value_parser = values::passes)]
    #[arg(help_heading = "Baseline")]
    pub passes: u32,

    /// Existing runs to save instead of running a sweep: at least three report.json files, or folders that contain runs
    #[arg(long, value_name = "REPORT", num_args = 1.., conflicts_with_all = ["passes", "SweepOptions"])]
    #[arg(help_heading = "Baseline")]
    pub from: Vec<PathBuf>,

    /// Largest difference between passes. Default: 5% for work paced by the device, 10% otherwise
    #[arg(long, value_name = "PERCENT", value_parser = values::threshold, allow_hyphen_values = true)]
    #[arg(help_heading = "Baseline")]
    pub threshold: Option<f64>,

    /// Policy file with thresholds per cell (docs/compare-policy.md)
    #[arg(long, value_name = "FILE", help_heading = "Baseline")]
    pub policy: Option<PathBuf>,

    /// Save even if passes disagree; each cell is then compared by its own variation
    #[arg(long, help_heading = "Baseline")]
    pub accept_noisy: bool,

    /// Folder of baselines
    #[arg(long, value_name = "DIR", default_value = crate::baseline::FOLDER, help_heading = "Baseline")]
    pub dir: PathBuf,

    /// Replace an existing baseline of this name
    #[arg(long, help_heading = "Baseline")]
    pub force: bool,

    /// Show no progress
    #[arg(long, short, help_heading = "Baseline")]
    pub quiet: bool,

    /// The sweep.
    #[command(flatten)]
    pub sweep: SweepOptions,
}
