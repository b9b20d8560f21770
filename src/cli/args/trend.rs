//! The arguments of `trend`.

use std::path::PathBuf;

use clap::Args;

use crate::cli::values;
use crate::settings::options::{Ops, ThemeName, Variants};
use crate::write::trend::{FORMATS, TABLE};

const TREND_HELP: &str = "\
Examples:
  gpubench trend results               print changes and their dates
  gpubench trend nightly --out trend   also write JSON, CSV and Markdown
  gpubench trend nightly --ops fft --out trend --format png   a chart per case
  gpubench trend nightly --ops matmul --variants 'cublas*' --threshold 5%
  gpubench trend nightly --format json | jq '.series[] | select(.steps != [])'

gpubench orders reports by their start. A step is a change of level that lasts for at least 3 reports and exceeds the noise \
between reports. If only the newest reports differ, the step is shown as not confirmed. Times of different CPU or GPU models are \
never joined. docs/trend.md explains the method.

Exit codes: 0 with or without steps (use compare as a gate); 2 wrong usage or no report.";

/// What `trend` takes.
#[derive(Args)]
#[command(after_help = TREND_HELP)]
pub(crate) struct TrendArgs {
    /// Report files, or folders that are searched for reports, including subfolders
    #[arg(required = true, value_name = "DIR")]
    pub folders: Vec<PathBuf>,

    /// Ops to include, separated by commas. Default: all
    #[arg(long, value_name = "LIST")]
    pub ops: Option<Ops>,

    /// Variants to include, by name or backend/name; * and ? are wildcards. Default: all
    #[arg(long, value_name = "LIST")]
    pub variants: Option<Variants>,

    /// Smallest step to report, relative to the level before
    #[arg(long, value_name = "PERCENT", allow_hyphen_values = true, default_value = "2%")]
    #[arg(value_parser = values::precision)]
    pub threshold: f64,

    /// Folder for files, created if missing. With - or without --out, one --format goes to stdout
    #[arg(long, short, value_name = "DIR")]
    pub out: Option<PathBuf>,

    #[arg(help = format!(
        "Formats: {}. Default: {}; with --out {}",
        FORMATS.listed(),
        TABLE.name,
        FORMATS.listed_defaults()
    ))]
    #[arg(long, value_name = "LIST")]
    pub format: Option<String>,

    /// Theme of the charts: light or dark
    #[arg(long, value_name = "THEME", default_value = "light")]
    pub theme: ThemeName,

    /// Replace files already in --out
    #[arg(long)]
    pub force: bool,
}
