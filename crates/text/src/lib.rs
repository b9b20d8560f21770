//! Reads and writes text: words from fixed lists, globs, durations, percentages, values and errors of TOML files; tables as
//! text, Markdown, CSV and HTML, and the escapes of these languages; colours. It contains nothing about benchmarks.

#![forbid(unsafe_code)]

pub mod control;
pub mod duration;
pub mod escape;
pub mod file;
pub mod glob;
pub mod limited;
pub mod percent;
pub mod size_filter;
pub mod toml_reader;
pub mod words;

/// Writes counted nouns: `1 cell`, `15 cells`.
pub mod count {
    use std::fmt::Display;

    /// Returns the count with its noun, which is given in the singular: `1 cell`, `15 cells`, `0 series`.
    pub fn counted(count: impl Display, one: &str) -> String {
        format!("{count} {}", noun(&count, one))
    }

    /// Returns the noun alone in the number that fits the count: `cell` after 1, `cells` after any other.
    pub fn noun(count: impl Display, one: &str) -> String {
        // "series" keeps its form.
        if is_one(count) || one.ends_with('s') {
            return one.to_owned();
        }
        match one.strip_suffix('y').filter(|stem| !stem.ends_with(['a', 'e', 'o', 'u'])) {
            Some(stem) => format!("{stem}ies"),
            None => format!("{one}s"),
        }
    }

    /// Returns the word that agrees with the count: `has` for one, `have` for several.
    pub fn agree<'a>(count: impl Display, one: &'a str, several: &'a str) -> &'a str {
        if is_one(count) { one } else { several }
    }

    /// Counts the items that a list leaves out: `, and 3 more`; empty for none.
    pub fn and_more(hidden: usize) -> String {
        if hidden > 0 { format!(", and {hidden} more") } else { String::new() }
    }

    fn is_one(count: impl Display) -> bool {
        count.to_string() == "1"
    }
}

/// Writes numbers for CSV, and reads CSV.
pub mod csv {
    /// Returns the shortest text that reads back as the same number; empty for none.
    pub fn number(figure: Option<f64>) -> String {
        match figure {
            None => String::new(),
            Some(figure) if figure.abs() >= 1e21 => format!("{figure:e}"),
            Some(figure) => figure.to_string(),
        }
    }

    /// Returns the records of a text as lists of fields; `None` if they differ in length or the last does not end in CRLF.
    pub fn records(text: &str) -> Option<Vec<Vec<String>>> {
        let mut reader = csv::ReaderBuilder::new().has_headers(false).from_reader(text.as_bytes());
        let records = reader.records().map(|record| Some(record.ok()?.iter().map(str::to_owned).collect()));
        records.collect::<Option<_>>().filter(|_| text.ends_with("\r\n"))
    }
}

/// Shortens texts to a number of characters.
pub mod cut {
    /// Returns the first `max` characters.
    pub fn start(text: &str, max: usize) -> &str {
        text.char_indices().nth(max).map_or(text, |(end, _)| &text[..end])
    }

    /// Returns the first `max` characters, and `...` where there are more.
    pub fn shortened(text: &str, max: usize) -> String {
        let start = start(text, max);
        if start.len() < text.len() { format!("{start}...") } else { text.to_owned() }
    }

    /// Returns the text, or its start with `...` so that both together have `max` characters.
    pub fn fitted(text: &str, max: usize) -> String {
        let is_whole = start(text, max).len() == text.len();
        if is_whole { text.to_owned() } else { shortened(text, max.saturating_sub(3)) }
    }
}

/// Groups items that share a key, and drops repeated ones, in the order of their first occurrence.
pub mod grouped {
    /// Returns the values of each key, in the order in which the keys first occur.
    pub fn grouped<K: PartialEq, V>(items: impl IntoIterator<Item = (K, V)>) -> Vec<(K, Vec<V>)> {
        let mut groups: Vec<(K, Vec<V>)> = vec![];
        for (key, value) in items {
            match groups.iter_mut().find(|(known, _)| *known == key) {
                Some((_, values)) => values.push(value),
                None => groups.push((key, vec![value])),
            }
        }
        groups
    }

    /// Returns the items in order, each once.
    pub fn distinct<T: PartialEq>(items: impl IntoIterator<Item = T>) -> Vec<T> {
        let mut kept = vec![];
        for item in items {
            if !kept.contains(&item) {
                kept.push(item);
            }
        }
        kept
    }
}

#[cfg(test)]
mod tests {
    use super::count::{agree, counted, noun};
    use super::cut::{fitted, shortened, start};

    #[test]
    fn one_is_singular_and_zero_or_several_are_plural() {
        assert_eq!([0usize, 1, 2].map(|count| counted(count, "cell")), ["0 cells", "1 cell", "2 cells"]);
        assert_eq!([1u64, 3].map(|count| counted(count, "series")), ["1 series", "3 series"]);
        assert_eq!([1u64, 3].map(|count| counted(count, "library")), ["1 library", "3 libraries"]);
        assert_eq!([1u64, 3].map(|count| counted(count, "day")), ["1 day", "3 days"]);
        assert_eq!([1u32, 3].map(|count| noun(count, "more run")), ["more run", "more runs"]);
        assert_eq!([1u64, 3].map(|count| agree(count, "has", "have")), ["has", "have"]);
    }

    #[test]
    fn texts_are_cut_between_characters_and_say_so() {
        assert_eq!((start("µµµ", 2), start("µµ", 2)), ("µµ", "µµ"));
        assert_eq!((shortened("µµµ", 2), shortened("µµ", 2)), ("µµ...".into(), "µµ".into()));
        assert_eq!((fitted("abcdef", 6), fitted("abcdefg", 6)), ("abcdef".into(), "abc...".into()));
    }
}
