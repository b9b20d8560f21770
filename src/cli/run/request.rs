//! Turns the arguments of `gpubench run` into a request for the settings, and prints notes about the run.

use anyhow::{Result, anyhow};

use crate::answer::Versus;
use crate::backend::External;
use crate::cli::args::RunArgs;
use crate::cli::stream;
use crate::cli::sweep::{names_nothing, parsed, with_libraries};
use crate::plan::Plan;
use crate::settings::Settings;
use crate::settings::names;
use crate::settings::options::{Contenders, SweepOptions};
use crate::settings::resolve::Request;

/// Says that the run was the default sweep, where the command line names no ops and no sweep.
pub(crate) fn print_default_sweep(args: &RunArgs) {
    if names_nothing(&args.sweep) && !args.quiet {
        stream::note(
            "gpubench: this was the quick sweep; choose operations with --ops or a sweep with --config",
        );
    }
}

/// Prints the notes on a plan, unless the run is quiet.
pub(crate) fn print_notes(plan: &Plan, settings: &Settings, externals: &[External]) {
    if !settings.output.quiet {
        plan.notes(settings, externals).iter().for_each(|note| stream::note(note));
    }
}

/// Checks that the plan has cells of both contenders of `--versus`.
pub(crate) fn check_contenders(plan: &Plan, settings: &Settings) -> Result<()> {
    let Some(Contenders(names)) = &settings.asked.versus else { return Ok(()) };
    let cells = plan.cells.iter().map(|planned| &planned.cell);
    let cells = cells.map(|cell| (cell.backend.as_str(), cell.variant.as_str()));
    let found = Versus::parse(names).and_then(|versus| versus.check(cells));
    found.map_err(|problem| anyhow!("--versus: {problem}, or add it with --backends or --variants"))
}

/// Turns the arguments into a request.
pub(crate) fn request(args: &RunArgs) -> Result<Request> {
    let refine = (args.refine || args.no_refine).then_some(args.refine);
    Ok(Request {
        options: SweepOptions {
            theme: args.theme,
            versus: args.versus.clone(),
            refine,
            ..with_libraries(&args.sweep)?
        },
        out: args.out.clone(),
        formats: parsed("--format", args.format.as_deref(), names::formats)?,
        charts: parsed("--charts", args.charts.as_deref(), names::charts)?,
        tables: args.tables,
        all_variants: args.all_variants,
        color: args.colors.takes_colors(),
        quiet: args.quiet,
        force: args.force,
    })
}
