//! Defines patterns that choose variants: `*` matches any run of characters, `?` any single one.

use serde::Serialize;

use crate::glob::glob;

/// A pattern and its origin, for messages.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(into = "String")]
pub struct Pattern {
    /// The pattern.
    pub text: String,
    /// `--variants`, or file and line.
    pub origin: String,
}

impl From<Pattern> for String {
    fn from(pattern: Pattern) -> String {
        pattern.text
    }
}

impl Pattern {
    /// Returns whether it matches the variant's name, or `backend/variant` where the pattern holds a slash.
    pub fn matches(&self, backend: &str, variant: &str) -> bool {
        if self.text.contains('/') {
            glob(&self.text, &format!("{backend}/{variant}"))
        } else {
            glob(&self.text, variant)
        }
    }
}

/// Splits a comma-separated list of patterns; empty items are dropped.
pub fn parse_list(text: &str, origin: &str) -> Vec<Pattern> {
    let items = text.split(',').map(str::trim).filter(|item| !item.is_empty());
    items.map(|item| Pattern { text: item.to_owned(), origin: origin.to_owned() }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_with_a_slash_is_about_backend_and_variant() {
        let pattern = |text: &str| Pattern { text: text.into(), origin: "--variants".into() };
        assert!(pattern("cuda/*").matches("cuda", "tiled"));
        assert!(!pattern("cuda/*").matches("cpu", "faer"));
        assert!(pattern("faer").matches("cpu", "faer"));
        assert!(!pattern("cpu").matches("cpu", "faer"));
    }
}
