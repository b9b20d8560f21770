//! Reads values of TOML files as text for the command line's parsers.

use std::fmt;

use anyhow::Result;
use serde::Deserialize;
use serde::de::{self, Deserializer, SeqAccess, Visitor};

/// One word, or a figure with its unit, such as `"2s"`, `"0.5%"` or `"cold"`; a bare number keeps its spelling.
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
        f.write_str("a string such as \"2s\", \"0.5%\" or \"cold\"")
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

/// A list of words or whole numbers, or one string in the command line's form; joined by commas.
pub struct Words(pub String);

impl<'de> Deserialize<'de> for Words {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(WordsVisitor)
    }
}

struct WordsVisitor;

impl<'de> Visitor<'de> for WordsVisitor {
    type Value = Words;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(
            "a list such as [\"matmul\", \"fft\"] or [100, 1000], or a string such as \"100..2000:x2\"",
        )
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Words, E> {
        Ok(Words(text.to_owned()))
    }

    fn visit_i64<E: de::Error>(self, number: i64) -> Result<Words, E> {
        Ok(Words(number.to_string()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Words, A::Error> {
        let mut words = Vec::new();
        while let Some(Words(word)) = items.next_element()? {
            words.push(word);
        }
        Ok(Words(words.join(",")))
    }
}

/// Reads a value and parses it with a parser of the command line.
pub fn checked<'de, D, V, T>(deserializer: D, parse: impl Fn(V) -> Result<T>) -> Result<Option<T>, D::Error>
where
    D: Deserializer<'de>,
    V: Deserialize<'de>,
{
    parse(V::deserialize(deserializer)?).map(Some).map_err(de::Error::custom)
}
