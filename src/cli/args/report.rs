//! The arguments of `report`.

use std::path::PathBuf;

use clap::Args;

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

    /// Replace the file if it exists
    #[arg(long)]
    pub force: bool,
}
