//! `gpubench run --resume DIR`: goes on with a run that was stopped, by the command line of its first start.

use std::ffi::OsString;
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, Result, bail, ensure};

use super::one;
use crate::cli::args::{Command, RunArgs};
use crate::cli::help;
use crate::cli::stream;
use crate::executor::Earlier;
use crate::settings::config::is_built_in;
use crate::settings::options::SweepOptions;

/// Resumes the run in `folder`. Of `args`, only `--force`, `--quiet` and the programs to start count.
pub(crate) fn run(args: &RunArgs, folder: &Path) -> Result<ExitCode> {
    let SweepOptions { python, external, .. } = &args.sweep;
    let programs =
        SweepOptions { python: python.clone(), external: external.clone(), ..SweepOptions::default() };
    ensure!(
        args.sweep == programs && args.out.is_none(),
        "--resume goes on with the options of the first start: omit the others, or start a new run with --out"
    );
    let mut earlier = Earlier::load(folder)?;
    earlier.accepts_changes = args.force;
    if let Some(ignored) = &earlier.ignored {
        stream::complain(ignored);
    }
    let mut first = first_start(&earlier, folder)?;
    // A report may come from somebody else, so no program that it names is started.
    for (option, was_given, is_given) in [
        ("--external", first.sweep.external.is_some(), external.is_some()),
        ("--python", first.sweep.python.is_some(), python.is_some()),
    ] {
        ensure!(
            was_given == is_given,
            "--resume: {option} must be given again exactly if the first start had it"
        );
    }
    (first.sweep.python, first.sweep.external) = (python.clone(), external.clone());
    ensure!(
        first.sweep.device.as_ref().is_none_or(|device| device.0.single().is_some()),
        "--resume: that run was on several devices; measure the missing ones with --device and join the reports with \
         gpubench merge"
    );
    check_files_are_here(&first.sweep)?;
    first.out = Some(folder.display().to_string());
    (first.force, first.quiet, first.dry_run) = (true, first.quiet || args.quiet, args.dry_run);
    one::resume(&first, earlier)
}

/// Checks that the files of the first start whose paths begin at its folder are found from this one.
fn check_files_are_here(first: &SweepOptions) -> Result<()> {
    let sweep_file = first.config.as_deref().filter(|name| !is_built_in(name)).map(Path::new);
    for (what, path) in [("sweep file", sweep_file), ("script", first.sim.as_deref())] {
        if let Some(absent) = path.filter(|path| path.is_relative() && !path.exists()) {
            bail!(
                "--resume: the {what} '{}' of the first start is not here: resume in the folder where the run was started, \
                 or put the file here",
                absent.display()
            );
        }
    }
    Ok(())
}

/// Returns the arguments of the first start.
fn first_start(earlier: &Earlier, folder: &Path) -> Result<RunArgs> {
    let argv: Vec<OsString> = earlier.environment.argv.iter().map(Into::into).collect();
    let parsed = help::parse(&argv).map(|cli| cli.command);
    match parsed
        .ok()
        .context("--resume: the command line of the first start cannot be read; start a new run")?
    {
        Command::Run(first) => Ok(*first),
        _ => bail!("--resume: {} is not the folder of a gpubench run", folder.display()),
    }
}
