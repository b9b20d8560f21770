//! The arguments of `report`.

use std::path::PathBuf;

use clap::Args;

const REPORT_HELP: &str = "\
Examples:
  gpubench report results/mine -o report.html
  gpubench report node-a node-b node-c -o fleet.html   several reports, one page
  gpubench report fleet.json -o fleet.html             every member of a merged file
  gpubench report results/mine -o - | gzip > report.html.gz

The page holds all it shows and fetches nothing: send it, attach it to a pull request, print it. It needs no script to \
be read; with one, rows can be sorted and filtered.";

/// What `report` takes.
#[derive(Args)]
#[command(after_help = REPORT_HELP)]
pub(crate) struct ReportArgs {
    /// Reports: report.json files, merged files, or folders that hold one
    #[arg(required = true, value_name = "REPORT")]
    pub reports: Vec<PathBuf>,

    /// File for the page; - writes it to stdout
    #[arg(long, short, value_name = "FILE")]
    pub out: PathBuf,

    /// Replace the file that --out names
    #[arg(long)]
    pub force: bool,
}
