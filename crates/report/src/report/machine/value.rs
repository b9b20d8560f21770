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
