//! Writes counted nouns: `1 cell`, `15 cells`.

use std::fmt::Display;

/// An integer that counts things.
pub trait Count: Copy + Display + PartialEq + From<u8> {}

impl<N: Copy + Display + PartialEq + From<u8>> Count for N {}

/// Returns the count with its noun, which is given in the singular: `1 cell`, `15 cells`, `0 series`.
pub fn counted(count: impl Count, one: &str) -> String {
    format!("{count} {}", noun(count, one))
}

/// Returns the noun alone in the number that fits the count: `cell` after 1, `cells` after any other.
pub fn noun(count: impl Count, one: &str) -> String {
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
pub fn agree<'a>(count: impl Count, one: &'a str, several: &'a str) -> &'a str {
    if is_one(count) { one } else { several }
}

fn is_one<N: Count>(count: N) -> bool {
    count == N::from(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_is_singular_and_zero_or_several_are_plural() {
        assert_eq!([0usize, 1, 2].map(|count| counted(count, "cell")), ["0 cells", "1 cell", "2 cells"]);
        assert_eq!([1u64, 3].map(|count| counted(count, "series")), ["1 series", "3 series"]);
        assert_eq!([1u64, 3].map(|count| counted(count, "library")), ["1 library", "3 libraries"]);
        assert_eq!([1u64, 3].map(|count| counted(count, "day")), ["1 day", "3 days"]);
        assert_eq!([1u32, 3].map(|count| noun(count, "more run")), ["more run", "more runs"]);
        assert_eq!([1u64, 3].map(|count| agree(count, "has", "have")), ["has", "have"]);
    }
}
