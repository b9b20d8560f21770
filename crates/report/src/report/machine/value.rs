//! Defines and writes the values of facts.

use std::fmt;

use serde_json::Value as Json;

use crate::report::quantity::bytes_text;

/// Value of a fact in a report.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// A text, or a number that is an identifier.
    Text(String),
    /// On or off.
    Switch(bool),
    /// A number of things.
    Count(u64),
    /// A size in memory.
    Bytes(u64),
    /// A measured or set figure.
    Figure {
        /// The figure.
        figure: f64,
        /// Unit; empty for none.
        unit: &'static str,
        /// Decimals to show; `None` for all that the figure has.
        decimals: Option<usize>,
    },
}

impl Value {
    /// Returns the value in a backend's description: strings without quotes, `None` for null.
    pub fn said(value: &Json) -> Option<Value> {
        match value {
            Json::Null => None,
            Json::Bool(on) => Some(Value::Switch(*on)),
            other => Some(Value::Text(plain(other))),
        }
    }

    /// Returns the value as a figure that can be compared within a tolerance; `None` for values that must be equal.
    pub fn figure(&self) -> Option<f64> {
        match self {
            Value::Bytes(bytes) => Some(*bytes as f64),
            Value::Figure { figure, .. } => Some(*figure),
            Value::Text(_) | Value::Switch(_) | Value::Count(_) => None,
        }
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Text(text) => f.write_str(text),
            Value::Switch(on) => f.write_str(if *on { "on" } else { "off" }),
            Value::Count(count) => write!(f, "{count}"),
            Value::Bytes(bytes) => f.write_str(&bytes_text(*bytes)),
            Value::Figure { figure, unit, decimals } => {
                match decimals {
                    Some(decimals) => write!(f, "{figure:.decimals$}")?,
                    None => write!(f, "{figure}")?,
                }
                if unit.is_empty() { Ok(()) } else { write!(f, " {unit}") }
            }
        }
    }
}

/// Returns a JSON value as text, with strings unquoted.
pub fn plain(value: &Json) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn values_are_written_with_their_unit() {
        let figure = |figure, unit, decimals| Value::Figure { figure, unit, decimals };
        for (value, text) in [
            (figure(15.5, "CPUs", None), "15.5 CPUs"),
            (figure(0.4, "", Some(2)), "0.40"),
            (figure(1980.4, "MHz", Some(0)), "1980 MHz"),
            (Value::Bytes(105 << 20), "105 MiB"),
            (Value::Switch(false), "off"),
            (Value::Count(2), "2"),
        ] {
            assert_eq!(value.to_string(), text);
        }
    }

    #[test]
    fn values_of_a_description_have_no_quotes_and_null_is_no_value() {
        let said = |value| Value::said(&value).map(|value| value.to_string());
        assert_eq!(said(json!("580.1")).as_deref(), Some("580.1"));
        assert_eq!(said(json!(132)).as_deref(), Some("132"));
        assert_eq!(said(json!(true)).as_deref(), Some("on"));
        assert_eq!(said(json!(null)), None);
    }

    #[test]
    fn only_sizes_and_figures_can_be_near_to_others() {
        assert_eq!(Value::Bytes(8).figure(), Some(8.0));
        assert_eq!(Value::Count(8).figure(), None);
    }
}
