//! Hints for wrong words on the command line: the nearest option, command or sweep, or the option that takes the word as its value.

use clap::Command;
use gpubench_text::words::nearest;

use super::completions;
use crate::op::OPS;
use crate::settings::config::BUILT_IN;
use crate::settings::names;
use crate::write::chart;

/// Options of other programs, each with the hint for it. Suggestions by spelling would be wrong for them.
const OTHERS: [(&str, &str); 4] = [
    ("time", "max-time"),
    ("n", "sizes"),
    ("m", "shape m=4096,n=512,k=64"),
    ("k", "shape m=4096,n=512,k=64"),
];

/// Returns the hint for an argument that `command` does not have, to follow a colon; `None` if nothing is similar enough.
pub(crate) fn for_argument(command: &Command, word: &str) -> Option<String> {
    let meant = match word.strip_prefix("--") {
        Some(option) => for_option(command, option)?,
        None if word.starts_with('-') => return None,
        None => for_word(command, word)?,
    };
    Some(format!("did you mean '{meant}'?"))
}

/// Returns the hint for a word where a command was expected, to follow a colon; `None` if the nearest command is the hint.
pub(crate) fn for_command(word: &str) -> Option<String> {
    let meant = match word {
        op if is_op(op) => format!("gpubench run --ops {op}"),
        sweep if built_in().any(|name| name == sweep) => format!("gpubench run {sweep}"),
        _ => return None,
    };
    Some(format!("did you mean '{meant}'?"))
}

/// Returns the meaning of an unknown `--option`: the option that takes this word as its value, or the option of the nearest name.
fn for_option(command: &Command, option: &str) -> Option<String> {
    if let Some((_, meant)) = OTHERS.iter().find(|(other, _)| *other == option) {
        return has_option(command, "sizes").then(|| format!("--{meant}"));
    }
    if let Some(value) = value_of_an_option(command, option) {
        return Some(value);
    }
    // Hidden options are for gpubench's own tests.
    let options = command.get_arguments().filter(|arg| !arg.is_hide_set()).filter_map(|arg| arg.get_long());
    nearest(option, options.filter(|long| may_be_mistyped(option, long))).map(|near| format!("--{near}"))
}

/// Returns whether `typed` may be a typing error or a shortened form of `option`. Two letters in common at the beginning are chance, as
/// those of `matrix` and `max-time`.
fn may_be_mistyped(typed: &str, option: &str) -> bool {
    let common = typed.chars().zip(option.chars()).take_while(|(a, b)| a == b).count();
    common >= 3 || typed.chars().count().abs_diff(option.chars().count()) <= 1
}

/// Returns the option of `command` with `word` as its value: a format, op, sweep, element type or backend.
fn value_of_an_option(command: &Command, word: &str) -> Option<String> {
    let charts = chart::Format::ALL.map(chart::Format::extension);
    if command.get_name() == "show" && charts.contains(&word) {
        return Some(format!("gpubench plot --format {word}"));
    }
    let backend = || names::meant_backend(word);
    let is_valid = |option: &str, valid: &[&str]| has_option(command, option) && valid.contains(&word);
    let found = if is_valid("format", &completions::formats(command.get_name())) {
        format!("--format {word}")
    } else if has_option(command, "ops") && is_op(word) {
        format!("--ops {word}")
    } else if is_valid("config", &built_in().collect::<Vec<_>>()) {
        format!("--config {word}")
    } else if is_valid("dtypes", &["f32", "f64"]) {
        format!("--dtypes {word}")
    } else {
        format!("--backends {}", backend().filter(|_| has_option(command, "backends"))?)
    };
    Some(found)
}

/// Returns the meaning of an unknown word that is no option: an option with it as its value, or a sweep.
fn for_word(command: &Command, word: &str) -> Option<String> {
    if let Some(value) = value_of_an_option(command, word) {
        return Some(value);
    }
    if has_option(command, "config") && word.ends_with(".toml") {
        return Some(format!("--config {word}"));
    }
    let takes_sweeps = command.get_positionals().any(|arg| arg.get_id() == "named_sweep");
    nearest(word, built_in().filter(|_| takes_sweeps)).map(str::to_owned)
}

fn is_op(word: &str) -> bool {
    OPS.iter().any(|op| op.name() == word)
}

fn built_in() -> impl Iterator<Item = &'static str> {
    BUILT_IN.iter().map(|(name, _)| *name)
}

fn has_option(command: &Command, option: &str) -> bool {
    command.get_arguments().any(|arg| arg.get_long() == Some(option))
}
