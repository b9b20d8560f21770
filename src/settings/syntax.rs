//! The machinery of option values: each value is a type with one parser, for the command line and for sweep files.

use std::fmt;
use std::ops::RangeInclusive;

use anyhow::{Context, Result};
use gpubench_text::toml_reader::{Scalar, Words};
use serde::de::{Deserialize, Deserializer};

/// The reason for refusing a value on the command line.
#[derive(Clone, Debug, PartialEq)]
pub struct ValueRefusal {
    reason: String,
    /// Whether the reason quotes the wrong word, so that the message need not quote the value again.
    pub quotes: bool,
}

impl ValueRefusal {
    /// Says why a value of that kind is refused.
    pub fn new(error: &anyhow::Error, kind: TomlKind) -> ValueRefusal {
        let quotes = matches!(kind, TomlKind::List | TomlKind::Word);
        ValueRefusal { reason: error.to_string(), quotes }
    }
}

impl fmt::Display for ValueRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.reason)
    }
}

impl std::error::Error for ValueRefusal {}

/// The kind of a value in a sweep file. Its text is parsed as on the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TomlKind {
    /// A list separated by commas, or an array of strings and whole numbers.
    List,
    /// A word from a list.
    Word,
    /// A figure with its unit, as a string, or a number.
    Figure,
    /// A whole number.
    Whole,
    /// A number.
    Number,
}

impl TomlKind {
    /// Returns the text of a value.
    pub fn text<'de, D: Deserializer<'de>>(self, from: D) -> Result<String, D::Error> {
        match self {
            TomlKind::List => Words::deserialize(from).map(|words| words.0),
            TomlKind::Word | TomlKind::Figure => Scalar::deserialize(from).map(|scalar| scalar.0),
            TomlKind::Whole => u64::deserialize(from).map(|number| number.to_string()),
            TomlKind::Number => f64::deserialize(from).map(|number| number.to_string()),
        }
    }
}

/// Parses a whole number in `range`.
pub fn whole(text: &str, range: RangeInclusive<u64>) -> Result<u64> {
    let number = text.trim().parse().ok().filter(|number| range.contains(number));
    number.with_context(|| format!("it must be a whole number from {} to {}", range.start(), range.end()))
}

/// Defines the types of option values, each as `NAME(TYPE) as KIND = DEFAULT, PARSER;`, where the parser takes a text, and
/// [`TomlKind`] is what a sweep file may write.
macro_rules! value {
    ($($(#[$meta:meta])* $name:ident($inner:ty) as $kind:ident $(= $default:expr)?, $parse:expr;)*) => {$(
        $(#[$meta])*
        #[derive(Clone, Debug, PartialEq)]
        pub struct $name(pub $inner);

        impl $name {
            fn parse(text: &str) -> Result<Self> {
                let parse: fn(&str) -> Result<$inner> = $parse;
                parse(text).map($name)
            }
        }

        impl std::str::FromStr for $name {
            type Err = $crate::settings::syntax::ValueRefusal;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                use $crate::settings::syntax::{TomlKind, ValueRefusal};
                $name::parse(text).map_err(|error| ValueRefusal::new(&error, TomlKind::$kind))
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = $crate::settings::syntax::TomlKind::$kind.text(deserializer)?;
                $name::parse(&text).map_err(serde::de::Error::custom)
            }
        }

        $(impl Default for $name {
            fn default() -> Self {
                $name($default)
            }
        })?
    )*};
}

/// The places besides the command line where an option may be set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OptionScope {
    /// In a table of a sweep file, and at the top of the file as the default of all tables.
    Table,
    /// At the top of a sweep file: it applies to the whole run.
    File,
    /// Nowhere.
    Line,
}

/// Defines a struct of options, each of which a source of settings may leave open. A field is `PLACE name: TYPE`, see
/// [`OptionScope`].
macro_rules! layer {
    ($(#[$meta:meta])* pub struct $name:ident {
        $($(#[$attribute:meta])* $place:ident $field:ident: $type:ty,)*
    }) => {
        $(#[$meta])*
        pub struct $name {
            $($(#[$attribute])* pub $field: Option<$type>,)*
        }

        impl $name {
            /// Every option by field name, with its place.
            const OPTIONS: &[(&str, OptionScope)] = &[$((stringify!($field), OptionScope::$place),)*];

            /// Returns this layer's values, and those of `under` for options that this layer leaves open.
            fn filled_from(&self, under: &$name) -> $name {
                $name { $($field: self.$field.clone().or_else(|| under.$field.clone()),)* }
            }
        }
    };
}

pub(super) use {layer, value};
