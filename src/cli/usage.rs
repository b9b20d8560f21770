//! Parses the command line, prints help and manual pages, and formats usage errors as one line: the problem, the nearest
//! valid word, and the help to read. `run --help` shows the common options of `run`; `run --help --all` and `help run` show
//! every option.

use std::ffi::{OsStr, OsString};

use anyhow::{Result, bail};
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{CommandFactory, FromArgMatches};
use gpubench_text::words;

use super::args::{self, Cli, Command};
use crate::op::OPS;
use crate::settings::syntax::ValueRefusal;

/// Parses `args`, whose first entry is the program name. Help and version are errors of clap too.
pub(crate) fn parse(args: &[OsString]) -> Result<Cli, clap::Error> {
    let asks = |words: &[&str]| args.iter().skip(2).any(|arg| words.iter().any(|word| arg == word));
    let of_run = args.get(1).is_some_and(|command| command == "run") && asks(&["--help", "-h"]);
    if !of_run {
        let cli = Cli::from_arg_matches(&args::definition().try_get_matches_from(args)?)?;
        return Ok(match cli.command {
            Command::Run(run) => Cli { command: Command::Run(Box::new(run.with_named_sweep())) },
            _ => cli,
        });
    }
    let definition = args::definition();
    let definition =
        if asks(&["--all"]) { definition } else { definition.mut_subcommand("run", args::common_help) };
    // The user wants only the help, so other arguments, valid or not, are dropped.
    Cli::from_arg_matches(&definition.try_get_matches_from(["gpubench", "run", "--help"])?)
}

/// Returns the manual page of a command, or of gpubench itself, in troff. An unknown command is an error.
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

/// Returns the error as one line; `args` are the arguments, which begin with the command whose help to name.
pub(crate) fn line(error: &clap::Error, args: &[impl AsRef<OsStr>]) -> String {
    let mut shown = Cli::command();
    let mut line = "gpubench".to_owned();
    for name in args {
        let Some(found) = shown.find_subcommand(name.as_ref()).filter(|found| !found.is_hide_set()) else {
            break;
        };
        line += &format!(" {}", found.get_name());
        shown = found.clone();
    }
    let context_text = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => text.as_str(),
        _ => "",
    };
    match error.kind() {
        ErrorKind::ValueValidation if refusal(error).is_some_and(|refusal| refusal.quotes) => {
            // clap names an argument with its value: --ops <LIST>, and [OP] for one without a flag.
            let flag = context_text(ContextKind::InvalidArg).split(' ').next().unwrap_or_default();
            let flag = if flag.starts_with('-') { format!("{flag}: ") } else { String::new() };
            refusal(error).map_or_else(String::new, |refusal| format!("{flag}{refusal}"))
        }
        ErrorKind::MissingSubcommand => {
            "no command given: start with 'gpubench run', or see 'gpubench --help'".to_owned()
        }
        _ => {
            let kinds = [ContextKind::InvalidSubcommand, ContextKind::InvalidArg, ContextKind::InvalidValue];
            let mut words = kinds.into_iter().map(|kind| context_text(kind).trim_start_matches('-'));
            let message = flattened(error);
            let message = match words.find(|word| OPS.iter().any(|op| op.name() == *word)) {
                Some(op) => {
                    let problem = message.split("; ").next().unwrap_or_default();
                    format!("{problem}; did you mean 'gpubench run --ops {op}'?")
                }
                None => message,
            };
            format!("{message}; see '{line} --help'")
        }
    }
}

/// Returns the refusal if one of our own types refused the value.
fn refusal(error: &clap::Error) -> Option<&ValueRefusal> {
    std::error::Error::source(error)?.downcast_ref()
}

/// Returns clap's message before its usage text as one line, without the hint to pass an option as a value.
fn flattened(error: &clap::Error) -> String {
    let rendered = error.render().to_string();
    let lines = rendered.lines().map(str::trim);
    let lines =
        lines.take_while(|line| !line.starts_with("Usage:") && !line.starts_with("For more information"));
    let mut flat = String::new();
    for line in lines.filter(|line| !line.is_empty() && !line.starts_with("tip: to pass")) {
        let line = line.trim_start_matches("error: ");
        let joint = match flat.chars().last() {
            None => "",
            Some(':') => " ",
            Some(_) => "; ",
        };
        flat.push_str(joint);
        flat.push_str(line);
    }
    flat
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    fn refused(line: &str) -> String {
        let args: Vec<&str> = line.split_whitespace().collect();
        let all = std::iter::once("gpubench").chain(args.iter().copied());
        Cli::try_parse_from(all).map_or_else(|error| super::line(&error, &args), |_| "accepted".to_owned())
    }

    /// The words of other programs and mistyped ones are tested with the program itself, in `tests/cli`.
    #[test]
    fn each_wrong_usage_is_one_line_that_names_the_nearest_valid_word() {
        let figure = "it must be a whole number from 1 to";
        for (line, expected) in [
            ("baseline sav", "unrecognized subcommand 'sav'; tip: a similar subcommand exists: 'save'; see"),
            ("run --ops", "a value is required for '--ops <LIST>'"),
            (
                "run --samples 0",
                &format!("invalid value '0' for '--samples <N>': {figure} 1000000; see 'gpubench run"),
            ),
            (
                "run --threads -1",
                &format!(
                    "invalid value '-1' for '--threads <LIST>': {figure} 4096, or all; see 'gpubench run"
                ),
            ),
            ("run --cell-timeout -1s", "invalid value '-1s' for '--cell-timeout <TIME>': duration '-1s' is"),
            ("run --density 2", "invalid value '2' for '--density <SHARE>': density 2 is not"),
            ("run --device x", "invalid value 'x' for '--device <LIST>': "),
            ("plot", "the following required arguments were not provided: "),
            ("completions bsh", "invalid value 'bsh' for '<SHELL>'"),
            ("", "no command given: start with"),
        ] {
            let message = refused(line);
            assert!(message.starts_with(expected), "{line}: {message}");
            assert!(!message.contains('\n') && message.len() < 240, "{line}: {message}");
        }
    }

    #[test]
    fn the_help_that_is_named_is_that_of_the_command() {
        for (line, expected) in [
            ("run matmul", "; see 'gpubench run --help'"),
            ("plot", "; see 'gpubench plot --help'"),
            ("baseline save", "; see 'gpubench baseline save --help'"),
            ("baseline sav x", "; see 'gpubench baseline --help'"),
            ("worker", "; see 'gpubench --help'"),
            ("rnu --ops fft", "; see 'gpubench --help'"),
        ] {
            let message = refused(line);
            assert!(message.ends_with(expected), "{line}: {message}");
        }
    }
}
