//! `gpubench trend`: reads reports, writes the trend, and reports ignored files on stderr.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use clap::Args;
use gpubench_report::format::for_stdout;
use gpubench_text::percent;

use super::{folder, parsed, stream};
use crate::report::file::save_all_in_new;
use crate::settings::options::{Ops, ThemeName, Variants};
use crate::trend::{self, TrendRequest};
use crate::write::chart::Theme;
use crate::write::trend::{FORMATS, TABLE, TrendFormat};

const TREND_HELP: &str = "\
Examples:
  gpubench trend results               print changes and their dates
  gpubench trend nightly --out trend   also write JSON, CSV and Markdown
  gpubench trend nightly --ops fft --out trend --format png   a chart per series
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
    #[arg(value_parser = percent::parse)]
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

/// Runs the command.
pub(crate) fn run(args: &TrendArgs) -> Result<()> {
    let formats = parsed("--format", args.format.as_deref(), |list| FORMATS.parse(list))?;
    let request = TrendRequest {
        folders: args.folders.clone(),
        ops: args.ops.clone().map(|ops| ops.0),
        variants: args.variants.clone().map(|variants| variants.0),
        threshold: args.threshold,
    };
    match folder::named(args.out.as_deref())? {
        Some(folder) => {
            let formats = formats.unwrap_or_else(|| FORMATS.defaults());
            to_folder(folder, &request, &formats, args.theme.0, args.force)
        }
        None => {
            let format =
                for_stdout(&formats.unwrap_or(vec![&TABLE]), "name a folder for several with --out")?;
            stream::print(&format.text(&read(&request)?, &Theme::default())?)
        }
    }
}

/// Writes the table to stdout and the other formats to the folder; writes nothing if any of them fails.
fn to_folder(
    folder: &Path,
    request: &TrendRequest,
    formats: &[&'static TrendFormat],
    theme: Theme,
    force: bool,
) -> Result<()> {
    let trend = read(request)?;
    let (mut table, mut files) = (String::new(), vec![]);
    for format in formats {
        let context = || format!("--format {}", format.name);
        files.extend(format.files(&trend, &theme).with_context(context)?);
        table.push_str(&format.screen(&trend, &theme).with_context(context)?);
    }
    if !files.is_empty() {
        save_all_in_new(folder, &files, force)?;
        stream::note(&format!("gpubench: results are in {}", folder.display()));
    }
    stream::print(&table)
}

/// Reads the reports; names other files on stderr.
fn read(request: &TrendRequest) -> Result<trend::Trend> {
    let trend = trend::trend(request)?;
    if let Some(line) = trend::left_out_text(&trend.left_out) {
        stream::note(&format!("gpubench: {line}"));
    }
    Ok(trend)
}
