//! The arguments of `trend`.

use std::path::PathBuf;

use clap::Args;

use crate::cli::values;
use crate::settings::options::{Ops, ThemeName, Variants};
use crate::trend::export::{FORMATS, TABLE};

const TREND_HELP: &str = "\
Examples:
  gpubench trend results                               what changed, and when, on stdout
  gpubench trend nightly --out trend                   the same with charts, JSON, CSV and Markdown in that folder
  gpubench trend nightly --ops matmul --variants 'cublas*' --threshold 5%
  gpubench trend nightly --format json | jq '.series[] | select(.steps != [])'

Reports are taken in order of their start. A step is a change of the level that lasts for 3 reports at least and that \
the noise from report to report does not explain; the newest reports that stand apart are told as not confirmed. \
Times of different CPU or GPU models are never joined. docs/trend.md tells the method.

Exit codes: 0 whatever is found ('gpubench trend' is a chart and no gate), 2 wrong usage or no report.";

/// What `trend` takes.
#[derive(Args)]
#[command(after_help = TREND_HELP)]
pub(crate) struct TrendArgs {
    /// Folders whose reports, and those in folders below, are charted; report files stand for themselves
    #[arg(required = true, value_name = "DIR")]
    pub folders: Vec<PathBuf>,

    /// Ops to take, separated by commas, or all. Default: all
    #[arg(long, value_name = "LIST")]
    pub ops: Option<Ops>,

    /// Variants to take, by name or backend/name; * and ? stand for any characters and any one. Default: all
    #[arg(long, value_name = "LIST")]
    pub variants: Option<Variants>,

    /// The smallest step that is told, relative to the level before
    #[arg(long, value_name = "PERCENT", allow_hyphen_values = true, default_value = "2%")]
    #[arg(value_parser = values::precision)]
    pub threshold: f64,

    /// Folder for files, made when missing; - or none writes one --format to stdout and nothing else
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,

    #[arg(help = format!(
        "What to write: {}. Default: {}; with --out {}",
        FORMATS.listed(),
        TABLE.name,
        FORMATS.listed_defaults()
    ))]
    #[arg(long, value_name = "LIST")]
    pub format: Option<String>,

    /// How charts look: light or dark
    #[arg(long, value_name = "THEME", default_value = "light")]
    pub theme: ThemeName,

    /// Replace files that --out already holds
    #[arg(long)]
    pub force: bool,
}
