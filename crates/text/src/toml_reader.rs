//! Reads TOML files into types, with [`TomlError`]s. The kinds of values are checked here, so that errors do not depend on
//! the parser's messages.

use std::borrow::Cow;
use std::ops::Range;

use serde::de::value::CowStrDeserializer;
use serde::de::{DeserializeSeed, Deserializer, IntoDeserializer, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, de, forward_to_deserialize_any};
use serde_spanned::de::SpannedDeserializer;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::toml_error::{LIST, Problem, TABLE, TEXT, TomlError};

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
        TomlError::new(Problem::Syntax(error.message().to_owned())).at(byte)
    })
}

/// Reads a parsed table.
pub fn from_table<'t, T: Deserialize<'t>>(table: Spanned<DeTable<'t>>) -> Result<T, TomlError> {
    let span = table.span();
    T::deserialize(SpannedValue { value: DeValue::Table(table.into_inner()), span })
}

/// Removes the tables of `[[key]]` from `table` and returns them; empty if there are none.
///
/// # Errors
/// The key's value is not a list of tables.
pub fn take_tables<'t>(table: &mut DeTable<'t>, key: &str) -> Result<Vec<Spanned<DeTable<'t>>>, TomlError> {
    let Some(value) = table.remove(key).map(SpannedValue::from) else { return Ok(vec![]) };
    let items = match value.value {
        DeValue::Array(items) => items,
        _ => return Err(value.is_not(LIST).of_key(key)),
    };
    let tables = items.into_iter().map(SpannedValue::from).map(|item| match item.value {
        DeValue::Table(table) => Ok(Spanned::new(item.span, table)),
        _ => Err(item.is_not(TABLE).of_key(key)),
    });
    tables.collect()
}

/// A value and its bytes in the file.
struct SpannedValue<'t> {
    value: DeValue<'t>,
    span: Range<usize>,
}

impl<'t> From<Spanned<DeValue<'t>>> for SpannedValue<'t> {
    fn from(value: Spanned<DeValue<'t>>) -> Self {
        let span = value.span();
        SpannedValue { value: value.into_inner(), span }
    }
}

impl<'t> SpannedValue<'t> {
    /// Returns the name of the value's kind in messages.
    fn found(&self) -> Cow<'static, str> {
        match &self.value {
            DeValue::String(_) => TEXT.into(),
            DeValue::Integer(number) => number.to_string().into(),
            DeValue::Float(number) => number.to_string().into(),
            DeValue::Boolean(value) => value.to_string().into(),
            DeValue::Datetime(_) => "a date".into(),
            DeValue::Array(_) => LIST.into(),
            DeValue::Table(_) => TABLE.into(),
        }
    }

    /// Returns the error of a value of the wrong kind.
    fn is_not(&self, wanted: impl Into<Cow<'static, str>>) -> TomlError {
        TomlError::new(Problem::Kind { wanted: wanted.into(), found: self.found() }).at(self.span.start)
    }

    /// Visits the value if it `fits`; otherwise returns an error that names the wanted kind.
    fn only<V: Visitor<'t>>(
        self,
        fits: bool,
        wanted: &'static str,
        visitor: V,
    ) -> Result<V::Value, TomlError> {
        if fits { self.deserialize_any(visitor) } else { Err(self.is_not(wanted)) }
    }

    /// Visits a whole number from 0 to `max`.
    fn whole<V: Visitor<'t>>(self, max: u64, visitor: V) -> Result<V::Value, TomlError> {
        let DeValue::Integer(number) = &self.value else { return Err(self.is_not("a whole number")) };
        match u64::from_str_radix(number.as_str(), number.radix()) {
            Ok(number) if number <= max => visitor.visit_u64(number),
            Err(_) if number.as_str().starts_with('-') => Err(self.is_not("a whole number, 0 or more")),
            _ => Err(self.is_not(format!("a whole number from 0 to {max}"))),
        }
    }
}

impl<'t> Deserializer<'t> for SpannedValue<'t> {
    type Error = TomlError;

    fn deserialize_any<V: Visitor<'t>>(self, visitor: V) -> Result<V::Value, TomlError> {
        let byte = self.span.start;
        let strange = |text: &str, visitor: &V| de::Error::invalid_type(de::Unexpected::Other(text), visitor);
        let read = match self.value {
            DeValue::String(text) => CowStrDeserializer::new(text).deserialize_any(visitor),
            DeValue::Integer(ref number) => {
                let digits = (number.as_str(), number.radix());
                match (i64::from_str_radix(digits.0, digits.1), u64::from_str_radix(digits.0, digits.1)) {
                    (Ok(number), _) => visitor.visit_i64(number),
                    (_, Ok(number)) => visitor.visit_u64(number),
                    _ => Err(strange(&number.to_string(), &visitor)),
                }
            }
            DeValue::Float(ref number) => match number.as_str().parse() {
                Ok(number) => visitor.visit_f64(number),
                Err(_) => Err(strange(number.as_str(), &visitor)),
            },
            DeValue::Boolean(value) => visitor.visit_bool(value),
            DeValue::Datetime(_) => Err(strange("a date", &visitor)),
            DeValue::Array(items) => visitor.visit_seq(Items(items.into_iter())),
            DeValue::Table(table) => visitor.visit_map(Entries { entries: table.into_iter(), value: None }),
        };
        read.map_err(|error: TomlError| error.at(byte))
    }

    fn deserialize_u32<V: Visitor<'t>>(self, visitor: V) -> Result<V::Value, TomlError> {
        self.whole(u32::MAX.into(), visitor)
    }

    fn deserialize_u64<V: Visitor<'t>>(self, visitor: V) -> Result<V::Value, TomlError> {
        self.whole(u64::MAX, visitor)
    }

    fn deserialize_f64<V: Visitor<'t>>(self, visitor: V) -> Result<V::Value, TomlError> {
        let fits = self.value.is_integer() || self.value.is_float();
        self.only(fits, "a number", visitor)
    }

    fn deserialize_bool<V: Visitor<'t>>(self, visitor: V) -> Result<V::Value, TomlError> {
        let fits = self.value.is_bool();
        self.only(fits, "true or false", visitor)
    }

    fn deserialize_str<V: Visitor<'t>>(self, visitor: V) -> Result<V::Value, TomlError> {
        let fits = self.value.is_str();
        self.only(fits, TEXT, visitor)
    }

    fn deserialize_string<V: Visitor<'t>>(self, visitor: V) -> Result<V::Value, TomlError> {
        self.deserialize_str(visitor)
    }

    fn deserialize_seq<V: Visitor<'t>>(self, visitor: V) -> Result<V::Value, TomlError> {
        let fits = self.value.is_array();
        self.only(fits, LIST, visitor)
    }

    fn deserialize_struct<V: Visitor<'t>>(
        self,
        name: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, TomlError> {
        if serde_spanned::de::is_spanned(name) {
            let span = self.span.clone();
            return visitor.visit_map(SpannedDeserializer::new(self, span));
        }
        let fits = self.value.is_table();
        self.only(fits, TABLE, visitor)
    }

    /// Enums are words.
    fn deserialize_enum<V: Visitor<'t>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, TomlError> {
        let byte = self.span.start;
        match self.value {
            DeValue::String(word) => {
                visitor.visit_enum(CowStrDeserializer::new(word)).map_err(|error: TomlError| error.at(byte))
            }
            _ => Err(self.is_not(TEXT)),
        }
    }

    fn deserialize_option<V: Visitor<'t>>(self, visitor: V) -> Result<V::Value, TomlError> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'t>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, TomlError> {
        visitor.visit_newtype_struct(self)
    }

    forward_to_deserialize_any! {
        <V: Visitor<'t>>
        i8 i16 i32 i64 i128 u8 u16 u128 f32 char bytes byte_buf unit unit_struct tuple tuple_struct map identifier ignored_any
    }
}

impl<'t> IntoDeserializer<'t, TomlError> for SpannedValue<'t> {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

/// The values of an array.
struct Items<'t>(std::vec::IntoIter<Spanned<DeValue<'t>>>);

impl<'t> SeqAccess<'t> for Items<'t> {
    type Error = TomlError;

    fn next_element_seed<T: DeserializeSeed<'t>>(&mut self, seed: T) -> Result<Option<T::Value>, TomlError> {
        self.0.next().map(|item| read_value(item.into(), seed)).transpose()
    }
}

/// The keys and values of a table.
struct Entries<'t> {
    entries: <DeTable<'t> as IntoIterator>::IntoIter,
    /// The last key read, with its value, which is read next.
    value: Option<(Cow<'t, str>, SpannedValue<'t>)>,
}

impl<'t> MapAccess<'t> for Entries<'t> {
    type Error = TomlError;

    fn next_key_seed<K: DeserializeSeed<'t>>(&mut self, seed: K) -> Result<Option<K::Value>, TomlError> {
        let Some((key, value)) = self.entries.next() else { return Ok(None) };
        let byte = key.span().start;
        let key = key.into_inner();
        self.value = Some((key.clone(), value.into()));
        seed.deserialize(CowStrDeserializer::new(key)).map(Some).map_err(|error: TomlError| error.at(byte))
    }

    fn next_value_seed<V: DeserializeSeed<'t>>(&mut self, seed: V) -> Result<V::Value, TomlError> {
        let no_key = || de::Error::custom("a value is read before its key");
        let (key, value) = self.value.take().ok_or_else(no_key)?;
        read_value(value, seed).map_err(|error| error.of_key(&key))
    }
}

/// Reads a value. An error gets the position of the value, unless it has an inner one.
fn read_value<'t, S: DeserializeSeed<'t>>(value: SpannedValue<'t>, seed: S) -> Result<S::Value, TomlError> {
    let byte = value.span.start;
    seed.deserialize(value).map_err(|error| error.at(byte))
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
