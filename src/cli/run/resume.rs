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

/// Resumes the run in `folder`. Of `args`, only `--force`, `--quiet`, `--dry-run` and the programs and libraries count.
pub(crate) fn run(args: &RunArgs, folder: &Path) -> Result<ExitCode> {
    let mut given = SweepOptions::default();
    take_code_options(&mut given, &args.sweep);
    ensure!(
        args.sweep == given && args.out.is_none(),
        "--resume goes on with the options of the first start: omit the others, or start a new run with --out"
    );
    let mut earlier = Earlier::load(folder)?;
    earlier.accepts_changes = args.force;
    if let Some(ignored) = &earlier.ignored {
        stream::complain(ignored);
    }
    let mut first = first_start(&earlier, folder)?;
    for ((option, was_given), (_, is_given)) in
        code_options(&first.sweep).into_iter().zip(code_options(&given))
    {
        ensure!(
            was_given == is_given,
            "--resume: {option} must be given again exactly if the first start had it"
        );
    }
    take_code_options(&mut first.sweep, &given);
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

/// Returns the options that start programs or load libraries, and whether each is set. A folder of results may come from
/// somebody else, so none of them is taken from the command line that it records.
fn code_options(sweep: &SweepOptions) -> [(&'static str, bool); 3] {
    let SweepOptions { external, python, blas, .. } = sweep;
    [("--external", external.is_some()), ("--python", python.is_some()), ("--blas", blas.is_some())]
}

/// Replaces the options of [`code_options`] by those of `given`.
fn take_code_options(sweep: &mut SweepOptions, given: &SweepOptions) {
    let SweepOptions { external, python, blas, .. } = given.clone();
    (sweep.external, sweep.python, sweep.blas) = (external, python, blas);
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

#[cfg(test)]
mod tests {
    use super::*;

    use std::collections::BTreeSet;

    #[test]
    fn every_option_that_sweep_files_may_not_set_is_judged() {
        // A sweep file may come from somebody else too, so options that load code exist on the command line alone.
        let arguments = <SweepOptions as clap::Args>::augment_args(clap::Command::new("sweep"));
        let all = arguments.get_arguments().map(|argument| argument.get_id().as_str().replace('_', "-"));
        let keys: BTreeSet<String> = SweepOptions::keys(false).collect();
        let found: BTreeSet<String> = all.filter(|name| !keys.contains(name)).collect();
        let code = code_options(&SweepOptions::default()).map(|(option, _)| &option[2..]);
        let harmless = ["config", "isolate"];
        let expected: BTreeSet<String> = code.into_iter().chain(harmless).map(String::from).collect();
        assert_eq!(found, expected);
    }
}
