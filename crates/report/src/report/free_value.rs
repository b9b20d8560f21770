//! Reads JSON of any structure, as a report's settings and descriptions are, up to a number of values: each takes 32 bytes of
//! memory or more, and may take 2 bytes of a file.

use std::cell::Cell;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};

/// Most values. The settings of the largest sweeps have a tenth of them.
const MAX_VALUES: usize = 1_000_000;
/// Number of values for which an object counts, by the memory that its tree takes.
const OBJECT: usize = 16;

/// Reads a value.
///
/// # Errors
/// It holds too many values, or is not JSON.
pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Value, D::Error> {
    Node { left: &Cell::new(MAX_VALUES) }.deserialize(from)
}

/// Reads a value that may be missing; null counts as missing.
///
/// # Errors
/// It holds too many values, or is not JSON.
pub fn optional<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Value>, D::Error> {
    Ok(Some(deserialize(from)?).filter(|value| !value.is_null()))
}

/// A value within another one, which shares the number of values that are left.
#[derive(Clone, Copy)]
struct Node<'a> {
    left: &'a Cell<usize>,
}

impl Node<'_> {
    fn count<E: Error>(self, values: usize) -> Result<(), E> {
        let left = self.left.get().checked_sub(values);
        self.left.set(left.ok_or_else(|| E::custom(format!("it holds more than {MAX_VALUES} values")))?);
        Ok(())
    }
}

impl<'de> DeserializeSeed<'de> for Node<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<Value, D::Error> {
        self.count(1)?;
        from.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Node<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any valid JSON value")
    }

    fn visit_unit<E: Error>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut array = vec![];
        while let Some(item) = items.next_element_seed(self)? {
            array.push(item);
        }
        Ok(Value::Array(array))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Value, A::Error> {
        self.count(OBJECT)?;
        let mut object = Map::new();
        while let Some(key) = fields.next_key::<String>()? {
            object.insert(key, fields.next_value_seed(self)?);
        }
        Ok(Value::Object(object))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::{example, file};

    fn read(text: &str) -> serde_json::Result<Value> {
        deserialize(&mut serde_json::Deserializer::from_str(text))
    }

    #[test]
    fn a_value_is_read_as_it_is() {
        for text in [r#"{"a":[1,-2,2.5,"x",null,true,{}],"b":{"c":[]}}"#, "18446744073709551615", "1e300"] {
            assert_eq!(read(text).unwrap(), serde_json::from_str::<Value>(text).unwrap());
        }
    }

    #[test]
    fn too_many_values_are_refused_wherever_a_report_has_free_ones() {
        let many = |one: &str, count: usize| format!("[{}]", vec![one; count].join(","));
        assert!(read(&many("0", MAX_VALUES - 1)).is_ok());
        for (one, count) in [("0", MAX_VALUES), ("[[]]", MAX_VALUES / 2), ("{\"\":0}", MAX_VALUES / 18 + 1)] {
            let message = read(&many(one, count)).unwrap_err().to_string();
            assert!(message.contains("more than 1000000 values"), "{one}: {message}");
        }
        let report = serde_json::to_value(example::full()).unwrap();
        for place in ["/schema_version", "/environment/settings", "/environment/backends/0/description"] {
            let mut report = report.clone();
            *report.pointer_mut(place).unwrap() = vec![0; MAX_VALUES].into();
            let refused = file::parse(&file::Content::of(report.to_string())).unwrap_err();
            assert!(format!("{refused:#}").contains("more than 1000000 values"), "{place}: {refused:#}");
        }
    }
}
