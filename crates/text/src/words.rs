//! Chooses words from fixed lists by name, and suggests the nearest valid word for a wrong one.

use anyhow::{Result, bail};

use crate::glob::glob;
use crate::grouped::distinct;

/// Minimum similarities of a suggested word, by edits or by Jaro and Winkler's measure, where 1 means equal. One edit in a
/// word of three letters leaves 0.67; unrelated words that begin alike, such as `sort` and `solve`, reach 0.71 by the second.
const MIN_SIMILARITY: [f64; 2] = [0.6, 0.8];

/// Returns the valid word most similar to `word`; `None` when none is similar enough to be a likely typing error.
pub fn nearest<'a>(word: &str, valid: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let word = word.to_lowercase();
    let similarity = |candidate: &str| {
        let edits = strsim::normalized_damerau_levenshtein(&word, candidate);
        let start = strsim::jaro_winkler(&word, candidate);
        (edits >= MIN_SIMILARITY[0] || start >= MIN_SIMILARITY[1]).then_some(edits.max(start))
    };
    let near = valid.into_iter().filter_map(|candidate| Some((similarity(candidate)?, candidate)));
    // `min_by` keeps the first of equals.
    near.min_by(|a, b| b.0.total_cmp(&a.0)).map(|(_, candidate)| candidate)
}

/// Returns `: did you mean 'NEAREST'?`; empty when no valid word is similar enough.
pub fn suggestion<'a>(word: &str, valid: impl IntoIterator<Item = &'a str>) -> String {
    nearest(word, valid).map(|near| format!(": did you mean '{near}'?")).unwrap_or_default()
}

/// Describes a `word` that is not a valid `kind`, with the nearest valid word and all valid ones.
pub fn unknown(kind: &str, word: &str, valid: &[&str]) -> String {
    unknown_with(kind, word, None, valid)
}

/// Describes a `word` as [`unknown`] does, with `hint` instead of the nearest word if there is one.
pub fn unknown_with(kind: &str, word: &str, hint: Option<&str>, valid: &[&str]) -> String {
    let near = || suggestion(word, valid.iter().copied());
    let hint = hint.map_or_else(near, |hint| format!(": {hint}"));
    let listed = if valid.is_empty() { String::new() } else { format!(" (valid: {})", valid.join(", ")) };
    format!("unknown {kind} '{word}'{hint}{listed}")
}

/// Refuses a glob that matches none of `valid`, with the nearest of them.
pub fn matches_some<'a>(
    key: &str,
    kind: &str,
    pattern: &str,
    valid: impl Iterator<Item = &'a str> + Clone,
) -> Result<()> {
    if !valid.clone().any(|word| glob(pattern, word)) {
        let listed = || format!(" (valid: {})", distinct(valid.clone()).join(", "));
        let hint =
            nearest(pattern, valid.clone()).map_or_else(listed, |near| format!(": did you mean \"{near}\"?"));
        bail!("{key} = \"{pattern}\" matches no {kind}{hint}");
    }
    Ok(())
}

/// Parses a comma-separated list of words from `valid`, or `all`; returns their places, ascending, each once.
pub fn choose(kind: &str, text: &str, valid: &[&str]) -> Result<Vec<usize>> {
    let items: Vec<&str> = text.split(',').map(str::trim).filter(|item| !item.is_empty()).collect();
    if items.is_empty() {
        bail!("name at least one {kind} (valid: {})", valid.join(", "));
    }
    let mut places = Vec::new();
    for item in items {
        match valid.iter().position(|word| *word == item) {
            Some(place) => places.push(place),
            None if item == "all" => places.extend(0..valid.len()),
            None => bail!("{}", unknown(kind, item, valid)),
        }
    }
    places.sort_unstable();
    places.dedup();
    Ok(places)
}

/// Returns `a, b or c`; empty without words.
pub fn one_of(words: &[&str]) -> String {
    match words {
        [] => String::new(),
        [word] => (*word).to_owned(),
        [first @ .., last] => format!("{} or {last}", first.join(", ")),
    }
}

/// Returns the string of a value that JSON writes as a string.
pub fn json_word(value: &impl serde::Serialize) -> String {
    let value = serde_json::to_value(value).unwrap_or_default();
    value.as_str().unwrap_or_default().to_owned()
}

/// The text with a capital first.
pub fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_misspelt_word_gets_the_word_that_was_meant_and_others_get_none() {
        let ops = ["matmul", "elementwise", "reduction", "fft", "solve", "spgemm", "svd", "sin", "spmv"];
        for (typed, meant) in [
            ("matmull", "matmul"),
            ("mat", "matmul"),
            ("Matmul", "matmul"),
            ("ftt", "fft"),
            ("reduce", "reduction"),
            ("element", "elementwise"),
            ("sovle", "solve"),
            ("spgem", "spgemm"),
            ("vsd", "svd"),
        ] {
            assert_eq!(nearest(typed, ops), Some(meant), "{typed}");
        }
        assert_eq!(nearest("x", []), None);
        assert_eq!(nearest("sort", ops), None, "no op is similar");
    }

    #[test]
    fn choices_come_out_in_the_order_of_the_list_each_once() {
        let valid = ["a", "b", "c"];
        assert_eq!(choose("letter", "c, a,c", &valid).ok(), Some(vec![0, 2]));
        assert_eq!(choose("letter", "all", &valid).ok(), Some(vec![0, 1, 2]));
        assert!(
            choose("letter", "d", &valid).is_err_and(|e| e.to_string().starts_with("unknown letter 'd'"))
        );
    }
}
