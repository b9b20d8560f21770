//! `gpubench trend`: reads reports, writes the trend, and reports ignored files on stderr.

use std::path::Path;

use anyhow::{Context, Result, anyhow};
use gpubench_model::format::{Unprintable, for_stdout};

use super::args::TrendArgs;
use super::sweep::parsed;
use super::{folder, stream};
use crate::chart::{self, Theme};
use crate::report::file::save_all_in_new;
use crate::trend::export::{FORMATS, Format, TABLE};
use crate::trend::{self, Request};

/// Runs the command.
pub(crate) fn run(args: &TrendArgs) -> Result<()> {
    let formats = parsed("--format", args.format.as_deref(), |list| FORMATS.parse(list))?;
    let request = Request {
        folders: args.folders.clone(),
        ops: args.ops.clone().map(|ops| ops.0),
        variants: args.variants.clone().map(|variants| variants.0),
        threshold: args.threshold,
    };
    match folder::named(args.out.as_deref())? {
        Some(folder) => {
            let files = Files {
                formats: formats.unwrap_or_else(|| FORMATS.defaults()),
                theme: args.theme.0,
                folder,
                force: args.force,
            };
            files.write(&request)
        }
        None => to_stdout(&request, &formats.unwrap_or(vec![&TABLE])),
    }
}

/// The formats to write to a folder.
struct Files<'a> {
    formats: Vec<&'static Format>,
    theme: Theme,
    folder: &'a Path,
    force: bool,
}

impl Files<'_> {
    /// Writes the table to stdout and the other formats to the folder; writes nothing if any of them fails.
    fn write(&self, request: &Request) -> Result<()> {
        let trend = read(request)?;
        let (mut table, mut files) = (String::new(), vec![]);
        for format in &self.formats {
            let context = || format!("--format {}", format.name);
            files.extend(format.files(&trend, &self.theme).with_context(context)?);
            table.push_str(&format.screen(&trend, &self.theme).with_context(context)?);
        }
        if let Some(line) = trend::missing_charts_text(&trend).filter(|_| self.formats.iter().any(is_chart)) {
            stream::note(&format!("gpubench: {line}"));
        }
        if !files.is_empty() {
            save_all_in_new(self.folder, &files, self.force)?;
            stream::note(&format!("gpubench: results are in {}", self.folder.display()));
        }
        stream::print(&table)
    }
}

/// Returns true for the formats of charts.
fn is_chart(format: &&Format) -> bool {
    chart::Format::find(format.name).is_some()
}

fn to_stdout(request: &Request, formats: &[&'static Format]) -> Result<()> {
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
fn read(request: &Request) -> Result<trend::Trend> {
    let trend = trend::trend(request)?;
    if let Some(line) = trend::ignored_files_text(&trend) {
        stream::note(&format!("gpubench: {line}"));
    }
    Ok(trend)
}
