//! Parses the command line, and prints help and manual pages. `run --help` shows the common options of `run`; `run
//! --help --all` and `help run` show every option.

use std::ffi::OsString;

use anyhow::{Result, bail};
use clap::{CommandFactory, FromArgMatches};
use gpubench_text::words;

use super::args::{self, Cli};

/// Parses `args`, whose first entry is the program name.
///
/// # Errors
/// Returns clap's error, which also carries help and version.
pub(crate) fn parse(args: &[OsString]) -> Result<Cli, clap::Error> {
    let asks = |words: &[&str]| args.iter().skip(2).any(|arg| words.iter().any(|word| arg == word));
    let of_run = args.get(1).is_some_and(|command| command == "run") && asks(&["--help", "-h"]);
    if !of_run {
        return Cli::from_arg_matches(&Cli::command().try_get_matches_from(args)?);
    }
    let definition = Cli::command();
    let definition =
        if asks(&["--all"]) { definition } else { definition.mut_subcommand("run", args::common_help) };
    // The user wants only the help, so other arguments, valid or not, are dropped.
    Cli::from_arg_matches(&definition.try_get_matches_from(["gpubench", "run", "--help"])?)
}

/// Returns the manual page of a command, or of gpubench itself, in troff.
///
/// # Errors
/// There is no such command.
pub(crate) fn man(command: Option<&str>) -> Result<Vec<u8>> {
    let mut definition = args::without_hidden();
    definition.build();
    let page = match command {
        None => definition,
        Some(name) => match definition.find_subcommand(name) {
            Some(found) => found.clone(),
            None => {
                let known: Vec<&str> = definition.get_subcommands().map(clap::Command::get_name).collect();
                bail!(words::unknown("command", name, &known))
            }
        },
    };
    let mut text = Vec::new();
    clap_mangen::Man::new(page).render(&mut text)?;
    Ok(text)
}
