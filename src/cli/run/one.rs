//! Runs a sweep on one device: settings, plan, folder of results, measurement, exit code.

use std::process::ExitCode;

use anyhow::Result;

use super::dry::write_plan;
use super::measure::{deliver, measure};
use super::request::{check_contenders, request, say_default_sweep, say_notes};
use crate::cli::args::RunArgs;
use crate::cli::folder::Folder;
use crate::cli::stream;
use crate::cli::sweep::sweep_file;
use crate::plan::Plan;
use crate::report::{Outcome, Report, file};
use crate::settings::{Destination, Settings};

/// Runs the sweep that `args` describe.
pub(crate) fn run(args: &RunArgs) -> Result<ExitCode> {
    let settings = Settings::resolve(request(args)?, sweep_file(&args.sweep)?)?;
    let plan = Plan::of(&settings)?;
    check_contenders(&plan, &settings)?;
    say_notes(&plan, &settings);
    if args.dry_run {
        return stream::print_with(|out| write_plan(&plan, &settings, "The run", out))
            .map(|()| ExitCode::SUCCESS);
    }
    let output = &settings.output;
    let folder = match &output.destination {
        Destination::Folder(path) => Some(Folder::claim(path, &output.formats, output.force)?),
        Destination::Stdout => None,
    };
    let finished = measure(&settings, plan).inspect_err(|_| {
        if let Some(folder) = &folder {
            folder.remove_created();
        }
    })?;
    if let Some(folder) = folder.filter(|_| args.force) {
        folder.clear_stale(file::FILE_NAME);
    }
    say_default_sweep(args);
    deliver(&settings, &finished.report)?;
    Ok(ExitCode::from(exit_code(&finished.report, finished.interrupted)))
}

/// Exit code of a run that was interrupted.
pub(crate) const INTERRUPTED: u8 = 130;

/// Exit code of a run that could measure nothing.
pub(crate) const NOTHING_MEASURED: u8 = 2;

/// Returns 0 if cells finished, others may be skipped; 1 if a cell is incorrect, failed or ended early; 2 if all were
/// skipped; 130 if interrupted.
pub(crate) fn exit_code(report: &Report, interrupted: bool) -> u8 {
    let bad = |outcome| matches!(outcome, Outcome::Incorrect | Outcome::Failed);
    match interrupted {
        true => INTERRUPTED,
        false if report.rows.iter().any(|row| bad(row.outcome) || row.has_ended_early()) => 1,
        false if report.rows.iter().all(|row| row.outcome == Outcome::Skipped) => NOTHING_MEASURED,
        false => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::{Row, example};

    fn report(outcomes: &[Outcome]) -> Report {
        let row = |outcome: &Outcome| Row {
            outcome: *outcome,
            execute: None,
            ..example::measured("fft", 4, "cpu", "realfft", 1.0)
        };
        Report { rows: outcomes.iter().map(row).collect(), ..example::empty() }
    }

    #[test]
    fn skips_are_success_and_wrong_or_failed_cells_are_not() {
        use Outcome::{Failed, Incorrect, Measured, Skipped};
        for (outcomes, interrupted, expected) in [
            (&[Measured, Skipped][..], false, 0),
            (&[Measured, Incorrect], false, 1),
            (&[Failed], false, 1),
            (&[Measured], true, 130),
            (&[Failed], true, 130),
            (&[Skipped, Skipped], false, 2),
            (&[Skipped, Failed], false, 1),
            (&[Skipped], true, 130),
        ] {
            assert_eq!(exit_code(&report(outcomes), interrupted), expected, "{outcomes:?} {interrupted}");
        }
    }
}
