//! `gpubench merge`: merges reports of several machines and devices into one file.

use std::path::{Path, PathBuf};

use anyhow::Result;
use clap::Args;
use gpubench_text::count::counted;

use super::folder::check_file;
use super::stream;
use crate::fleet;

const MERGE_HELP: &str = "\
Examples:
  gpubench merge results/*/ -o fleet.json     all runs in a folder
  gpubench merge a.json b.json --names left,right -o both.json
  gpubench merge fleet.json later/ --force -o fleet.json   add a member
  gpubench show fleet.json                    compare members, list outliers

A member is named by its host and GPU, such as 'node17 GPU 3'. If that is ambiguous, the name includes the GPU's bus address or \
the time of the run. The file contains complete reports: 'gpubench show fleet.json --member NAME --format json' extracts one. \
docs/fleet.md shows runs under Slurm, Kubernetes and ssh.";

/// The arguments of `merge`.
#[derive(Args)]
#[command(after_help = MERGE_HELP)]
pub(crate) struct MergeArgs {
    /// Reports: report.json files, folders of runs, or merged files, of which every member is used
    #[arg(required = true, value_name = "REPORT")]
    pub reports: Vec<PathBuf>,

    /// File to write; - for stdout
    #[arg(long, short, value_name = "FILE")]
    pub out: PathBuf,

    /// Names of the members in the order of the reports, separated by commas
    #[arg(long, value_name = "LIST")]
    pub names: Option<String>,

    /// Replace the file if it exists
    #[arg(long)]
    pub force: bool,
}

/// Merges the reports that `args` name.
pub(crate) fn run(args: &MergeArgs) -> Result<()> {
    let out = args.out.as_path();
    let to_stdout = out == Path::new("-");
    let shown = out.display();
    check_file(out, "fleet.json", args.force)?;
    let names: Option<Vec<String>> =
        args.names.as_ref().map(|names| names.split(',').map(|name| name.trim().to_owned()).collect());
    let merged = fleet::merge(fleet::sources(&args.reports)?, names.as_deref())?;
    if to_stdout {
        return stream::print_bytes(&fleet::file::to_json(&merged)?);
    }
    fleet::file::save(&merged, out)?;
    let reports = counted(merged.members.len(), "report");
    stream::note(&format!(
        "gpubench: {shown} contains {reports}; 'gpubench show {shown}' shows them side by side"
    ));
    Ok(())
}
