//! `gpubench show`: prints a report that exists, as the run that made it did.

use anyhow::{Context, Result, ensure};

use super::args::ShowArgs;
use super::stream;
use crate::export::{self, View};
use crate::report::file;
use crate::settings::{Format, words};

/// Prints the report that `args` name.
pub fn run(args: &ShowArgs) -> Result<()> {
    let formats = words::formats(&args.format).context("--format")?;
    let [format] = formats.as_slice() else {
        anyhow::bail!("--format: stdout takes one format: name table, json, csv, md or html");
    };
    let name = format.name();
    ensure!(
        !matches!(format, Format::Png | Format::Svg),
        "--format: {name} charts are files: draw them with 'gpubench plot'"
    );
    let exporter = export::find(name).with_context(|| format!("no exporter of {name}"))?;
    let report = file::load(&args.report)?;
    let view = View {
        all_variants: args.all_variants,
        color: !args.no_color && stream::takes_colors(),
        ..View::default()
    };
    let mut text = Vec::new();
    exporter.write(&report, &view, &mut text)?;
    stream::print_bytes(&text)
}
