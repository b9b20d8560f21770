//! A text in two parts, so that exporters can omit the first part if they show it elsewhere.

use std::fmt;

use serde::{Deserialize, Serialize};

/// One line in up to two parts: `1.31x slower (1.28 to 1.34)` and `the GPU's clock was lower`, or `openblas` and `0.3.26`.
///
/// A table that shows the first part in a column writes only the rest. In JSON it is one text; after reading it back, all
/// of it is the rest. Two sentences are equal if their texts are.
#[derive(Clone, Debug, Default)]
pub struct Sentence {
    lead: String,
    link: &'static str,
    rest: String,
}

impl Sentence {
    /// Joins `lead` and `rest` by `link`; omits the link if either is empty.
    pub fn new(lead: impl Into<String>, link: &'static str, rest: impl Into<String>) -> Sentence {
        Sentence { lead: lead.into(), link, rest: rest.into() }
    }

    /// Returns the first part, which may be empty.
    pub fn lead(&self) -> &str {
        &self.lead
    }

    /// Returns the second part, which may be empty.
    pub fn rest(&self) -> &str {
        &self.rest
    }

    /// Returns both parts, for sanitizing.
    pub fn parts_mut(&mut self) -> [&mut String; 2] {
        [&mut self.lead, &mut self.rest]
    }
}

impl fmt::Display for Sentence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let link = if self.lead.is_empty() || self.rest.is_empty() { "" } else { self.link };
        write!(f, "{}{link}{}", self.lead, self.rest)
    }
}

impl<T: Into<String>> From<T> for Sentence {
    fn from(text: T) -> Sentence {
        Sentence::new("", "", text)
    }
}

impl PartialEq for Sentence {
    fn eq(&self, other: &Sentence) -> bool {
        self.to_string() == other.to_string()
    }
}

impl Eq for Sentence {}

impl Serialize for Sentence {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Sentence {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(Sentence::from)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_linked_where_there_are_two_and_json_has_one_text() {
        let change = "1.31x slower (1.28 to 1.34)";
        let both = Sentence::new(change, ", ", "but the GPU's clock was lower");
        let text = "1.31x slower (1.28 to 1.34), but the GPU's clock was lower";
        assert_eq!((both.to_string().as_str(), both.rest()), (text, "but the GPU's clock was lower"));
        let alone = Sentence::new(change, "; ", "");
        assert_eq!((alone.to_string().as_str(), alone.lead(), alone.rest()), (change, change, ""));
        let read: Sentence = serde_json::from_value(serde_json::to_value(&both).unwrap()).unwrap();
        assert_eq!((read.lead(), read.rest(), &read), ("", text, &both));
    }
}
