//! `gpubench run`: measures on one device, or on several devices one after another.

mod dry;
mod measure;
mod multi_device;
mod resume;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result, anyhow, bail};
use gpubench_text::count::{agree, counted};

use self::dry::write_plan;
use self::measure::deliver;
use super::args::RunArgs;
use super::folder::Folder;
use super::{parsed, stream};
use crate::answer::Versus;
use crate::backend::cpu;
use crate::executor::Earlier;
use crate::plan::{self, Plan};
use crate::report::{Outcome, Report, file};
use crate::settings::config::{self, SweepFile};
use crate::settings::options::{Contenders, SweepOptions};
use crate::settings::resolve::shapes;
use crate::settings::{Destination, OutputSettings, RESULTS, Settings, names, new_folder};
use crate::write::report::FORMATS;

pub(crate) use self::measure::measure;

/// Runs the sweep that `args` describe.
pub(crate) fn run(args: RunArgs) -> Result<ExitCode> {
    if let Some(folder) = &args.resume {
        return resume::run(&args, folder);
    }
    match args.sweep.device.as_ref().filter(|device| device.0.single().is_none()) {
        Some(devices) => multi_device::run(&args, &devices.0),
        None => run_on_one_device(&args, None),
    }
}

/// Returns the options with absolute paths of their libraries, which must be usable.
pub(crate) fn with_libraries(options: &SweepOptions) -> Result<SweepOptions> {
    let blas = libraries(options.blas.as_deref().unwrap_or_default())?;
    Ok(SweepOptions { blas, ..options.clone() })
}

/// Returns the libraries in `--blas` as absolute paths; `None` if there are none. A file that is no BLAS library is an error.
pub(crate) fn libraries(files: &[PathBuf]) -> Result<Option<Vec<PathBuf>>> {
    let checked = files.iter().map(|file| {
        cpu::check_library(file).context("--blas")?;
        file.canonicalize().with_context(|| format!("--blas: '{}'", file.display()))
    });
    let checked: Vec<PathBuf> = checked.collect::<Result<_>>()?;
    Ok(Some(checked).filter(|files| !files.is_empty()))
}

/// The sweep that runs if the command line names neither ops nor a sweep.
const DEFAULT_SWEEP: &str = "quick";

/// Returns whether the options name neither ops nor a sweep nor matrices nor shapes.
fn names_nothing(options: &SweepOptions) -> bool {
    options.config.is_none()
        && options.ops.is_none()
        && options.matrix.is_none()
        && options.problems.is_none()
        && !shapes::is_asked(options)
}

/// Reads the sweep file in the options, or the default sweep if they name nothing.
pub(crate) fn sweep_file(options: &SweepOptions) -> Result<Option<SweepFile>> {
    if let Some(file) = &options.problems {
        let others = ["--config", "--sizes", "--shape", "--batch", "--layout", "--matrix"];
        if let Some(option) = options.first_given(&others) {
            bail!("--problems has its own operations and shapes: omit {option}");
        }
        return config::problems::read(file).map(Some);
    }
    let name = options.config.as_deref().or(names_nothing(options).then_some(DEFAULT_SWEEP));
    name.map(config::read).transpose()
}

/// Resolves the settings of a run.
fn settings(args: &RunArgs) -> Result<Settings> {
    let options = SweepOptions {
        theme: args.theme,
        versus: args.versus.clone(),
        refine: (args.refine || args.no_refine).then_some(args.refine),
        ..with_libraries(&args.sweep)?
    };
    let formats = parsed("--format", args.format.as_deref(), |list| FORMATS.parse(list))?;
    let output = OutputSettings {
        destination: Destination::named(args.out.as_deref()),
        formats: formats.unwrap_or_else(|| FORMATS.defaults()),
        charts: parsed("--charts", args.charts.as_deref(), names::charts)?.unwrap_or_default(),
        tables: args.tables,
        all_variants: args.all_variants,
        color: args.colors.takes_colors(),
        quiet: args.quiet,
        force: args.force,
        ..OutputSettings::default()
    };
    Settings::resolve(options, output, sweep_file(&args.sweep)?)
}

/// Says that the run was the default sweep, where the command line names no ops and no sweep.
fn print_default_sweep(args: &RunArgs) {
    if names_nothing(&args.sweep) && !args.quiet {
        stream::note(
            "gpubench: this was the quick sweep; choose operations with --ops or a sweep with --config",
        );
    }
}

/// Checks that the plan has cells of both contenders of `--versus`.
fn check_contenders(plan: &Plan, settings: &Settings) -> Result<()> {
    let Some(Contenders(names)) = &settings.asked.versus else { return Ok(()) };
    let cells = plan.cells.iter().map(|planned| &planned.cell);
    let cells = cells.map(|cell| (cell.backend.as_str(), cell.variant.as_str()));
    let found = Versus::parse(names).and_then(|versus| versus.check(cells));
    found.map_err(|problem| anyhow!("--versus: {problem}, or add it with --backends or --variants"))
}

/// Runs the sweep that `args` describe on one device, or what an earlier start has left of it.
fn run_on_one_device(args: &RunArgs, mut earlier: Option<Earlier>) -> Result<ExitCode> {
    let mut settings = settings(args)?;
    let externals = plan::describe(&settings)?;
    let mut plan = Plan::for_this_machine(&mut settings, &externals)?;
    check_contenders(&plan, &settings)?;
    if let Some(earlier) = &mut earlier {
        resume::check_same_cells(earlier, &plan)?;
        resume::keep_same_settings(earlier, &settings)?;
    }
    if args.dry_run {
        return print_plan(&mut plan, &settings, earlier.as_ref()).map(|()| ExitCode::SUCCESS);
    }
    let folder = claim(&mut settings, args.out.is_none())?;
    let measured = measure(&settings, plan, externals, earlier);
    let finished = measured.inspect_err(|_| folder.iter().for_each(Folder::remove_created))?;
    if let Some(folder) = folder.as_ref().filter(|_| args.force && !finished.report.rows.is_empty()) {
        folder.clear_stale(file::FILE_NAME);
    }
    print_default_sweep(args);
    let delivered = deliver(&settings, &finished);
    if let (true, Err(error)) = (finished.interrupted, &delivered) {
        // The exit code of the interrupt comes before that of a table that nobody can read.
        stream::complain(&format!("{error:#}"));
    } else {
        delivered?;
    }
    Ok(ExitCode::from(exit_code(&finished.report, finished.interrupted)))
}

/// Prints the cells that the run would measure.
fn print_plan(plan: &mut Plan, settings: &Settings, earlier: Option<&Earlier>) -> Result<()> {
    let Some(earlier) = earlier else {
        return stream::print_with(|out| write_plan(plan, settings, out));
    };
    let all = plan.cells.len();
    plan.cells.retain(|planned| earlier.finished(&planned.cell).is_none());
    let finished = all - plan.cells.len();
    stream::print_with(|out| match plan.cells.is_empty() {
        true => writeln!(out, "All cells of the run are finished; nothing is left to measure."),
        false => {
            write_plan(plan, settings, out)?;
            let (others, are) = (counted(finished, "other cell"), agree(finished, "is", "are"));
            writeln!(out, "{others} of the run {are} finished.")
        }
    })
}

/// Claims the folder of the results. If nobody named it and another run has taken it meanwhile, takes a new one.
fn claim(settings: &mut Settings, is_default: bool) -> Result<Option<Folder>> {
    let output = &mut settings.output;
    let Destination::Folder(path) = &mut output.destination else { return Ok(None) };
    loop {
        let claimed = Folder::claim(path, &output.formats, output.force);
        let next = new_folder(Path::new(RESULTS));
        if claimed.is_ok() || !is_default || next == *path {
            return claimed.map(Some);
        }
        *path = next;
    }
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
