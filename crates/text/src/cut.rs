//! Shortens texts to a number of characters.

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_cut_between_characters_and_say_so() {
        assert_eq!((start("µµµ", 2), start("µµ", 2)), ("µµ", "µµ"));
        assert_eq!((shortened("µµµ", 2), shortened("µµ", 2)), ("µµ...".into(), "µµ".into()));
        assert_eq!((fitted("abcdef", 6), fitted("abcdefg", 6)), ("abcdef".into(), "abc...".into()));
    }
}
