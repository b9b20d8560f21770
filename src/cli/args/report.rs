//! The arguments of `report`.

use std::path::PathBuf;

use clap::Args;

use crate::settings::options::Contenders;

const REPORT_HELP: &str = "\
Examples:
  gpubench report results/mine -o report.html
  gpubench report node-a node-b node-c -o fleet.html   several reports
  gpubench report fleet.json -o fleet.html             all members of a file
  gpubench report results/mine -o - | gzip > report.html.gz

The page is one file that loads nothing from the network. It shows the verdict, charts and every row, and can be read without \
JavaScript; with it, rows can be sorted and filtered.";

/// What `report` takes.
#[derive(Args)]
#[command(after_help = REPORT_HELP)]
pub(crate) struct ReportArgs {
    /// Reports: report.json files, merged files, or folders that contain one
    #[arg(required = true, value_name = "REPORT")]
    pub reports: Vec<PathBuf>,

    /// File for the page; - for stdout
    #[arg(long, short, value_name = "FILE")]
    pub out: PathBuf,

    /// Compare B with A instead of the GPU with the CPU: names of backends, or backend/variant, and lists of these, such as
    /// numpy:cupy or cpu,numpy:cuda. Default: those of the run; sides for GPU and CPU
    #[arg(long, value_name = "A:B")]
    pub versus: Option<Contenders>,

    /// Replace the file if it exists
    #[arg(long)]
    pub force: bool,
}
