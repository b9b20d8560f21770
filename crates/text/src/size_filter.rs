//! Defines filters of sizes N: one size, a range, or a glob over the digits.

use serde::Deserialize;
use serde::de::{self, Deserializer};
use toml::Value;

use crate::glob::glob;
use crate::toml_reader::not_a;

/// Sizes N to which a rule of a simulation script or a policy file applies.
#[derive(Clone, Debug, PartialEq)]
pub enum SizeFilter {
    /// Sizes from the first to the second, both included.
    Range(u64, u64),
    /// Sizes whose digits match the glob.
    Glob(String),
}

impl Default for SizeFilter {
    fn default() -> Self {
        SizeFilter::Range(0, u64::MAX)
    }
}

impl SizeFilter {
    /// Returns whether the filter includes `n`.
    pub fn contains(&self, n: u64) -> bool {
        match self {
            SizeFilter::Range(first, last) => (*first..=*last).contains(&n),
            SizeFilter::Glob(pattern) => glob(pattern, &n.to_string()),
        }
    }

    /// Parses `100`, `"100..2000"`, `"512.."`, `"..100"` or a glob of digits; the error is one line.
    fn parse(text: &str) -> Result<SizeFilter, String> {
        let unclear =
            || format!("n = \"{text}\" matches no sizes: write 100, \"100..2000\" or a glob such as \"1*\"");
        let Some((first, last)) = text.split_once("..") else {
            let of_sizes = |c: char| c.is_ascii_digit() || matches!(c, '*' | '?');
            let is_glob = !text.is_empty() && text.chars().all(of_sizes);
            return if is_glob { Ok(SizeFilter::Glob(text.to_owned())) } else { Err(unclear()) };
        };
        let end = |text: &str, open| match text.trim() {
            "" => Ok(open),
            digits => digits.parse::<u64>().map_err(|_| unclear()),
        };
        let (first, last) = (end(first, 0)?, end(last, u64::MAX)?);
        if first > last {
            return Err(format!("n = \"{text}\" is reversed: write \"{last}..{first}\""));
        }
        Ok(SizeFilter::Range(first, last))
    }
}

impl<'de> Deserialize<'de> for SizeFilter {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match Value::deserialize(deserializer)? {
            Value::Integer(n) if n >= 1 => Ok(SizeFilter::Range(n as u64, n as u64)),
            Value::String(text) => SizeFilter::parse(&text).map_err(de::Error::custom),
            _ => Err(not_a("a size such as 100, or a string such as \"100..2000\" or \"1*\"")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_and_globs_contain_their_sizes() {
        let holds = |text: &str, n| SizeFilter::parse(text).unwrap().contains(n);
        assert!(holds("..100", 100) && !holds("..100", 101));
        assert!(holds("512..", 512) && !holds("512..", 511));
        assert!(holds("2 .. 4", 3) && holds("1*", 128) && !holds("1*", 21) && holds("7", 7));
        assert!(SizeFilter::default().contains(1));
    }

    #[test]
    fn texts_that_name_no_size_are_refused() {
        for text in ["", "a", "a..b", "..b", "1..2..3", "-3", "1.5"] {
            assert!(SizeFilter::parse(text).is_err_and(|error| error.contains("matches no sizes")), "{text}");
        }
        let backwards = SizeFilter::parse("5..3");
        assert_eq!(backwards, Err("n = \"5..3\" is reversed: write \"3..5\"".into()));
    }
}
