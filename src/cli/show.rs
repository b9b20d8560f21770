//! `gpubench show`: prints a report as its run printed it, or the members of a merged file next to each other.

use anyhow::{Context, Result, anyhow, ensure};
use gpubench_model::format::{Unprintable, for_stdout};

use super::args::ShowArgs;
use super::stream;
use crate::export::{FORMATS, View};
use crate::fleet::{self, Fleet, file};
use crate::settings::Format;
use crate::settings::words;

/// Prints the report in `args`.
pub(crate) fn run(args: &ShowArgs) -> Result<()> {
    let format = for_stdout(&words::formats(&args.format).context("--format")?).map_err(|why| match why {
        Unprintable::Count(_) => {
            anyhow!("--format: stdout takes one format: name {}", FORMATS.printable())
        }
        Unprintable::Files(name) => {
            anyhow!("--format: {name} charts are files: draw them with 'gpubench plot'")
        }
    })?;
    let fleet = file::load(&args.report)?;
    ensure!(
        !(args.tables || args.all_variants) || args.member.is_some() || fleet.single().is_some(),
        "{}: --tables and --all-variants show one report, and this file has {}: add --member NAME, such as '{}'",
        args.report.display(),
        fleet.members.len(),
        fleet.members[0].name
    );
    let color = !args.no_color && stream::takes_colors();
    let view = View { tables: args.tables, all_variants: args.all_variants, color, ..View::default() };
    let text = match &args.member {
        Some(member) => format.text(fleet.member(member).context("--member")?, &view)?,
        None => rendered(&fleet, format, &view)?,
    };
    stream::print(&text)
}

/// Renders a fleet in one format, or the report itself where the fleet has a single member.
pub(crate) fn rendered(fleet: &Fleet, format: Format, view: &View) -> Result<String> {
    if let Some(report) = fleet.single() {
        return format.text(report, view);
    }
    let view = fleet::export::View { color: view.color };
    fleet::export::FORMATS.parse(format.name)?.iter().map(|format| format.text(fleet, &view)).collect()
}
