//! `gpubench trend`: what to read, where to write, and what to say on stderr.

use std::path::Path;

use anyhow::{Context, Result, bail, ensure};

use super::args::TrendArgs;
use super::sweep::parsed;
use super::{folder, stream};
use crate::chart::Theme;
use crate::report::file::save_all_in_new;
use crate::settings::{Format, words};
use crate::trend::{self, Request};

/// Charts the reports that `args` name.
pub fn run(args: &TrendArgs) -> Result<()> {
    let formats = parsed("--format", args.format.as_deref(), words::formats)?;
    let request = Request {
        folders: args.folders.clone(),
        ops: args.ops.clone().map(|ops| ops.0),
        variants: args.variants.clone().map(|variants| variants.0),
        threshold: args.threshold,
    };
    match folder::named(args.out.as_deref())? {
        Some(folder) => {
            let files = Files {
                formats: formats.unwrap_or(Format::DEFAULT.into()),
                theme: args.theme.0,
                folder,
                force: args.force,
            };
            files.write(&request)
        }
        None => to_stdout(&request, &formats.unwrap_or(vec![Format::Table])),
    }
}

/// What goes into a folder.
struct Files<'a> {
    formats: Vec<Format>,
    theme: Theme,
    folder: &'a Path,
    force: bool,
}

impl Files<'_> {
    /// The table goes to stdout, the rest into the folder: all of it or nothing.
    fn write(&self, request: &Request) -> Result<()> {
        let trend = read(request)?;
        let mut table = vec![];
        let mut files = vec![];
        for format in &self.formats {
            let made = trend::files(&trend, *format, self.theme)
                .with_context(|| format!("--format {}", format.name()))?;
            if *format == Format::Table { &mut table } else { &mut files }.extend(made);
        }
        if !files.is_empty() {
            save_all_in_new(self.folder, &files, self.force)?;
            stream::note(&format!("gpubench: results are in {}", self.folder.display()));
        }
        table.iter().try_for_each(|file| stream::print_bytes(&file.bytes))
    }
}

fn to_stdout(request: &Request, formats: &[Format]) -> Result<()> {
    let [format] = formats else {
        bail!("stdout takes one format: name one, or a folder for several with --out");
    };
    let name = format.name();
    ensure!(
        !matches!(format, Format::Png | Format::Svg),
        "{name} charts are files and do not go to stdout: name a folder with --out"
    );
    let trend = read(request)?;
    trend::files(&trend, *format, Theme::default())?
        .iter()
        .try_for_each(|file| stream::print_bytes(&file.bytes))
}

/// Reads the reports; files that are none are told on stderr.
fn read(request: &Request) -> Result<trend::Trend> {
    let trend = trend::trend(request)?;
    if let Some(line) = trend::left_out_text(&trend) {
        stream::note(&format!("gpubench: {line}"));
    }
    Ok(trend)
}
