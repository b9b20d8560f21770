//! Reads TOML files into types. An error is one line that names the key, what it must be, and the nearest valid word.

use std::borrow::Cow;
use std::fmt;

use serde::Deserialize;
use serde::de::{self, Deserializer, Unexpected};
use toml::de::{DeTable, DeValue, ValueDeserializer};
use toml::{Spanned, Value};

use crate::{control, words};

/// An error in a TOML file. [`Display`](fmt::Display) writes it on one line.
#[derive(Debug)]
pub struct TomlError {
    /// The problem.
    pub problem: Problem,
    /// First byte of the problem.
    byte: usize,
}

/// Kind of problem.
#[derive(Debug, PartialEq)]
pub enum Problem {
    /// A key that is unknown in its table.
    UnknownKey {
        /// The key.
        key: String,
        /// Keys that are valid there.
        valid: Vec<String>,
    },
    /// Any other problem, in words.
    Refused(String),
}

impl TomlError {
    /// Creates an error at that byte of the file.
    pub fn new(problem: Problem, byte: usize) -> TomlError {
        TomlError { problem, byte }
    }

    /// Returns its one-based line in `text`, the content of the file.
    pub fn line(&self, text: &str) -> usize {
        line_of(text, self.byte)
    }
}

/// Returns the one-based line of a byte of `text`.
pub fn line_of(text: &str, byte: usize) -> usize {
    text.bytes().take(byte).filter(|&b| b == b'\n').count() + 1
}

impl fmt::Display for TomlError {
    /// Control characters in quoted keys and strings are escaped as in TOML.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sentence = match &self.problem {
            Problem::UnknownKey { key, valid } => {
                words::unknown("key", key, &valid.iter().map(String::as_str).collect::<Vec<_>>())
            }
            Problem::Refused(text) => text.split_whitespace().collect::<Vec<_>>().join(" "),
        };
        f.write_str(&control::spelled_out(&sentence))
    }
}

/// Reads a whole file.
///
/// # Errors
/// The text is not TOML, or a key or value does not fit `T`.
pub fn read<'t, T: Deserialize<'t>>(text: &'t str) -> Result<T, TomlError> {
    from_table(parse(text)?)
}

/// Returns the tables, keys and values of a file.
pub fn parse(text: &str) -> Result<Spanned<DeTable<'_>>, TomlError> {
    DeTable::parse(text).map_err(|error| {
        let byte = error.span().map_or(0, |span| span.start);
        TomlError::new(Problem::Refused(error.message().to_owned()), byte)
    })
}

/// Reads a parsed table.
pub fn from_table<'t, T: Deserialize<'t>>(table: Spanned<DeTable<'t>>) -> Result<T, TomlError> {
    let root = Spanned::new(table.span(), DeValue::Table(table.into_inner()));
    T::deserialize(ValueDeserializer::from(root.clone())).map_err(|error| described(&root, &error))
}

/// Removes the tables of `[[key]]` from `table` and returns them; empty if there are none.
///
/// # Errors
/// The key's value is not a list of tables.
pub fn take_tables<'t>(table: &mut DeTable<'t>, key: &str) -> Result<Vec<Spanned<DeTable<'t>>>, TomlError> {
    let wrong = |wanted, value: &DeValue<'_>, byte| {
        TomlError::new(Problem::Refused(wrong_kind(key, wanted, value)), byte)
    };
    let Some(value) = table.remove(key) else { return Ok(vec![]) };
    let byte = value.span().start;
    let items = match value.into_inner() {
        DeValue::Array(items) => items,
        other => return Err(wrong(LIST, &other, byte)),
    };
    let tables = items.into_iter().map(|item| {
        let span = item.span();
        match item.into_inner() {
            DeValue::Table(table) => Ok(Spanned::new(span, table)),
            other => Err(wrong(TABLE, &other, span.start)),
        }
    });
    tables.collect()
}

/// Names of kinds of values in messages.
const LIST: &str = "a list";
const TABLE: &str = "a table";
const TEXT: &str = "a string";

/// Keys whose values are tables in a list: `[[key]]`.
const LISTS_OF_TABLES: [&str; 5] = ["sweep", "variant", "rule", "device", "cell"];

/// Words the message of the TOML reader as gpubench does, with the key and the value that it is about.
fn described(root: &Spanned<DeValue<'_>>, error: &toml::de::Error) -> TomlError {
    let byte = error.span().map_or(root.span().start, |span| span.start);
    let (key, value) = innermost(root, "the value", byte).unwrap_or(("the value", root.get_ref()));
    let message = error.message();
    let quoted = |text: &str| text.split('`').skip(1).step_by(2).map(str::to_owned).collect::<Vec<_>>();
    let unknown = |what| Some(message.strip_prefix(what)?.split_once("`, "));
    let problem = if let Some(Some((key, valid))) = unknown("unknown field `") {
        Problem::UnknownKey { key: key.to_owned(), valid: quoted(valid) }
    } else if let Some(Some((word, valid))) = unknown("unknown variant `") {
        let valid = quoted(valid);
        let valid: Vec<&str> = valid.iter().map(String::as_str).collect();
        Problem::Refused(words::unknown(key.strip_suffix('s').unwrap_or(key), word, &valid))
    } else if let Some(missing) = message.strip_prefix("missing field ") {
        Problem::Refused(format!("the key {} is missing", missing.replace('`', "'")))
    } else if message == "wanted string or table" {
        Problem::Refused(wrong_kind(key, TEXT, value))
    } else {
        let is_kind = message.starts_with("invalid ");
        let wanted = message.rsplit_once(", expected ").filter(|_| is_kind).map(|(_, wanted)| wanted);
        Problem::Refused(wanted.map_or(message.to_owned(), |wanted| wrong_kind(key, wanted, value)))
    };
    TomlError::new(problem, byte)
}

/// Returns the innermost value that begins at that byte, with its key.
fn innermost<'a, 't>(
    value: &'a Spanned<DeValue<'t>>,
    key: &'a str,
    byte: usize,
) -> Option<(&'a str, &'a DeValue<'t>)> {
    let within = match value.get_ref() {
        DeValue::Array(items) => items.iter().find_map(|item| innermost(item, key, byte)),
        DeValue::Table(table) => table.iter().find_map(|(key, item)| innermost(item, key.get_ref(), byte)),
        _ => None,
    };
    within.or_else(|| (value.span().start == byte).then_some((key, value.get_ref())))
}

/// Says that the value of a key must be what serde or a visitor calls `wanted`.
fn wrong_kind(key: &str, wanted: &str, value: &DeValue<'_>) -> String {
    let found: Cow<'_, str> = match value {
        DeValue::String(_) => TEXT.into(),
        DeValue::Integer(number) => number.to_string().into(),
        DeValue::Float(number) => number.to_string().into(),
        DeValue::Boolean(value) => value.to_string().into(),
        DeValue::Datetime(_) => "a date".into(),
        DeValue::Array(_) => LIST.into(),
        DeValue::Table(_) => TABLE.into(),
    };
    let whole = |max: u64| match value {
        DeValue::Integer(number) if number.as_str().starts_with('-') => "a whole number, 0 or more".into(),
        DeValue::Integer(_) => Cow::from(format!("a whole number from 0 to {max}")),
        _ => "a whole number".into(),
    };
    let wanted = match wanted {
        "u32" => whole(u32::MAX.into()),
        "u64" => whole(u64::MAX),
        "f64" => "a number".into(),
        "a boolean" => "true or false".into(),
        "path string" => TEXT.into(),
        "a sequence" => LIST.into(),
        "a map" => TABLE.into(),
        other if other.starts_with("struct ") => TABLE.into(),
        other => other.into(),
    };
    match found.as_ref() {
        TABLE if wanted == LIST && LISTS_OF_TABLES.contains(&key) => {
            format!("write [[{key}]] with two brackets")
        }
        _ if wanted == LIST && LISTS_OF_TABLES.contains(&key) => {
            format!("{key} must be a list of tables, not {found}: write [[{key}]]")
        }
        _ => format!("{key} must be {wanted}, not {found}"),
    }
}

/// Returns the error of a value that is not `wanted`, such as `a size such as 100`.
pub fn not_a<E: de::Error>(wanted: &str) -> E {
    E::invalid_type(Unexpected::Other("value"), &wanted)
}

/// One word, or a figure with its unit, such as `"2s"`, `"0.5%"` or `"cold"`; a bare number keeps its spelling.
pub struct Scalar(pub String);

impl<'de> Deserialize<'de> for Scalar {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match Value::deserialize(deserializer)? {
            Value::String(text) => Ok(Scalar(text)),
            Value::Integer(number) => Ok(Scalar(number.to_string())),
            Value::Float(number) => Ok(Scalar(number.to_string())),
            _ => Err(not_a("a string such as \"2s\", \"0.5%\" or \"cold\"")),
        }
    }
}

/// A list of words or whole numbers, or one string in the command line's form; joined by commas.
pub struct Words(pub String);

impl<'de> Deserialize<'de> for Words {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        joined(Value::deserialize(deserializer)?).map(Words).ok_or_else(|| {
            not_a("a list such as [\"matmul\", \"fft\"] or [100, 1000], or a string such as \"100..2000:x2\"")
        })
    }
}

fn joined(value: Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text),
        Value::Integer(number) => Some(number.to_string()),
        Value::Array(items) => Some(items.into_iter().map(joined).collect::<Option<Vec<_>>>()?.join(",")),
        _ => None,
    }
}

/// Reads a value and parses it with a parser of the command line.
pub fn checked<'de, D, V, T>(
    deserializer: D,
    parse: impl Fn(V) -> anyhow::Result<T>,
) -> Result<Option<T>, D::Error>
where
    D: Deserializer<'de>,
    V: Deserialize<'de>,
{
    parse(V::deserialize(deserializer)?).map(Some).map_err(de::Error::custom)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Inner {
        x: Option<u32>,
    }

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Outer {
        count: Option<u64>,
        list: Option<Vec<u32>>,
        share: Option<f64>,
        inner: Option<Spanned<Inner>>,
        #[serde(default)]
        rule: Vec<Inner>,
    }

    fn mistake(text: &str) -> String {
        read::<Outer>(text)
            .map_or_else(|error| format!("{}: {error}", error.line(text)), |read| format!("{read:?}"))
    }

    #[test]
    fn values_are_read_with_their_places() {
        let text = "count = 0xff\nlist = [1, 2]\nshare = 1\n\n[inner]\nx = 3\n[[rule]]\n";
        let outer: Outer = read(text).unwrap();
        assert_eq!((outer.count, outer.list, outer.share), (Some(255), Some(vec![1, 2]), Some(1.0)));
        let inner = outer.inner.unwrap();
        assert_eq!((inner.get_ref().x, inner.span().start), (Some(3), text.find("[inner]").unwrap()));
        assert_eq!(outer.rule.len(), 1);
    }

    #[test]
    fn mistakes_name_the_innermost_key_and_its_line() {
        for (text, expected) in [
            ("count = 'x'\n", "1: count must be a whole number, not a string"),
            ("count = -1\n", "1: count must be a whole number, 0 or more, not -1"),
            (
                "count = 99999999999999999999\n",
                "1: count must be a whole number from 0 to 18446744073709551615, not 9",
            ),
            ("count = 1979-05-27\n", "1: count must be a whole number, not a date"),
            ("\nlist = [1,\n 1.5]\n", "3: list must be a whole number, not 1.5"),
            ("list = {}\n", "1: list must be a list, not a table"),
            (
                "inner = { x = 4294967296 }\n",
                "1: x must be a whole number from 0 to 4294967295, not 4294967296",
            ),
            ("[inner]\ny = 1\n", "2: unknown key 'y' (valid: x)"),
            ("[[rule]]\n[[rule]]\nx = true\n", "3: x must be a whole number, not true"),
            ("[rule]\n", "1: write [[rule]] with two brackets"),
            ("\"a\\nb\" = 1\n", "1: unknown key 'a\\nb'"),
            ("count = 1\ncount = 2\n", "2: duplicate key"),
        ] {
            assert!(mistake(text).starts_with(expected), "{text:?}: {}", mistake(text));
        }
    }
}
