//! Defines patterns that choose variants: `*` matches any run of characters, `?` any single one.

use gpubench_text::glob::glob;
use serde::Serialize;

use crate::earlier_name;

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
    /// Returns whether it matches the variant's name, or `backend/variant` if the pattern contains a slash. A renamed
    /// variant is also found by its earlier name.
    pub fn matches(&self, backend: &str, variant: &str) -> bool {
        let mut names = std::iter::once(variant).chain(earlier_name(backend, variant));
        if self.text.contains('/') {
            names.any(|name| glob(&self.text, &format!("{backend}/{name}")))
        } else {
            names.any(|name| glob(&self.text, name))
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

    #[test]
    fn a_renamed_variant_is_found_by_its_earlier_name_on_its_backend() {
        let pattern = |text: &str| Pattern { text: text.into(), origin: "--variants".into() };
        assert!(pattern("hermitian").matches("cuda", "hermitian"));
        assert!(pattern("mirrored").matches("cuda", "hermitian"));
        assert!(pattern("cuda/widened").matches("cuda", "f64-accumulate"));
        assert!(!pattern("mirrored").matches("sim", "hermitian"));
    }
}
