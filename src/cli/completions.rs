//! `gpubench completions`: scripts that complete commands, options and their words.
//!
//! Only the definition from which a script is made lists the words. The command line parses values with types that
//! have better messages than clap's list of possible values.

use clap::Command;
use clap::builder::PossibleValuesParser;
use clap_complete::Shell;

use super::args;
use crate::backend::TransferMemory;
use crate::case::{Cache, DType};
use crate::op::OPS;
use crate::settings::config::BUILT_IN;
use crate::settings::names;
use crate::write;
use crate::write::chart::{self, ChartKind, Theme};

/// Returns the completion script for a shell.
pub(crate) fn script(shell: Shell) -> Vec<u8> {
    let mut definition = args::without_hidden().mut_subcommands(|command| with_words(command, shell));
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut definition, "gpubench", &mut script);
    script
}

/// Adds the words that the options of `command` and of its subcommands take.
fn with_words(command: Command, shell: Shell) -> Command {
    let name = command.get_name().to_owned();
    let command = command.mut_subcommands(|inner| with_words(inner, shell));
    command.mut_args(|arg| match words(&name, arg.get_id().as_str(), shell) {
        Some(words) => arg.value_parser(PossibleValuesParser::new(words)),
        None => arg,
    })
}

/// Returns the words that an argument of `command` takes; `None` for other values.
fn words(command: &str, arg: &str, shell: Shell) -> Option<Vec<&'static str>> {
    let or_all = |words: Vec<&'static str>| words.into_iter().chain(["all"]).collect();
    Some(match arg {
        "ops" => or_all(OPS.iter().map(|op| op.name()).collect()),
        "backends" | "require" => or_all(names::backend_names()),
        "dtypes" => or_all(DType::ALL.iter().map(|dtype| dtype.name()).collect()),
        "cache" => Cache::ALL.iter().map(|cache| cache.name()).chain(["both"]).collect(),
        "transfer" => TransferMemory::ALL.map(TransferMemory::name).to_vec(),
        // Only bash completes file names too where no word matches.
        "config" if shell == Shell::Bash => BUILT_IN.iter().map(|(name, _)| *name).collect(),
        "theme" => Theme::ALL.map(Theme::name).to_vec(),
        "charts" => or_all(ChartKind::ALL.map(ChartKind::name).to_vec()),
        "format" => formats(command),
        _ => return None,
    })
}

/// Returns the formats of the documents that `command` writes.
fn formats(command: &str) -> Vec<&'static str> {
    match command {
        "show" => {
            write::report::FORMATS.all.iter().filter(|format| format.is_text()).map(|one| one.name).collect()
        }
        "plot" => chart::Format::ALL.map(chart::Format::extension).to_vec(),
        "compare" => write::compare::FORMATS.names(),
        "trend" => write::trend::FORMATS.names(),
        _ => write::report::FORMATS.names(),
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::super::args::Cli;
    use super::*;
    use crate::settings::config;

    #[test]
    fn every_offered_word_is_one_that_the_option_takes() {
        for (command, line) in
            [("run", "run"), ("save", "baseline save x"), ("show", "show x"), ("trend", "trend x")]
        {
            let mut definition = args::without_hidden();
            definition.build();
            let mut found = &definition;
            for name in line.split(' ').filter(|word| *word != "x") {
                found = found.find_subcommand(name).unwrap();
            }
            for arg in found.get_arguments() {
                for word in words(command, arg.get_id().as_str(), Shell::Bash).unwrap_or_default() {
                    let option =
                        arg.get_long().map_or_else(|| word.to_owned(), |long| format!("--{long}={word}"));
                    let typed = ["gpubench"].into_iter().chain(line.split(' ')).chain([option.as_str()]);
                    let refused = Cli::try_parse_from(typed).err().map(|error| error.to_string());
                    assert_eq!(refused, None, "{line} {option}");
                }
            }
        }
        // Parsed after the command line.
        let valid = crate::settings::names::backend_names();
        for word in words("run", "backends", Shell::Bash).unwrap() {
            assert!(crate::settings::names::backends(word, &valid).is_ok(), "{word}");
        }
        for word in words("run", "config", Shell::Bash).unwrap() {
            assert!(config::read(word).is_ok(), "{word}");
        }
        for word in words("plot", "charts", Shell::Bash).unwrap() {
            assert!(crate::settings::names::charts(word).is_ok(), "{word}");
        }
    }
}
