//! The machinery of option values: each value is a type with one check, for the command line and for sweep files.

use std::fmt;

use anyhow::{Context, Result};
use gpubench_text::duration;
use gpubench_text::toml_value::{self, Scalar};
use serde::de::{self, Deserialize, Deserializer};

/// The reason for refusing a value on the command line.
#[derive(Clone, Debug, PartialEq)]
pub struct ValueRefusal {
    reason: String,
    /// Whether the reason quotes the wrong word, so that the message need not quote the value again.
    pub quotes: bool,
}

impl fmt::Display for ValueRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.reason)
    }
}

impl std::error::Error for ValueRefusal {}

/// A syntax for values on the command line and in a sweep file.
pub trait ValueSyntax {
    /// The value before it is checked.
    type Raw;
    /// Whether refusals quote the wrong word.
    const QUOTES: bool = false;

    /// Reads it from the command line.
    fn from_text(text: &str) -> Result<Self::Raw>;

    /// Reads it from a sweep file.
    fn from_toml<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Self::Raw, D::Error>;
}

/// CommaList from a list, separated by commas; in a sweep file also an array of strings and whole numbers.
pub struct CommaList;

impl ValueSyntax for CommaList {
    type Raw = String;
    const QUOTES: bool = true;

    fn from_text(text: &str) -> Result<String> {
        Ok(text.to_owned())
    }

    fn from_toml<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
        toml_value::Words::deserialize(deserializer).map(|words| words.0)
    }
}

/// One string or number, which the check parses.
pub struct Text<const QUOTES: bool>;

/// One word from a list.
pub type Word = Text<true>;
/// A number with a unit, or a word.
pub type NumberWithUnit = Text<false>;

impl<const QUOTES: bool> ValueSyntax for Text<QUOTES> {
    type Raw = String;
    const QUOTES: bool = QUOTES;

    fn from_text(text: &str) -> Result<String> {
        Ok(text.to_owned())
    }

    fn from_toml<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
        Scalar::deserialize(deserializer).map(|scalar| scalar.0)
    }
}

/// A duration such as `500ms`, in seconds.
pub struct DurationSyntax;

impl ValueSyntax for DurationSyntax {
    type Raw = f64;

    fn from_text(text: &str) -> Result<f64> {
        duration::parse(text)
    }

    fn from_toml<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
        duration::parse(&NumberWithUnit::from_toml(deserializer)?).map_err(de::Error::custom)
    }
}

/// A whole number. The limits appear in the message for text that is no such number; the check refuses numbers outside
/// them.
pub struct WholeNumber<const MIN: u64, const MAX: u64>;

impl<const MIN: u64, const MAX: u64> ValueSyntax for WholeNumber<MIN, MAX> {
    type Raw = u64;

    fn from_text(text: &str) -> Result<u64> {
        text.trim().parse().ok().with_context(|| format!("it must be a whole number from {MIN} to {MAX}"))
    }

    fn from_toml<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
        u64::deserialize(deserializer)
    }
}

/// A fraction.
pub struct Fraction;

impl ValueSyntax for Fraction {
    type Raw = f64;

    fn from_text(text: &str) -> Result<f64> {
        text.trim().parse().ok().context("it must be a number above 0 and at most 1")
    }

    fn from_toml<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
        f64::deserialize(deserializer)
    }
}

/// Parses and checks a value from the command line.
pub fn from_text<F: ValueSyntax, T>(
    text: &str,
    check: impl Fn(F::Raw) -> Result<T>,
) -> Result<T, ValueRefusal> {
    let read = F::from_text(text).and_then(check);
    read.map_err(|error| ValueRefusal { reason: error.to_string(), quotes: F::QUOTES })
}

/// Parses and checks a value from a sweep file.
pub fn from_toml<'de, F: ValueSyntax, D: Deserializer<'de>, T>(
    deserializer: D,
    check: impl Fn(F::Raw) -> Result<T>,
) -> Result<T, D::Error> {
    check(F::from_toml(deserializer)?).map_err(de::Error::custom)
}

/// Defines the types of option values, each as `NAME(TYPE) as FORM = DEFAULT, CHECK;`. The check converts the raw
/// value or refuses it.
macro_rules! value {
    ($($(#[$meta:meta])* $name:ident($inner:ty) as $form:ty $(= $default:expr)?, $check:expr;)*) => {$(
        $(#[$meta])*
        #[derive(Clone, Debug, PartialEq)]
        pub struct $name(pub $inner);

        impl std::str::FromStr for $name {
            type Err = $crate::settings::syntax::ValueRefusal;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                $crate::settings::syntax::from_text::<$form, _>(text, $check).map($name)
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                $crate::settings::syntax::from_toml::<$form, D, _>(deserializer, $check).map($name)
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
