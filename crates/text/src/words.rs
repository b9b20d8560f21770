//! Words from fixed lists: choosing by name, and the nearest valid word to a wrong one.

use anyhow::{Result, bail};

use crate::glob::glob;

/// The valid word most like `word`; `None` when there is no valid word.
pub fn nearest<'a>(word: &str, valid: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let word = word.to_lowercase();
    let likeness = |candidate: &str| {
        let edits = strsim::normalized_damerau_levenshtein(&word, candidate);
        edits.max(strsim::jaro_winkler(&word, candidate))
    };
    let rated = valid.into_iter().map(|candidate| (likeness(candidate), candidate));
    // The first of equals.
    rated.min_by(|a, b| b.0.total_cmp(&a.0)).map(|(_, candidate)| candidate)
}

/// Says that `word` is no `kind` and which valid word is nearest.
pub fn unknown(kind: &str, word: &str, valid: &[&str]) -> String {
    match nearest(word, valid.iter().copied()) {
        Some(near) => {
            format!("unknown {kind} '{word}': did you mean '{near}'? (valid: {})", valid.join(", "))
        }
        None => format!("unknown {kind} '{word}'"),
    }
}

/// Refuses a glob that matches none of `valid`, with the nearest of them.
pub fn matches_some<'a>(
    key: &str,
    kind: &str,
    pattern: &str,
    valid: impl Iterator<Item = &'a str> + Clone,
) -> Result<()> {
    if !valid.clone().any(|word| glob(pattern, word)) {
        let near = nearest(pattern, valid).unwrap_or("*");
        bail!("{key} = \"{pattern}\" matches no {kind}: did you mean \"{near}\"?");
    }
    Ok(())
}

/// Parses a comma-separated list of words from `valid`, or `all`; returns their places, ascending, each once.
pub fn choose(kind: &str, text: &str, valid: &[&str]) -> Result<Vec<usize>> {
    let items: Vec<&str> = text.split(',').map(str::trim).filter(|item| !item.is_empty()).collect();
    if items.is_empty() {
        bail!("no {kind} is named (valid: {})", valid.join(", "));
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

/// `a, b or c`; empty without words.
pub fn one_of(words: &[&str]) -> String {
    match words {
        [] => String::new(),
        [word] => (*word).to_owned(),
        [first @ .., last] => format!("{} or {last}", first.join(", ")),
    }
}

/// The items in order, each once.
pub fn distinct<T: PartialEq>(items: impl IntoIterator<Item = T>) -> Vec<T> {
    let mut kept = vec![];
    for item in items {
        if !kept.contains(&item) {
            kept.push(item);
        }
    }
    kept
}

/// The items in groups of the `same`, in order of appearance; no group is empty.
pub fn grouped<T>(items: impl IntoIterator<Item = T>, same: impl Fn(&T, &T) -> bool) -> Vec<Vec<T>> {
    let mut groups: Vec<Vec<T>> = vec![];
    for item in items {
        match groups.iter_mut().find(|group| same(&group[0], &item)) {
            Some(group) => group.push(item),
            None => groups.push(vec![item]),
        }
    }
    groups
}

/// A word as JSON spells it.
pub fn json_word(value: &impl serde::Serialize) -> String {
    let value = serde_json::to_value(value).unwrap_or_default();
    value.as_str().unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_misspelt_word_gets_the_word_that_was_meant() {
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
