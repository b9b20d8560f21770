//! What the arguments of `gpubench run` ask for.

use anyhow::Result;

use crate::cli::args::RunArgs;
use crate::cli::stream;
use crate::cli::sweep::{names_nothing, parsed, with_libraries};
use crate::settings::options::SweepOptions;
use crate::settings::resolve::Request;
use crate::settings::words;

/// Says that what was run is the default, where nothing was asked for.
pub(crate) fn say_default_sweep(args: &RunArgs) {
    if names_nothing(&args.sweep) && !args.quiet {
        stream::note(
            "gpubench: no --ops and no --config, so this was the quick sweep; 'gpubench run --help' shows more",
        );
    }
}

/// What the command line asks for.
pub(crate) fn request(args: &RunArgs) -> Result<Request> {
    let refine = (args.refine || args.no_refine).then_some(args.refine);
    Ok(Request {
        options: SweepOptions { theme: args.theme, refine, ..with_libraries(&args.sweep)? },
        out: args.out.clone(),
        formats: parsed("--format", args.format.as_deref(), words::formats)?,
        tables: args.tables,
        all_variants: args.all_variants,
        color: !args.no_color && stream::takes_colors(),
        quiet: args.quiet,
        force: args.force,
    })
}
