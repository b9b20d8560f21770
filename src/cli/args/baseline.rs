//! The arguments of `baseline`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use crate::cli::values;
use crate::settings::options::SweepOptions;

/// What can be done with baselines.
#[derive(Subcommand)]
pub(crate) enum BaselineCommand {
    /// Run a sweep several times, or take runs that exist, and keep them with how much they differ though nothing changed
    Save(Box<SaveArgs>),
    /// List the baselines
    List {
        /// Folder of baselines
        #[arg(long, value_name = "DIR", default_value = crate::baseline::FOLDER)]
        dir: PathBuf,
    },
    /// Show one baseline: its machine, its cells, and the change that one run against it would show
    Show {
        /// Its name, or its folder
        name: String,
        /// Folder of baselines
        #[arg(long, value_name = "DIR", default_value = crate::baseline::FOLDER)]
        dir: PathBuf,
    },
}

const SAVE_HELP: &str = "\
Examples:
  gpubench baseline save main                          the quick sweep, five times
  gpubench baseline save main --passes 8               more passes: smaller changes are found with it later
  gpubench baseline save gpu --config article --backends cuda
  gpubench baseline save nights --from n1 n2 n3        runs that exist, such as those of several nights
  gpubench compare results/baselines/main results/new  compare with it

The passes are plain report folders in results/baselines/NAME. Where two passes of a cell differ by more than its \
threshold, nothing is saved: a gate could not distinguish such a difference from a regression. Nor is anything saved \
where one run in which nothing changed would be inconclusive more often than not; the message says how many passes or \
runs would do.

Exit codes: 0 saved, 1 the passes disagree or a cell was incorrect or failed, 2 wrong usage, 130 interrupted.";

/// What `baseline save` takes.
#[derive(Args)]
#[command(after_help = SAVE_HELP)]
pub(crate) struct SaveArgs {
    /// Name of the baseline: letters, digits, '.', '_' and '-'
    pub name: String,

    /// How often the sweep is run, at least 3 times
    #[arg(long, value_name = "N", default_value = "5", value_parser = values::passes)]
    #[arg(help_heading = "Baseline")]
    pub passes: u32,

    /// Runs to keep instead of running a sweep, such as those of several nights: three or more report.json files, or
    /// folders that hold one or several runs
    #[arg(long, value_name = "REPORT", num_args = 1.., conflicts_with_all = ["passes", "SweepOptions"])]
    #[arg(help_heading = "Baseline")]
    pub from: Vec<PathBuf>,

    /// How far passes may differ. Default: 5% where the device paces the work, 10% elsewhere
    #[arg(long, value_name = "PERCENT", value_parser = values::threshold, allow_hyphen_values = true)]
    #[arg(help_heading = "Baseline")]
    pub threshold: Option<f64>,

    /// Policy file with thresholds by cell (docs/compare-policy.md)
    #[arg(long, value_name = "FILE", help_heading = "Baseline")]
    pub policy: Option<PathBuf>,

    /// Save although passes disagree or no single run could pass: cells are then compared by their own spread
    #[arg(long, help_heading = "Baseline")]
    pub accept_noisy: bool,

    /// Folder of baselines
    #[arg(long, value_name = "DIR", default_value = crate::baseline::FOLDER, help_heading = "Baseline")]
    pub dir: PathBuf,

    /// Replace the baseline of that name
    #[arg(long, help_heading = "Baseline")]
    pub force: bool,

    /// Show no progress
    #[arg(long, short, help_heading = "Baseline")]
    pub quiet: bool,

    /// The sweep.
    #[command(flatten)]
    pub sweep: SweepOptions,
}
