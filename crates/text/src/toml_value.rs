//! Values of TOML files as their writers wrote them, handed to the parsers of the command line.

use std::fmt;

use anyhow::Result;
use serde::Deserialize;
use serde::de::{self, Deserializer, Visitor};

/// One word or figure with its unit, such as `"2s"`, `"0.5%"` or `"cold"`; a bare number is taken as it is written.
pub struct Scalar(pub String);

impl<'de> Deserialize<'de> for Scalar {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ScalarVisitor)
    }
}

struct ScalarVisitor;

impl Visitor<'_> for ScalarVisitor {
    type Value = Scalar;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a text such as \"2s\", \"0.5%\" or \"cold\"")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Scalar, E> {
        Ok(Scalar(text.to_owned()))
    }

    fn visit_i64<E: de::Error>(self, number: i64) -> Result<Scalar, E> {
        Ok(Scalar(number.to_string()))
    }

    fn visit_f64<E: de::Error>(self, number: f64) -> Result<Scalar, E> {
        Ok(Scalar(number.to_string()))
    }
}

/// Reads a value and turns it into what a parser of the command line makes of it.
pub fn checked<'de, D, V, T>(deserializer: D, parse: impl Fn(V) -> Result<T>) -> Result<Option<T>, D::Error>
where
    D: Deserializer<'de>,
    V: Deserialize<'de>,
{
    parse(V::deserialize(deserializer)?).map(Some).map_err(de::Error::custom)
}
