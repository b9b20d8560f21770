//! `gpubench show`: prints a report as its run printed it, or the members of a merged file next to each other.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use gpubench_document::report::screen::legend;
use gpubench_report::format::for_stdout;
use gpubench_text::grouped::distinct;

use super::args::ShowArgs;
use super::newest::named_or_newest;
use super::redraw::choose_contenders;
use super::stream;
use crate::executor::journal;
use crate::fleet::file::{self, locate};
use crate::fleet::{Fleet, Member};
use crate::report::file::{FILE_NAME, stopped_run};
use crate::settings::ReportFormat;
use crate::settings::options::Ops;
use crate::write::report::{FORMATS, View};
use crate::write::terminal::{Screen, TERMINAL_WIDTH, blocks};

/// Prints the report in `args`.
pub(crate) fn run(args: &ShowArgs) -> Result<()> {
    let (color, width) = (args.colors.takes_colors(), stream::width());
    if args.legend {
        let screen = Screen { width: width.unwrap_or(TERMINAL_WIDTH), color };
        return stream::print(&blocks(&[legend()], screen));
    }
    let formats = FORMATS.parse(&args.format).context("--format")?;
    let format = for_stdout(&formats, "draw charts with 'gpubench plot'")?;
    let report = named_or_newest(args.report.as_slice())?.remove(0);
    // Of a run that was killed, the journal has the cells that are finished.
    let finished = if stopped_run(&report).is_some() { journal::read(&report)? } else { None };
    let mut fleet = finished.map_or_else(|| file::load(&report), |(report, _)| Ok(file::of_one(report)))?;
    if let Some(ops) = &args.ops {
        keep_ops(&mut fleet, ops).with_context(|| report.display().to_string())?;
    }
    ensure!(
        !(args.tables || args.all_variants) || args.member.is_some() || fleet.single().is_some(),
        "{}: --tables and --all-variants show one report, and this file has {}: add --member NAME, such as '{}'",
        report.display(),
        fleet.members.len(),
        fleet.members[0].name
    );
    if let Some(names) = &args.versus {
        let shown =
            fleet.members.iter_mut().filter(|one| args.member.as_ref().is_none_or(|name| one.name == *name));
        let shown: Vec<&mut Member> = shown.collect();
        ensure!(
            shown.len() == 1,
            "--versus compares within one report, and {} has {}: add --member NAME",
            report.display(),
            shown.len()
        );
        choose_contenders(shown, Some(names))?;
    }
    let (tables, all_variants, folder) = (args.tables, args.all_variants, folder_of_run(&report));
    let shown = args.report.clone().map(|report| folder_of_run(&report).unwrap_or(report));
    let view = View { tables, all_variants, color, width, folder, shown, ..View::default() };
    let text = match &args.member {
        Some(member) => format.text(fleet.member(member).context("--member")?, &view)?,
        None => rendered(&fleet, format, &view)?,
    };
    stream::print(&text)
}

/// Returns the folder of the run whose report `shown` is; `None` for a file of another name, which is a copy or a fleet.
fn folder_of_run(shown: &Path) -> Option<PathBuf> {
    let file = locate(shown);
    let folder = file.parent().filter(|_| file.file_name().is_some_and(|name| name == FILE_NAME))?;
    Some(if folder.as_os_str().is_empty() { PathBuf::from(".") } else { folder.to_owned() })
}

/// Removes the rows of other ops, of which some must be left.
fn keep_ops(fleet: &mut Fleet, ops: &Ops) -> Result<()> {
    let rows = fleet.members.iter().flat_map(|member| &member.report.rows);
    let found = distinct(rows.map(|row| row.case.op.clone()));
    ensure!(
        found.iter().any(|op| ops.0.contains(op)),
        "--ops: no row is of {} (ops in it: {})",
        ops.0.join(", "),
        found.join(", ")
    );
    for Member { report, .. } in &mut fleet.members {
        let before = report.rows.len();
        report.rows.retain(|row| ops.0.contains(&row.case.op));
        // The rows that a run planned and did not reach stay missing.
        let removed = (before - report.rows.len()) as u64;
        let planned = &mut report.environment.planned_rows;
        *planned = planned.map(|planned| planned.saturating_sub(removed));
        let sweeps = report.environment.settings.get_mut("sweeps").and_then(|sweeps| sweeps.as_array_mut());
        if let Some(sweeps) = sweeps {
            sweeps.retain(|sweep| sweep["op"].as_str().is_some_and(|op| ops.0.iter().any(|kept| kept == op)));
        }
    }
    Ok(())
}

/// Renders a fleet in one format, or the report itself where the fleet has a single member.
pub(crate) fn rendered(fleet: &Fleet, format: ReportFormat, view: &View) -> Result<String> {
    if let Some(report) = fleet.single() {
        return format.text(report, view);
    }
    let screen = Screen { width: view.width.unwrap_or(TERMINAL_WIDTH), color: view.color };
    crate::write::fleet::FORMATS
        .parse(format.name)?
        .iter()
        .map(|format| format.text(fleet, &screen))
        .collect()
}
