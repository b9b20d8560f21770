//! `gpubench compare`: reads both sides, compares them, writes the results and returns the gate's exit code.

mod plan;

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use clap::Args;
use gpubench_report::format::for_stdout;
use gpubench_text::percent;

use super::stream::ColorArgs;
use super::{folder, stream};
use crate::compare::{Comparison, Limits, Policy, compare_with_history, load, policy};
use crate::report::file::save_all_in_new;
use crate::write::compare::{ComparisonFormat, FORMATS, GITHUB, TABLE, View, job_summary};

/// The variable that names the file for the summary of a step of GitHub Actions.
const JOB_SUMMARY: &str = "GITHUB_STEP_SUMMARY";

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
    #[arg(conflicts_with_all = ["out", "format", "all_cells", "force"])]
    #[arg(help_heading = "What to compare")]
    pub plan: Vec<PathBuf>,

    /// Slowdown for --plan. Default: 3%
    #[arg(long, value_name = "PERCENT", requires = "plan", value_parser = percent::parse)]
    #[arg(conflicts_with_all = ["reports", "old", "new"])]
    #[arg(allow_hyphen_values = true, help_heading = "What to compare")]
    pub slowdown: Option<f64>,

    /// Smallest change that counts. Default: 5% for work paced by the device, 10% otherwise
    #[arg(long, value_name = "PERCENT", value_parser = percent::parse_from_zero, allow_hyphen_values = true)]
    #[arg(help_heading = "What counts")]
    pub threshold: Option<f64>,

    /// Smallest change of a geometric mean that counts. Default: 2%
    #[arg(long, value_name = "PERCENT", value_parser = percent::parse_from_zero, allow_hyphen_values = true)]
    #[arg(help_heading = "What counts")]
    pub mean_threshold: Option<f64>,

    /// Policy file: thresholds per cell, and differences of the environment to allow (docs/compare-policy.md)
    #[arg(long, value_name = "FILE", help_heading = "What counts")]
    pub policy: Option<PathBuf>,

    /// Pass even if cells are missing from NEW
    #[arg(long, help_heading = "What counts")]
    pub accept_missing: bool,

    /// Pass even if cells are inconclusive
    #[arg(long, help_heading = "What counts")]
    pub accept_inconclusive: bool,

    /// Allow different machines: print ratios without verdicts
    #[arg(long, help_heading = "What counts")]
    pub cross_machine: bool,

    #[arg(help = format!(
        "Format to print: {}; with --out, a list. Default: {}; with --out, {}",
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

/// Compares or plans.
pub(crate) fn run(args: &CompareArgs) -> Result<ExitCode> {
    let policy = policy_of(args)?;
    if !args.plan.is_empty() {
        return stream::print(&plan::plan(args, &policy)?).map(|()| ExitCode::SUCCESS);
    }
    let out = folder::named(args.out.as_deref())?;
    let formats = formats(args.format.as_deref(), out)?;
    let (old, new) = match (args.reports.as_slice(), args.old.as_slice(), args.new.as_slice()) {
        ([old, new], [], []) => load::sides(std::slice::from_ref(old), std::slice::from_ref(new))?,
        ([], [_, ..], [_, ..]) => load::sides(&args.old, &args.new)?,
        (reports, ..) => {
            let given = if reports.len() > 2 { format!(", not {}", reports.len()) } else { String::new() };
            bail!(
                "compare takes two reports{given}: OLD and NEW; for several per side write --old A B C --new D E F (see 'gpubench compare --help')"
            )
        }
    };
    let history = load::history(&args.history, &old, &new, &policy)?;
    let comparison = compare_with_history(&old, &new, &history, &policy);
    deliver(args, &formats, out, &comparison)?;
    Ok(ExitCode::from(comparison.gate.exit_code))
}

/// Reads the policy file and applies the options of the command line.
fn policy_of(args: &CompareArgs) -> Result<Policy> {
    let given =
        Limits { threshold: args.threshold, mean_threshold: args.mean_threshold, ..Limits::default() };
    let mut policy = read_policy(args.policy.as_deref(), given)?;
    policy.accept_missing |= args.accept_missing;
    policy.accept_inconclusive |= args.accept_inconclusive;
    policy.cross_machine |= args.cross_machine;
    Ok(policy)
}

/// Reads the policy in `file`, or takes the default one, and sets the limits of the command line as defaults.
pub(crate) fn read_policy(file: Option<&Path>, given: Limits) -> Result<Policy> {
    let mut policy = file.map(policy::read).transpose()?.unwrap_or_default();
    policy.set_defaults(given);
    Ok(policy)
}

/// Returns the requested formats, each once.
fn formats(list: Option<&str>, out: Option<&Path>) -> Result<Vec<&'static ComparisonFormat>> {
    let formats = match (list, out) {
        (Some(list), _) => FORMATS.parse(list).context("--format")?,
        (None, Some(_)) => FORMATS.defaults(),
        (None, None) => vec![&TABLE],
    };
    if out.is_none() {
        for_stdout(&formats, "name a folder for several with --out")?;
    }
    Ok(formats)
}

/// Writes files to the folder and the table to stdout, or the one format to stdout.
fn deliver(
    args: &CompareArgs,
    formats: &[&ComparisonFormat],
    out: Option<&Path>,
    comparison: &Comparison,
) -> Result<()> {
    let view = View { all_cells: args.all_cells, color: args.colors.takes_colors() };
    if formats.contains(&&GITHUB) {
        add_job_summary(comparison);
    }
    let Some(out) = out else {
        return stream::print(&formats[0].text(comparison, &view)?);
    };
    let plain = View { color: false, ..view };
    let mut files = vec![];
    for format in formats {
        files.extend(format.files(comparison, &plain)?);
    }
    for path in save_all_in_new(out, &files, args.force)? {
        stream::note(&format!("gpubench: wrote {}", path.display()));
    }
    stream::print(&TABLE.text(comparison, &view)?)
}

/// Appends the summary to the file that GitHub Actions names, if any. A failure is only reported, because the verdict
/// matters more.
fn add_job_summary(comparison: &Comparison) {
    let Some(path) = std::env::var_os(JOB_SUMMARY).filter(|path| !path.is_empty()) else { return };
    let file = std::fs::OpenOptions::new().create(true).append(true).open(&path);
    let written = file.and_then(|mut file| file.write_all(job_summary(comparison).as_bytes()));
    if let Err(error) = written {
        stream::complain(&format!(
            "cannot add the summary to {}: {error}; correct or unset {JOB_SUMMARY}",
            Path::new(&path).display()
        ));
    }
}
