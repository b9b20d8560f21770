//! `gpubench trend`: reads reports, writes the trend, and reports ignored files on stderr.

use std::path::Path;

use anyhow::{Context, Result, anyhow};
use gpubench_report::format::{Unprintable, for_stdout};

use super::args::TrendArgs;
use super::sweep::parsed;
use super::{folder, stream};
use crate::report::file::save_all_in_new;
use crate::trend::{self, TrendRequest};
use crate::write::chart::{self, Theme};
use crate::write::trend::{FORMATS, TABLE, TrendFormat};

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
        None => to_stdout(&request, &formats.unwrap_or(vec![&TABLE])),
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
    let has_charts = formats.iter().any(|format| chart::Format::find(format.name).is_some());
    if let Some(line) = crate::write::trend::missing_charts_text(&trend).filter(|_| has_charts) {
        stream::note(&format!("gpubench: {line}"));
    }
    if !files.is_empty() {
        save_all_in_new(folder, &files, force)?;
        stream::note(&format!("gpubench: results are in {}", folder.display()));
    }
    stream::print(&table)
}

fn to_stdout(request: &TrendRequest, formats: &[&'static TrendFormat]) -> Result<()> {
    let format = for_stdout(formats).map_err(|why| match why {
        Unprintable::Count(_) => {
            anyhow!("stdout takes only one format: name one, or a folder for several with --out")
        }
        Unprintable::Files(name) => {
            anyhow!("{name} charts are files: name a folder for them with --out")
        }
    })?;
    let trend = read(request)?;
    stream::print(&format.text(&trend, &Theme::default())?)
}

/// Reads the reports; names other files on stderr.
fn read(request: &TrendRequest) -> Result<trend::Trend> {
    let trend = trend::trend(request)?;
    if let Some(line) = trend::left_out_text(&trend.left_out) {
        stream::note(&format!("gpubench: {line}"));
    }
    Ok(trend)
}
