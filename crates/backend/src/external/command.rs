//! Programs that the user names as backends: `NAME=COMMAND`.

use std::str::FromStr;

use crate::Program;
use anyhow::{Context, Result, ensure};

/// A backend's name and the command that serves it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedCommand {
    /// Name of the backend.
    pub name: String,
    /// The program and its arguments.
    pub words: Vec<String>,
}

impl FromStr for NamedCommand {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> Result<Self> {
        let (name, command) = text.split_once('=').context("it must have the form NAME=COMMAND")?;
        let is_name = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-' || c == '_';
        ensure!(
            !name.is_empty() && name.len() <= 40 && name.chars().all(is_name),
            "'{name}' is no name of a backend: use at most 40 of a-z, 0-9, '-' and '_'"
        );
        let words = shlex::split(command).context("a quotation mark is not closed")?;
        ensure!(!words.is_empty(), "the command of {name} is empty");
        Ok(NamedCommand { name: name.to_owned(), words })
    }
}

impl NamedCommand {
    /// Returns the program, without a shell.
    pub fn program(&self) -> Program {
        let mut words = self.words.iter();
        let path = words.next().map(Into::into).unwrap_or_default();
        Program { path, called: None, arguments: words.map(Into::into).collect(), preface: None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_split_as_a_shell_would_and_nothing_in_it_is_expanded() {
        let named: NamedCommand = "mine=julia --project='my folder' $HOME/a.jl; ls".parse().unwrap();
        assert_eq!(named.name, "mine");
        assert_eq!(named.words, ["julia", "--project=my folder", "$HOME/a.jl;", "ls"]);
        assert_eq!(named.program().arguments.len(), 3);
    }

    #[test]
    fn mistakes_are_refused_with_their_form() {
        let refusal = |text: &str| text.parse::<NamedCommand>().unwrap_err().to_string();
        assert!(refusal("julia").contains("NAME=COMMAND"));
        assert!(refusal("My Name=julia").contains("no name of a backend"));
        assert!(refusal("=julia").contains("no name of a backend"));
        assert!(refusal("mine=").contains("empty"));
        assert!(refusal("mine='a").contains("not closed"));
    }
}
