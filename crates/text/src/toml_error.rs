//! Describes errors in TOML files by byte, key and problem. [`Display`](fmt::Display) writes the message.

use std::borrow::Cow;
use std::fmt;

use serde::de::{self, Expected, Unexpected};

use crate::{control, words};

/// An error in a TOML file.
#[derive(Debug)]
pub struct TomlError {
    /// The problem.
    pub problem: Box<Problem>,
    /// The innermost key whose value is wrong; `None` if the problem is not a value.
    key: Option<String>,
    /// First byte of the problem; `None` while it is unknown.
    byte: Option<usize>,
}

/// Kind of problem.
#[derive(Debug, PartialEq)]
pub enum Problem {
    /// The text is not TOML; holds the parser's message.
    Syntax(String),
    /// A key that is unknown in its table.
    UnknownKey {
        /// The key.
        key: String,
        /// Keys that are valid there.
        valid: Vec<String>,
    },
    /// A word that is not in a fixed list.
    UnknownWord {
        /// The word.
        word: String,
        /// The list.
        valid: &'static [&'static str],
    },
    /// A required key is missing.
    MissingKey(&'static str),
    /// A value of the wrong kind.
    Kind {
        /// Expected kind, such as `LIST`.
        wanted: Cow<'static, str>,
        /// Kind found, such as `TABLE`; numbers and truth values are shown.
        found: Cow<'static, str>,
    },
    /// A value of the right kind that was refused, with the reason.
    Refused(String),
}

/// Name of a string in messages.
pub(crate) const TEXT: &str = "a string";
/// Name of a list in messages.
pub(crate) const LIST: &str = "a list";
/// Name of a table in messages.
pub(crate) const TABLE: &str = "a table";

/// Keys whose values are tables in a list: `[[key]]`.
const LISTS_OF_TABLES: [&str; 5] = ["sweep", "variant", "rule", "device", "cell"];

impl TomlError {
    /// Creates an error without a position.
    pub fn new(problem: Problem) -> TomlError {
        TomlError { problem: Box::new(problem), key: None, byte: None }
    }

    /// Sets the position to `byte`, unless it has one.
    pub fn at(mut self, byte: usize) -> TomlError {
        self.byte.get_or_insert(byte);
        self
    }

    /// Sets the key to `key`, unless an inner one is known.
    pub(crate) fn of_key(mut self, key: &str) -> TomlError {
        self.key.get_or_insert_with(|| key.to_owned());
        self
    }

    /// Returns its one-based line in `text`, the content of the file.
    pub fn line(&self, text: &str) -> usize {
        line_of(text, self.byte.unwrap_or(0))
    }
}

/// Returns the one-based line of a byte of `text`.
pub fn line_of(text: &str, byte: usize) -> usize {
    text.bytes().take(byte).filter(|&b| b == b'\n').count() + 1
}

impl fmt::Display for TomlError {
    /// Writes the message on one line. Control characters in quoted keys and strings are escaped as in TOML.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sentence = self.problem.sentence(self.key.as_deref().unwrap_or("the value"));
        f.write_str(&control::spelled_out(&sentence))
    }
}

impl Problem {
    /// Describes the problem of the value of `key`.
    fn sentence(&self, key: &str) -> String {
        match self {
            Problem::Syntax(text) | Problem::Refused(text) => {
                text.split_whitespace().collect::<Vec<_>>().join(" ")
            }
            Problem::UnknownKey { key, valid } => {
                words::unknown("key", key, &valid.iter().map(String::as_str).collect::<Vec<_>>())
            }
            Problem::UnknownWord { word, valid } => {
                words::unknown(key.strip_suffix('s').unwrap_or(key), word, valid)
            }
            Problem::MissingKey(key) => format!("the key '{key}' is missing"),
            Problem::Kind { wanted, found } if wanted == LIST && LISTS_OF_TABLES.contains(&key) => {
                match found.as_ref() {
                    TABLE => format!("write [[{key}]] with two brackets"),
                    _ => format!("{key} must be a list of tables, not {found}: write [[{key}]]"),
                }
            }
            Problem::Kind { wanted, found } => format!("{key} must be {wanted}, not {found}"),
        }
    }
}

/// Returns the name of an unexpected value in messages.
fn name_of(unexpected: Unexpected) -> Cow<'static, str> {
    match unexpected {
        Unexpected::Bool(value) => value.to_string().into(),
        Unexpected::Signed(number) => number.to_string().into(),
        Unexpected::Unsigned(number) => number.to_string().into(),
        Unexpected::Float(number) => format!("{number:?}").into(),
        Unexpected::Seq => LIST.into(),
        Unexpected::Map => TABLE.into(),
        Unexpected::Str(_) => TEXT.into(),
        other => other.to_string().into(),
    }
}

impl std::error::Error for TomlError {}

impl de::Error for TomlError {
    fn custom<T: fmt::Display>(reason: T) -> TomlError {
        TomlError::new(Problem::Refused(reason.to_string()))
    }

    fn invalid_type(unexpected: Unexpected, expected: &dyn Expected) -> TomlError {
        let wanted = expected.to_string().into();
        TomlError::new(Problem::Kind { wanted, found: name_of(unexpected) })
    }

    fn invalid_value(unexpected: Unexpected, expected: &dyn Expected) -> TomlError {
        de::Error::invalid_type(unexpected, expected)
    }

    fn unknown_variant(word: &str, valid: &'static [&'static str]) -> TomlError {
        TomlError::new(Problem::UnknownWord { word: word.to_owned(), valid })
    }

    fn unknown_field(key: &str, valid: &'static [&'static str]) -> TomlError {
        TomlError::new(Problem::UnknownKey {
            key: key.to_owned(),
            valid: valid.iter().map(|key| (*key).to_owned()).collect(),
        })
    }

    fn missing_field(key: &'static str) -> TomlError {
        TomlError::new(Problem::MissingKey(key))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn problems_name_the_expected_and_the_found_kind() {
        let kind = |wanted: &'static str, found: &'static str| Problem::Kind {
            wanted: wanted.into(),
            found: found.into(),
        };
        for (problem, expected) in [
            (kind("a number", "true"), "k must be a number, not true"),
            (kind(LIST, TABLE), "k must be a list, not a table"),
            (kind(TABLE, LIST), "k must be a table, not a list"),
            (Problem::MissingKey("name"), "the key 'name' is missing"),
            (
                Problem::UnknownWord { word: "righ".into(), valid: &["right", "wrong"] },
                "unknown k 'righ': did you mean 'right'? (valid: right, wrong)",
            ),
        ] {
            assert_eq!(TomlError::new(problem).of_key("k").to_string(), expected);
        }
        let table = TomlError::new(kind(LIST, TABLE)).of_key("rule");
        assert_eq!(table.to_string(), "write [[rule]] with two brackets");
        let number = TomlError::new(kind(LIST, "3")).of_key("rule");
        assert_eq!(number.to_string(), "rule must be a list of tables, not 3: write [[rule]]");
    }
}
