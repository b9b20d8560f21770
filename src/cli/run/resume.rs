//! `gpubench run --resume DIR`: goes on with a run that was stopped, by the command line of its first start.

use std::collections::HashSet;
use std::ffi::OsString;
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, Result, bail, ensure};
use gpubench_text::escape::shell_word;
use serde_json::Value;

use super::{run_on_one_device, sweep_file};
use crate::cli::args::{Command, RunArgs};
use crate::cli::{stream, usage};
use crate::executor::Earlier;
use crate::plan::Plan;
use crate::report::Row;
use crate::settings::Settings;
use crate::settings::options::SweepOptions;

/// Resumes the run in `folder`. Of `args`, only `--force`, `--quiet`, `--dry-run` and the programs and libraries count.
pub(crate) fn run(args: &RunArgs, folder: &Path) -> Result<ExitCode> {
    let code = args.sweep.code();
    ensure!(
        args.sweep == code && args.out.is_none(),
        "--resume goes on with the options of the first start: omit the others, or start a new run with --out"
    );
    let mut earlier = Earlier::load(folder)?;
    earlier.accepts_changes = args.force;
    if let Some(ignored) = &earlier.ignored {
        stream::complain(ignored);
    }
    let mut first = first_start(&earlier, folder)?;
    check_code_is_given(&first.sweep, &code, folder)?;
    first.sweep.take_code(code);
    ensure!(
        first.sweep.device.as_ref().is_none_or(|device| device.0.single().is_some()),
        "--resume: that run was on several devices; measure the missing ones with --device and join the reports with \
         gpubench merge"
    );
    check_sweep_runs_nothing(&first.sweep)?;
    first.out = Some(folder.to_owned());
    (first.force, first.quiet, first.dry_run) = (true, first.quiet || args.quiet, args.dry_run);
    run_on_one_device(&first, Some(earlier))
}

/// Checks that `given` has the options of the first start that start programs or load libraries, and no others: a report may
/// come from somebody else, so its command line decides nothing of that kind.
fn check_code_is_given(first: &SweepOptions, given: &SweepOptions, folder: &Path) -> Result<()> {
    for ((option, was), (_, is)) in first.code_values().into_iter().zip(given.code_values()) {
        ensure!(
            was.is_empty() || !is.is_empty(),
            "--resume: the first start had {option}, whose files a recorded command line may not start or load: type it \
             again, as in: gpubench run --resume {}{}",
            shell_word(folder),
            was.iter().map(|value| format!(" {option} {}", shell_word(Path::new(value)))).collect::<String>()
        );
        ensure!(
            is.is_empty() || !was.is_empty(),
            "--resume: the first start had no {option}: omit it, or start a new run with --out"
        );
        ensure!(
            option != "--ops" || is == was,
            "--resume: the first start had --ops {}: name the same files, or start a new run with --out",
            was.join(",")
        );
    }
    Ok(())
}

/// Checks that the sweep file of the first start names no file of operations: such a file is a program.
fn check_sweep_runs_nothing(first: &SweepOptions) -> Result<()> {
    let Some(file) = sweep_file(first)? else { return Ok(()) };
    let named = file.tables.iter().chain([&file.defaults]).flat_map(SweepOptions::files).next();
    ensure!(
        named.is_none(),
        "--resume: the sweep file {} names {}, which a recorded command line may not start: start a new run with --out",
        file.name,
        named.unwrap_or_default()
    );
    Ok(())
}

/// Returns the arguments of the first start.
fn first_start(earlier: &Earlier, folder: &Path) -> Result<RunArgs> {
    let argv: Vec<OsString> = earlier.environment.argv.iter().map(Into::into).collect();
    let parsed = usage::parse(&argv).map(|cli| cli.command);
    match parsed
        .ok()
        .context("--resume: the command line of the first start cannot be read; start a new run")?
    {
        Command::Run(first) => Ok(*first),
        _ => bail!("--resume: {} is not the folder of a gpubench run", folder.display()),
    }
}

/// Checks that the plan still has every cell that is finished, unless the user accepts changes: a cell that it has no longer would be lost.
pub(super) fn check_same_cells(earlier: &Earlier, plan: &Plan) -> Result<()> {
    let planned: HashSet<String> = plan.cells.iter().map(|planned| planned.cell.key()).collect();
    let lost = earlier
        .measured()
        .filter(|row| !row.added_by_refinement && !planned.contains(&row.cell().key()))
        .count();
    ensure!(
        lost == 0 || earlier.accepts_changes,
        "--resume: {lost} finished cells are no longer in the plan, because a sweep file, a list of problems, a matrix or a \
         library has changed: put that back, start a new run with --out, or add --force to drop them"
    );
    Ok(())
}

/// Keeps the rows whose settings are those of the resumed run: a sweep file may have changed meanwhile.
pub(super) fn keep_same_settings(earlier: &mut Earlier, settings: &Settings) -> Result<()> {
    let (was, is) = (earlier.environment.settings.clone(), serde_json::to_value(settings)?);
    let same_options = was["options"] == is["options"];
    earlier.retain(|row| {
        same_options && sampling(&was, row).is_some_and(|found| sampling(&is, row) == Some(found))
    });
    Ok(())
}

/// Returns how the settings sample the op of a row.
fn sampling<'a>(settings: &'a Value, row: &Row) -> Option<&'a Value> {
    let sweeps = settings["sweeps"].as_array()?;
    let of_op = |sweep: &&Value| {
        let sizes = sweep["sizes"].as_array().is_some_and(|sizes| sizes.iter().any(|n| *n == row.case.n));
        sweep["op"] == row.case.op.as_str() && (sizes || row.added_by_refinement)
    };
    sweeps.iter().find(of_op).map(|sweep| &sweep["sampling"])
}
