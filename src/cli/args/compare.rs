//! The arguments of `compare`.

use std::path::PathBuf;

use clap::Args;

use crate::cli::values;
use crate::compare::export::{FORMATS, TABLE};

const COMPARE_HELP: &str = "\
Examples:
  gpubench compare old new                             two runs: folders, or report.json files
  gpubench compare --old a b c --new d e f             several runs per side: verdicts on smaller changes
  gpubench compare old new --history results/baselines/main   one run per side, with the spread of earlier runs
  gpubench compare results/baselines/main new          against a baseline ('gpubench baseline save main')
  gpubench compare old new --threshold 3%              what counts as a change, where the policy says nothing else
  gpubench compare old new --mean-threshold 1%         what counts as a change of a geometric mean
  gpubench compare old new --policy gate.toml          thresholds by cell, and which environments may differ
  gpubench compare old new --format md >> $GITHUB_STEP_SUMMARY
  gpubench compare old new --out gate --format table,json,junit
  gpubench compare --plan old --see 3%                 how many runs per side would show a slowdown of 3 %
  gpubench compare --plan old --see 3% --format json
  gpubench compare --self-test                         shows that the gate trips, and that it stays quiet

A cell is slower or faster only where the whole 95 % interval of the ratio NEW over OLD lies beyond the threshold and \
the test agrees after correction for the number of cells. Geometric means of the whole sweep, of each backend and of \
each op are compared too: a mean is slower where it surely rose and may have risen by its threshold. Runs, not samples, \
are what counts: with several runs per side, a baseline or --history the spread from run to run is measured; with one run \
per side it is estimated from how far all cells moved, and only large changes of few cells are found (docs/compare.md).

Exit codes: 0 nothing is worse, 1 a cell or a mean is slower, or a cell is less accurate, newly incorrect or newly failed, \
2 wrong usage or reports that cannot be compared, 3 inconclusive: cells are missing, or noise could hide a regression.";

/// What `compare` takes.
#[derive(Args)]
#[command(after_help = COMPARE_HELP)]
pub(crate) struct CompareArgs {
    /// The run before the change and the one after: report.json files, folders that hold one or several runs,
    /// baselines
    #[arg(value_name = "REPORT", num_args = 0..=2, conflicts_with_all = ["old", "new"])]
    pub reports: Vec<PathBuf>,

    /// Runs before the change
    #[arg(long, value_name = "REPORT", num_args = 1.., requires = "new", help_heading = "What to compare")]
    pub old: Vec<PathBuf>,

    /// Runs after the change
    #[arg(long, value_name = "REPORT", num_args = 1.., requires = "old", help_heading = "What to compare")]
    pub new: Vec<PathBuf>,

    /// Earlier runs of the same machine in which nothing changed, or a baseline: their spread from run to run counts too
    #[arg(long, value_name = "REPORT", num_args = 1.., conflicts_with_all = ["plan", "self_test"])]
    #[arg(help_heading = "What to compare")]
    pub history: Vec<PathBuf>,

    /// Print how many runs per side would show a slowdown of --see, by the spread of these runs
    #[arg(long, value_name = "OLD", num_args = 1.., conflicts_with_all = ["reports", "old", "new", "self_test"])]
    #[arg(conflicts_with_all = ["threshold", "mean_threshold", "accept_missing", "accept_unsure", "cross_machine"])]
    #[arg(conflicts_with_all = ["out", "all_cells", "force"])]
    #[arg(help_heading = "What to compare")]
    pub plan: Vec<PathBuf>,

    /// The slowdown that --plan is about. Default: 3%
    #[arg(long, value_name = "PERCENT", requires = "plan", value_parser = values::precision)]
    #[arg(conflicts_with_all = ["reports", "old", "new", "self_test"])]
    #[arg(allow_hyphen_values = true, help_heading = "What to compare")]
    pub see: Option<f64>,

    /// Compare rehearsed runs with and without a planted regression, and the rounds of the given report, and say whether
    /// the gate trips and stays quiet as often as it must
    #[arg(long, help_heading = "What to compare")]
    #[arg(conflicts_with_all = ["old", "new", "format", "out", "all_cells", "force"])]
    pub self_test: bool,

    /// The change that counts. Default: 5% where the device paces the work, 10% elsewhere
    #[arg(long, value_name = "PERCENT", value_parser = values::threshold, allow_hyphen_values = true)]
    #[arg(help_heading = "What counts")]
    pub threshold: Option<f64>,

    /// The change of a geometric mean that counts. Default: 2%
    #[arg(long, value_name = "PERCENT", value_parser = values::threshold, allow_hyphen_values = true)]
    #[arg(help_heading = "What counts")]
    pub mean_threshold: Option<f64>,

    /// Policy file: thresholds by cell, environments that may differ (docs/compare-policy.md)
    #[arg(long, value_name = "FILE", help_heading = "What counts")]
    pub policy: Option<PathBuf>,

    /// Cells that NEW lacks do not keep the gate from passing
    #[arg(long, help_heading = "What counts")]
    pub accept_missing: bool,

    /// Inconclusive cells do not keep the gate from passing
    #[arg(long, help_heading = "What counts")]
    pub accept_unsure: bool,

    /// Machines may differ: print ratios, and conclude nothing from them
    #[arg(long, help_heading = "What counts")]
    pub cross_machine: bool,

    #[arg(help = format!(
        "What to print: {}; with --out a list. Default: {}; with --out {}. --plan is printed as table or json",
        FORMATS.printable(),
        TABLE.name,
        FORMATS.listed_defaults()
    ))]
    #[arg(long, value_name = "LIST", help_heading = "Results")]
    pub format: Option<String>,

    /// Folder for files of --format, made when missing; the table is printed all the same. - is stdout
    #[arg(long, value_name = "DIR", help_heading = "Results")]
    pub out: Option<PathBuf>,

    /// Show every cell, also those that did not change
    #[arg(long, help_heading = "Results")]
    pub all_cells: bool,

    /// Replace results that --out already holds
    #[arg(long, requires = "out", help_heading = "Results")]
    pub force: bool,

    /// Use no colours; also by NO_COLOR in the environment, and where stdout is no terminal
    #[arg(long, help_heading = "Results")]
    pub no_color: bool,
}
