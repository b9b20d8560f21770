//! The arguments of `merge`.

use std::path::PathBuf;

use clap::Args;

const MERGE_HELP: &str = "\
Examples:
  gpubench merge results/*/ -o fleet.json             every run in a folder of results
  gpubench merge a.json b.json --names left,right -o both.json
  gpubench merge fleet.json later/ --force -o fleet.json   one more member
  gpubench show fleet.json                            side by side, with what stands out among like devices

A member is called by its host and GPU, such as 'node17 GPU 3'; where that is not enough, by the GPU's address on its \
bus or by the time of its run. Reports stay whole: 'gpubench show fleet.json --member NAME --format json' takes one out \
again. Runs started by Slurm, Kubernetes or ssh: docs/fleet.md.";

/// What `merge` takes.
#[derive(Args)]
#[command(after_help = MERGE_HELP)]
pub(crate) struct MergeArgs {
    /// Reports: report.json files, folders of runs, or merged files, whose members are taken one by one
    #[arg(required = true, value_name = "REPORT")]
    pub reports: Vec<PathBuf>,

    /// The file to write; - is stdout
    #[arg(long, short, value_name = "FILE")]
    pub out: PathBuf,

    /// Names of the members, separated by commas, in the order of the reports
    #[arg(long, value_name = "LIST")]
    pub names: Option<String>,

    /// Replace the file where it exists
    #[arg(long)]
    pub force: bool,
}
