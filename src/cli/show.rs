//! `gpubench show`: prints a report as its run printed it, or the members of a merged file next to each other.

use std::fs;
use std::io::{BufReader, Read};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow, ensure};
use gpubench_backend::host::regular;
use gpubench_document::report::screen::legend;
use gpubench_report::format::{Unprintable, for_stdout};
use gpubench_text::grouped::distinct;
use jiff::Timestamp;
use serde::Deserialize;

use super::args::ShowArgs;
use super::redraw::choose_contenders;
use super::stream;
use crate::baseline;
use crate::fleet::file::{self, locate};
use crate::fleet::{Fleet, Member};
use crate::report::file::{FILE_NAME, LARGEST};
use crate::settings::ReportFormat;
use crate::settings::names;
use crate::settings::options::Ops;
use crate::settings::resolve::RESULTS;
use crate::write::report::{FORMATS, View};
use crate::write::terminal::{Screen, TERMINAL_WIDTH, blocks};

/// Prints the report in `args`.
pub(crate) fn run(args: &ShowArgs) -> Result<()> {
    let (color, width) = (!args.no_color && stream::takes_colors(), stream::width());
    if args.legend {
        let screen = Screen { width: width.unwrap_or(TERMINAL_WIDTH), color };
        return stream::print(&blocks(&[legend()], screen));
    }
    let format = for_stdout(&names::formats(&args.format).context("--format")?).map_err(|why| match why {
        Unprintable::Count(_) => {
            anyhow!("--format: stdout takes one format: name {}", FORMATS.printable())
        }
        Unprintable::Files(name) => {
            anyhow!("--format: {name} charts are files: draw them with 'gpubench plot'")
        }
    })?;
    let report = chosen(args)?;
    let mut fleet = file::load(&report)?;
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

/// Returns the report that `args` name, or the newest run, whose folder a note names.
fn chosen(args: &ShowArgs) -> Result<PathBuf> {
    if let Some(report) = &args.report {
        return Ok(report.clone());
    }
    let newest = newest_run(Path::new(RESULTS))?;
    stream::note(&format!("gpubench: {} is the newest run in {RESULTS}", newest.display()));
    Ok(newest)
}

/// Returns the folder of the run whose report `shown` is; `None` for a file of another name, which is a copy or a fleet.
fn folder_of_run(shown: &Path) -> Option<PathBuf> {
    let file = locate(shown);
    let folder = file.parent().filter(|_| file.file_name().is_some_and(|name| name == FILE_NAME))?;
    Some(if folder.as_os_str().is_empty() { PathBuf::from(".") } else { folder.to_owned() })
}

/// Removes the rows of other ops.
///
/// # Errors
/// No row is left.
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

/// The part of a report that dates it.
#[derive(Deserialize)]
struct Dated {
    environment: DatedEnvironment,
}

#[derive(Deserialize)]
struct DatedEnvironment {
    started: String,
}

/// Returns the folder of the run below `results` that started last. For a run on several devices that is the folder
/// of the merged report.
///
/// # Errors
/// There is no readable report below `results`.
fn newest_run(results: &Path) -> Result<PathBuf> {
    let mut folders = vec![];
    add_runs(results, &mut folders);
    // By name, so that equal times give the same run each time.
    folders.sort();
    let dated = folders.into_iter().filter_map(|folder| Some((started(&folder)?, folder)));
    let (_, newest) = dated.max_by_key(|(started, _)| *started).with_context(|| {
        let results = results.display();
        format!("there is no report below {results}: create one with 'gpubench run', or name a report")
    })?;
    let whole = newest.parent().filter(|parent| *parent != results);
    let whole = whole.filter(|parent| parent.join(file::FILE_NAME).is_file());
    Ok(whole.map(Path::to_owned).unwrap_or(newest))
}

/// Adds the folders in and below `folder` that contain a report. The passes of a baseline are not runs. Links to folders are
/// not followed: they may form a circle.
fn add_runs(folder: &Path, found: &mut Vec<PathBuf>) {
    if folder.ends_with(baseline::FOLDER) || folder.join(baseline::FILE_NAME).is_file() {
        return;
    }
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            add_runs(&entry.path(), found);
        } else if entry.file_name() == FILE_NAME {
            found.push(folder.to_owned());
        }
    }
}

/// Returns the start of the run in `folder`; `None` if its report is not readable.
fn started(folder: &Path) -> Option<Timestamp> {
    // A pipe of that name would never end.
    let file = regular::open(&folder.join(FILE_NAME)).ok().filter(|file| {
        // A text takes as much memory as it has bytes, so a larger one than a report is not begun.
        file.metadata().is_ok_and(|metadata| metadata.len() <= LARGEST)
    })?;
    let file = BufReader::new(file.take(LARGEST));
    serde_json::from_reader::<_, Dated>(file).ok()?.environment.started.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(root: &Path, folder: &str, started: &str) {
        let folder = root.join(folder);
        fs::create_dir_all(&folder).unwrap();
        let report = serde_json::json!({ "environment": { "started": started } });
        fs::write(folder.join(FILE_NAME), report.to_string()).unwrap();
    }

    #[test]
    fn a_pipe_in_place_of_a_report_does_not_count() {
        let root = tempfile::tempdir().unwrap();
        write(root.path(), "file", "2026-11-21T10:00:00Z");
        let folder = root.path().join("pipe");
        fs::create_dir(&folder).unwrap();
        assert!(std::process::Command::new("mkfifo").arg(folder.join(FILE_NAME)).status().unwrap().success());
        assert_eq!(newest_run(root.path()).unwrap(), root.path().join("file"));
    }

    #[test]
    fn the_start_decides_and_unreadable_files_do_not_count() {
        let root = tempfile::tempdir().unwrap();
        let refused = newest_run(root.path()).unwrap_err().to_string();
        assert!(refused.starts_with("there is no report below"), "{refused}");
        write(root.path(), "z", "2026-11-01T10:00:00Z");
        write(root.path(), "a/b", "2026-11-02T10:00:00.5Z");
        write(root.path(), "c", "2026-11-02T11:00:00+02:00");
        write(root.path(), "d", "tomorrow");
        assert_eq!(newest_run(root.path()).unwrap(), root.path().join("a/b"));
    }

    #[test]
    fn the_passes_of_a_baseline_are_no_runs() {
        let root = tempfile::tempdir().unwrap();
        let results = root.path().join("results");
        write(&results, "mine", "2026-11-01T10:00:00Z");
        write(&results, "elsewhere/main/pass-1", "2026-11-03T10:00:00Z");
        fs::write(results.join("elsewhere/main").join(baseline::FILE_NAME), "{}").unwrap();
        // While a baseline is being saved it has no file yet.
        write(&results, "baselines/main.new/pass-1", "2026-11-04T10:00:00Z");
        assert_eq!(newest_run(&results).unwrap(), results.join("mine"));
    }

    #[test]
    fn a_run_on_several_devices_is_shown_as_a_whole() {
        let root = tempfile::tempdir().unwrap();
        write(root.path(), "all/gpu0", "2026-11-01T10:00:00Z");
        fs::write(root.path().join("all").join(file::FILE_NAME), "{}").unwrap();
        assert_eq!(newest_run(root.path()).unwrap(), root.path().join("all"));
        // A file that the user merged from several runs is not the run.
        write(root.path(), "one", "2026-11-02T10:00:00Z");
        fs::write(root.path().join(file::FILE_NAME), "{}").unwrap();
        assert_eq!(newest_run(root.path()).unwrap(), root.path().join("one"));
    }
}
