//! `gpubench run`: settings, plan, the folder of results, the run itself, and its exit code, in this order.

use gpubench_text::count::counted;
use std::io::{self, Write};
use std::process::ExitCode;

use anyhow::Result;

use super::args::RunArgs;
use super::folder::Folder;
use super::sweep::{names_nothing, parsed, sweep_file, swept};
use super::{several, stream, wiring};
use crate::executor::PlannedCell;
use crate::executor::most_cells;
use crate::op;
use crate::plan::Plan;
use crate::report::{Outcome, Report, file};
use crate::settings::options::SweepOptions;
use crate::settings::resolve::Request;
use crate::settings::{Destination, Settings, words};

/// Runs what `args` ask for.
pub fn run(args: RunArgs) -> Result<ExitCode> {
    if let Some(devices) = args.sweep.device.as_ref().filter(|device| device.0.single().is_none()) {
        return several::run(&args, &devices.0);
    }
    let settings = Settings::resolve(request(&args)?, sweep_file(&args.sweep)?)?;
    let plan = Plan::of(&settings)?;
    if args.dry_run {
        return stream::print_with(|out| write_plan(&plan, &settings, out)).map(|()| ExitCode::SUCCESS);
    }
    let output = &settings.output;
    let folder = match &output.destination {
        Destination::Folder(path) => Some(Folder::claim(path, &output.formats, output.force)?),
        Destination::Stdout => None,
    };
    let finished = wiring::measure(&settings, plan).inspect_err(|_| {
        if let Some(folder) = &folder {
            folder.withdraw();
        }
    })?;
    if let Some(folder) = folder.filter(|_| args.force) {
        folder.clear_stale(file::FILE_NAME);
    }
    say_default_sweep(&args);
    wiring::deliver(&settings, &finished.report)?;
    Ok(ExitCode::from(exit_code(&finished.report, finished.interrupted)))
}

/// Says that what was run is the default, where nothing was asked for.
pub fn say_default_sweep(args: &RunArgs) {
    if names_nothing(&args.sweep) && !args.quiet {
        stream::note(
            "gpubench: no --ops and no --config, so this was the quick sweep; 'gpubench run --help' shows more",
        );
    }
}

/// What the command line asks for.
pub fn request(args: &RunArgs) -> Result<Request> {
    let swept = swept(&args.sweep)?;
    let refine = (args.refine || args.no_refine).then_some(args.refine);
    Ok(Request {
        options: SweepOptions { theme: args.theme, refine, ..swept.options },
        out: args.out.clone(),
        formats: parsed("--format", args.format.as_deref(), words::formats)?,
        tables: args.tables,
        all_variants: args.all_variants,
        color: !args.no_color && stream::takes_colors(),
        quiet: args.quiet,
        force: args.force,
        ..swept
    })
}

/// One line per cell, with the work that every variant of its case has in common, and how many cells refinement may add.
pub fn write_plan(plan: &Plan, settings: &Settings, out: &mut dyn Write) -> io::Result<()> {
    let widest_of = |length: fn(&PlannedCell) -> usize| plan.cells.iter().map(length).max().unwrap_or(0);
    let widest = widest_of(|planned| name(planned).len()).max("variant".len());
    let widest_op = widest_of(|planned| planned.cell.case.op.len()).max("op".len());
    writeln!(
        out,
        "{:<widest_op$}  {:>8}  {:<5}  {:>8}  {:<widest$}  {:>9}  {:>9}",
        "op", "N", "dtype", "density", "variant", "FLOP", "bytes"
    )?;
    let mut cases = 0;
    let mut previous = None;
    for planned in &plan.cells {
        let case = &planned.cell.case;
        cases += usize::from(previous.replace(case) != Some(case));
        let work = op::find(&case.op).map(|op| op.work(case));
        let figure =
            |figure: Option<f64>| figure.map_or_else(|| "-".into(), |figure| format!("{figure:.3e}"));
        writeln!(
            out,
            "{:<widest_op$}  {:>8}  {:<5}  {:>8}  {:<widest$}  {:>9}  {:>9}",
            case.op,
            case.n,
            case.dtype,
            case.density.map_or_else(|| "-".into(), crate::case::density_text),
            name(planned),
            figure(work.map(|work| work.flop)),
            figure(work.map(|work| work.bytes)),
        )?;
    }
    let (cells, cases) = (counted(plan.cells.len(), "cell"), counted(cases, "case"));
    let refines = settings.asked.refine.unwrap_or(false);
    let added = if refines { most_cells(&plan.cells) } else { 0 };
    if added > 0 {
        writeln!(
            out,
            "refinement may add up to {} near crossovers (--no-refine: none)",
            counted(added, "cell")
        )?;
    }
    writeln!(out, "{cells} of {cases}; a dry run, nothing was measured")
}

fn name(planned: &PlannedCell) -> String {
    format!("{}/{}", planned.cell.backend, planned.cell.variant)
}

/// 0 finished, 1 some cell incorrect, failed or ended early, 130 interrupted.
pub fn exit_code(report: &Report, interrupted: bool) -> u8 {
    let bad = |outcome| matches!(outcome, Outcome::Incorrect | Outcome::Failed);
    match interrupted {
        true => 130,
        false => u8::from(report.rows.iter().any(|row| bad(row.outcome) || row.has_ended_early())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::{Accuracy, Side};
    use crate::case::{Case, DType};
    use crate::op::Work;
    use crate::report::{Environment, Row, SCHEMA_VERSION};

    fn report(outcomes: &[Outcome]) -> Report {
        let case = Case { op: "fft".into(), n: 4, dtype: DType::F32, density: None, seed: 0 };
        let row = |outcome: &Outcome| Row {
            case: case.clone(),
            backend: "cpu".into(),
            variant: "realfft".into(),
            cache: crate::case::Cache::Cold,
            side: Side::Cpu,
            accuracy: Accuracy::Ieee,
            outcome: *outcome,
            reason: None,
            fix: None,
            error: None,
            work: Work { flop: 1.0, bytes: 1.0 },
            picked: None,
            threads: None,
            inputs: None,
            phases: None,
            execute: None,
            added_by_refinement: false,
        };
        let rows = outcomes.iter().map(row).collect();
        Report { schema_version: SCHEMA_VERSION, environment: Environment::default(), rows }
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
            (&[], false, 0),
        ] {
            assert_eq!(exit_code(&report(outcomes), interrupted), expected, "{outcomes:?} {interrupted}");
        }
    }
}
