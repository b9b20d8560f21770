//! The command line: parses the arguments, dispatches to the command, prints its output, and chooses the exit code.

mod advise;
mod args;
mod baseline;
mod compare;
mod completions;
mod folder;
mod inventory;
mod merge;
mod newest;
mod record;
mod redraw;
mod run;
mod show;
mod stream;
mod trend;
mod usage;

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, Result};
use clap::error::ErrorKind;
use gpubench_backend::host::{process, threads};

use args::{Command, SchemaOf};

use crate::backend::{BACKENDS, Options};
use crate::write::terminal::TERMINAL_WIDTH;
use crate::{doctor, worker};

/// Exit code for wrong usage, unreadable files, and runs that can do nothing.
const USAGE: u8 = 2;

/// Runs the command in `args`, whose first entry is the program name. An error is one line on stderr and exit code 2.
pub fn run(args: impl IntoIterator<Item = OsString>) -> ExitCode {
    process::fail_at_file_size_limit();
    let args: Vec<OsString> = args.into_iter().collect();
    let outcome = match usage::parse(&args) {
        Ok(cli) => dispatch(cli.command),
        // A command of which one must be chosen, such as `baseline`, shows its own.
        Err(error) if error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            error.render().to_string().trim_end().lines().for_each(stream::note);
            return ExitCode::from(USAGE);
        }
        Err(error) if error.use_stderr() => {
            stream::complain(&usage::line(&error, args.get(1..).unwrap_or_default()));
            return ExitCode::from(USAGE);
        }
        // The user asked for help or the version; clap omits colours if stdout is not a terminal.
        Err(help) => help.print().map_or_else(stream::unless_broken_pipe, Ok).map(|()| ExitCode::SUCCESS),
    };
    outcome.unwrap_or_else(|error| {
        stream::complain(&format!("{error:#}"));
        ExitCode::from(USAGE)
    })
}

fn dispatch(command: Command) -> Result<ExitCode> {
    // A worker makes its pools for the threads that its requests ask for; a list, a schema or a recording needs none.
    let needs_none = matches!(
        command,
        Command::Worker { .. } | Command::List { .. } | Command::Schema { .. } | Command::Record(_)
    );
    if !needs_none {
        threads::start_pool();
    }
    match command {
        Command::Run(args) => return run::run(*args),
        Command::List { ops, json, blas } => {
            let inventory = inventory::Inventory::of_registries(&options_with(&blas)?, &ops)?;
            let width = stream::width().unwrap_or(TERMINAL_WIDTH);
            stream::print(&if json { inventory.json()? } else { inventory.text(width) })?;
        }
        Command::Doctor { json, blas, python } => {
            let mut text = Vec::new();
            doctor::run(json, &options_with(&blas)?, python.as_deref(), &mut text)?;
            stream::print_bytes(&text)?;
        }
        Command::Advise(args) => return advise::run(&args),
        Command::Record(args) => return record::run(&args),
        Command::Show(args) => show::run(&args)?,
        Command::Merge(args) => merge::run(&args)?,
        Command::Plot(args) => redraw::plot(&args)?,
        Command::Report(args) => redraw::report(&args)?,
        Command::Compare(args) => return compare::run(&args),
        Command::Baseline { command } => return baseline::run(command),
        Command::Schema { of: SchemaOf::Report } => stream::print(crate::report::SCHEMA)?,
        Command::Schema { of: SchemaOf::Compare } => stream::print(crate::compare::COMPARISON_SCHEMA)?,
        Command::Schema { of: SchemaOf::Fleet } => stream::print(crate::fleet::SCHEMA)?,
        Command::Trend(args) => trend::run(&args)?,
        Command::Completions { shell } => stream::print_bytes(&completions::script(shell))?,
        Command::Man { command } => stream::print_bytes(&usage::man(command.as_deref())?)?,
        Command::Worker { backend } => return Ok(worker::serve::main(&backend, BACKENDS)),
    }
    Ok(ExitCode::SUCCESS)
}

/// Returns the worker options of a command that has only `--blas`.
fn options_with(blas: &[PathBuf]) -> Result<Options> {
    Ok(Options { blas: run::libraries(blas)?.unwrap_or_default(), ..Options::default() })
}

/// Parses the value of a flag; an error names the flag.
fn parsed<T>(flag: &'static str, text: Option<&str>, parse: impl Fn(&str) -> Result<T>) -> Result<Option<T>> {
    text.map(parse).transpose().context(flag)
}
