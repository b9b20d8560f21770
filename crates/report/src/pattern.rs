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
    fn patterns_are_about_present_and_earlier_names_with_or_without_the_backend() {
        for (pattern, backend, variant, expected) in [
            ("cuda/*", "cuda", "tiled", true),
            ("cuda/*", "cpu", "faer", false),
            ("faer", "cpu", "faer", true),
            ("cpu", "cpu", "faer", false),
            ("hermitian", "cuda", "hermitian", true),
            ("mirrored", "cuda", "hermitian", true),
            ("cuda/widened", "cuda", "f64-accumulate", true),
            ("mirrored", "sim", "hermitian", false),
        ] {
            let found = parse_list(pattern, "--variants")[0].matches(backend, variant);
            assert_eq!(found, expected, "{pattern} {backend}/{variant}");
        }
    }
}
