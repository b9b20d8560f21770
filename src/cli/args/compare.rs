//! The arguments of `compare`.

use std::path::PathBuf;

use clap::Args;

use super::ColorArgs;
use crate::cli::values;
use crate::write::compare::{FORMATS, TABLE};

const COMPARE_HELP: &str = "\
Examples:
  gpubench compare old new                      two runs
  gpubench compare --old a b c --new d e f      detects smaller changes
  gpubench compare results/baselines/main new   against a saved baseline
  gpubench compare old new --history results/baselines/main
  gpubench compare old new --threshold 3% --mean-threshold 1%
  gpubench compare old new --policy gate.toml   thresholds per cell
  gpubench compare old new --format md >> $GITHUB_STEP_SUMMARY
  gpubench compare old new --out gate --format table,json,junit
  gpubench compare --plan old --slowdown 3%     number of runs needed

A cell is slower or faster if the whole 95 % interval of the ratio NEW / OLD lies beyond the threshold and the test agrees after \
correction for the number of cells. gpubench also compares geometric means of the whole sweep, each backend and each op. The unit \
of evidence is the run, not the sample. With several runs per side, a baseline or --history, gpubench measures the variation \
between runs. With one run per side it estimates the variation from all cells, and detects only large changes of few cells \
(docs/compare.md).

Exit codes: 0 no regression; 1 regression (a cell or mean is slower, less accurate, newly incorrect or newly failed); 2 wrong \
usage or runs that cannot be compared; 3 inconclusive (cells are missing, or noise could hide a regression).";

/// What `compare` takes.
#[derive(Args)]
#[command(after_help = COMPARE_HELP)]
pub(crate) struct CompareArgs {
    /// The runs before and after the change: report.json files, folders that contain runs, or baselines
    #[arg(value_name = "REPORT", num_args = 0.., conflicts_with_all = ["old", "new"])]
    pub reports: Vec<PathBuf>,

    /// Runs before the change
    #[arg(long, value_name = "REPORT", num_args = 1.., requires = "new", help_heading = "What to compare")]
    pub old: Vec<PathBuf>,

    /// Runs after the change
    #[arg(long, value_name = "REPORT", num_args = 1.., requires = "old", help_heading = "What to compare")]
    pub new: Vec<PathBuf>,

    /// Earlier, unchanged runs of the same machine, or a baseline: gpubench uses their variation
    #[arg(long, value_name = "REPORT", num_args = 1.., conflicts_with = "plan")]
    #[arg(help_heading = "What to compare")]
    pub history: Vec<PathBuf>,

    /// Print the number of runs per side needed to detect a slowdown of --slowdown, from the variation of these runs
    #[arg(long, value_name = "OLD", num_args = 1.., conflicts_with_all = ["reports", "old", "new"])]
    #[arg(conflicts_with_all = ["threshold", "mean_threshold", "accept_missing", "accept_inconclusive", "cross_machine"])]
    #[arg(conflicts_with_all = ["out", "all_cells", "force"])]
    #[arg(help_heading = "What to compare")]
    pub plan: Vec<PathBuf>,

    /// Slowdown for --plan. Default: 3%
    #[arg(long, alias = "see", value_name = "PERCENT", requires = "plan", value_parser = values::precision)]
    #[arg(conflicts_with_all = ["reports", "old", "new"])]
    #[arg(allow_hyphen_values = true, help_heading = "What to compare")]
    pub slowdown: Option<f64>,

    /// Smallest change that counts. Default: 5% for work paced by the device, 10% otherwise
    #[arg(long, value_name = "PERCENT", value_parser = values::threshold, allow_hyphen_values = true)]
    #[arg(help_heading = "What counts")]
    pub threshold: Option<f64>,

    /// Smallest change of a geometric mean that counts. Default: 2%
    #[arg(long, value_name = "PERCENT", value_parser = values::threshold, allow_hyphen_values = true)]
    #[arg(help_heading = "What counts")]
    pub mean_threshold: Option<f64>,

    /// Policy file: thresholds per cell, and differences of the environment to allow (docs/compare-policy.md)
    #[arg(long, value_name = "FILE", help_heading = "What counts")]
    pub policy: Option<PathBuf>,

    /// Pass even if cells are missing from NEW
    #[arg(long, help_heading = "What counts")]
    pub accept_missing: bool,

    /// Pass even if cells are inconclusive
    #[arg(long, alias = "accept-unsure", help_heading = "What counts")]
    pub accept_inconclusive: bool,

    /// Allow different machines: print ratios without verdicts
    #[arg(long, help_heading = "What counts")]
    pub cross_machine: bool,

    #[arg(help = format!(
        "Format to print: {}; with --out, a list. Default: {}; with --out, {}. --plan prints table or json",
        FORMATS.printable(),
        TABLE.name,
        FORMATS.listed_defaults()
    ))]
    #[arg(long, value_name = "LIST", help_heading = "Results")]
    pub format: Option<String>,

    /// Folder for the files of --format, created if missing; - for stdout
    #[arg(long, short, value_name = "DIR", help_heading = "Results")]
    pub out: Option<PathBuf>,

    /// Also show cells that did not change
    #[arg(long, help_heading = "Results")]
    pub all_cells: bool,

    /// Replace results already in --out
    #[arg(long, requires = "out", help_heading = "Results")]
    pub force: bool,

    /// The colours of stdout.
    #[command(flatten, next_help_heading = "Results")]
    pub colors: ColorArgs,
}
