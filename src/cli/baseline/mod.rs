//! `gpubench baseline`: lists and shows baselines; `save` has its own module.

mod refusal;
mod save;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use crate::document::table::Table;
use crate::write::terminal::table_text;
use anyhow::{Result, bail};
use clap::{Args, Subcommand};
use gpubench_text::control::spelled_out;
use gpubench_text::percent;

use super::stream;
use crate::baseline::{self, CellVariation};
use crate::compare::{Policy, Runs, compare, load};
use crate::report::file;
use crate::report::machine::device_of_backend;
use crate::report::quantity::spread_text;
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
than the cell's threshold, because a gate could not distinguish such a difference from a regression.

Exit codes: 0 saved; 1 the passes disagree, or a cell is incorrect or failed; 2 wrong usage; 130 interrupted.";

/// Minimum passes of a baseline: with two, a run in which nothing changed could hardly ever pass.
const MIN_PASSES: i64 = 3;

/// What `baseline save` takes.
#[derive(Args)]
#[command(after_help = SAVE_HELP)]
pub(crate) struct SaveArgs {
    /// Name of the baseline: letters, digits, '.', '_' and '-'
    pub name: String,

    /// Number of times to run the sweep, at least 3
    #[arg(long, value_name = "N", default_value = "5", value_parser = clap::value_parser!(u32).range(MIN_PASSES..=50))]
    #[arg(help_heading = "Baseline")]
    pub passes: u32,

    /// Existing runs to save instead of running a sweep: at least three report.json files, or folders that contain runs
    #[arg(long, value_name = "REPORT", num_args = 1.., conflicts_with = "passes")]
    #[arg(help_heading = "Baseline")]
    pub from: Vec<PathBuf>,

    /// Largest difference between passes. Default: 5% for work paced by the device, 10% otherwise
    #[arg(long, value_name = "PERCENT", value_parser = percent::parse_from_zero, allow_hyphen_values = true)]
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

/// Runs the subcommand.
pub(crate) fn run(command: BaselineCommand) -> Result<ExitCode> {
    match command {
        BaselineCommand::Save(args) => save::save(&args),
        BaselineCommand::List { dir } => stream::print(&list(&dir)?).map(|()| ExitCode::SUCCESS),
        BaselineCommand::Show { name, dir } => stream::print(&show(&name, &dir)?).map(|()| ExitCode::SUCCESS),
    }
}

fn list(folder: &Path) -> Result<String> {
    let found = baseline::list(folder)?;
    if found.is_empty() {
        return Ok(format!(
            "no baselines in {}: save one with 'gpubench baseline save NAME'\n",
            folder.display()
        ));
    }
    let mut listing = Table::listing(&["Name", "Saved", "Passes", "Cells", "Max. variation", "Machine"]);
    for (path, baseline) in found {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let fields = match baseline {
            Ok(baseline) => {
                let widest =
                    baseline.cells.iter().map(|cell| cell.variation_between_runs).fold(0.0, f64::max);
                let first = baseline.reports(&path).first().and_then(|report| file::load(report).ok());
                let machine =
                    first.map_or("cannot read its first pass".to_owned(), |report| machine(&report));
                let (passes, cells) = (baseline.passes.len().to_string(), baseline.cells.len().to_string());
                [name, minute(&baseline.saved), passes, cells, spread_text(widest), machine]
            }
            Err(error) => {
                let [saved, passes, cells, variation] = ["-"; 4].map(str::to_owned);
                [name, saved, passes, cells, variation, format!("{error:#}")]
            }
        };
        listing.row(on_one_line(fields));
    }
    Ok(table_text(&listing, false))
}

/// Returns the fields of a row; names of folders and texts of files may hold line breaks and control characters.
fn on_one_line<const FIELDS: usize>(fields: [String; FIELDS]) -> Vec<String> {
    fields.iter().map(|field| spelled_out(field)).collect()
}

fn show(name: &str, dir: &Path) -> Result<String> {
    let given = PathBuf::from(name);
    let folder = if given.join(baseline::FILE_NAME).is_file() { given } else { dir.join(name) };
    show_in(&folder, &Policy::default())
}

fn show_in(folder: &Path, policy: &Policy) -> Result<String> {
    let Some(baseline) = baseline::open(folder)? else {
        bail!("{} is not a baseline: 'gpubench baseline list' lists the baselines", folder.display());
    };
    let runs = load::runs(&[folder.to_owned()])?;
    let mut listing =
        Table::listing(&["Op", "N", "dtype", "Variant", "Cache", "Pass range", "Variation", "Detectable"]);
    // Comparing the first pass with the baseline gives the smallest change that one run detects.
    let one_run = Runs { runs: runs.runs.iter().take(1).cloned().collect(), ..Runs::default() };
    let compared = compare(&runs, &one_run, policy).cells.into_iter();
    let detectable: HashMap<String, Option<f64>> =
        compared.map(|change| (change.cell().key(), change.smallest_detectable_change)).collect();
    for CellVariation { cell, variation_between_runs, pass_range } in &baseline.cells {
        listing.row(on_one_line([
            cell.case.op.clone(),
            cell.case.n.to_string(),
            cell.case.dtype.to_string(),
            format!("{}/{}", cell.backend, cell.variant),
            cell.cache.to_string(),
            spread_text(*pass_range),
            spread_text(*variation_between_runs),
            detectable.get(&cell.key()).copied().flatten().map_or("-".into(), spread_text),
        ]));
    }
    let machine = runs.runs.first().map(|run| machine(&run.report)).unwrap_or_default();
    Ok(format!(
        "{}: {} passes, saved {}\n{machine}\n\n{}\nPass range: the difference between the slowest and the fastest pass.\nVariation: between runs, moderated by the other cells because few passes estimate it poorly.\nDetectable: the slowdown that one run detects against this baseline with a chance of 80 %.\n",
        spelled_out(&baseline.name),
        baseline.passes.len(),
        minute(&spelled_out(&baseline.saved)),
        table_text(&listing, false),
    ))
}

/// Returns an RFC 3339 time to the minute, `2026-11-21 10:30 UTC`; any other text as it is.
fn minute(time: &str) -> String {
    let parsed = time.parse::<jiff::Timestamp>();
    parsed.map_or_else(|_| time.to_owned(), |time| time.strftime("%Y-%m-%d %H:%M UTC").to_string())
}

/// Returns the CPU and, if there is one, the GPU of a run.
fn machine(report: &crate::report::Report) -> String {
    let environment = &report.environment;
    let device = environment.backends.iter().find_map(|backend| device_of_backend(report, backend));
    let names = [Some(environment.host.cpu.as_str()), device].into_iter().flatten();
    spelled_out(&names.collect::<Vec<_>>().join(", "))
}
