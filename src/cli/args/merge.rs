//! The arguments of `merge`.

use std::path::PathBuf;

use clap::Args;

const MERGE_HELP: &str = "\
Examples:
  gpubench merge results/*/ -o fleet.json     all runs in a folder
  gpubench merge a.json b.json --names left,right -o both.json
  gpubench merge fleet.json later/ --force -o fleet.json   add a member
  gpubench show fleet.json                    compare members, list outliers

A member is named by its host and GPU, such as 'node17 GPU 3'. If that is ambiguous, the name includes the GPU's bus address or \
the time of the run. The file contains complete reports: 'gpubench show fleet.json --member NAME --format json' extracts one. \
docs/fleet.md shows runs under Slurm, Kubernetes and ssh.";

/// What `merge` takes.
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
