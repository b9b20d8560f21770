//! Replaces or escapes control characters, which could drive a terminal and which HTML pages must not contain.

/// Returns whether texts must not contain `c`: a control character other than a line feed or tab.
pub fn is_harmful(c: char) -> bool {
    c.is_control() && !matches!(c, '\n' | '\t')
}

/// Returns `text` with every [harmful](is_harmful) character replaced by U+FFFD.
pub fn replaced(text: &str) -> String {
    text.chars().map(|c| if is_harmful(c) { char::REPLACEMENT_CHARACTER } else { c }).collect()
}

/// Returns `text` on one line, with control characters escaped as in Rust and TOML, such as `\n` and `\u{1b}`.
pub fn spelled_out(text: &str) -> String {
    let spelled = |c: char| if c.is_control() { c.escape_default().to_string() } else { c.to_string() };
    text.chars().map(spelled).collect()
}

/// Returns `text` on one line, without control characters and without surrounding or repeated white space.
pub fn collapsed(text: &str) -> String {
    let words = text.split(|c: char| c.is_whitespace() || c.is_control());
    words.filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_way_leaves_no_harmful_character() {
        let text = " a\x1b[31m\n\u{9b} b\t";
        assert_eq!(replaced(text), " a\u{fffd}[31m\n\u{fffd} b\t");
        assert_eq!(spelled_out(text), " a\\u{1b}[31m\\n\\u{9b} b\\t");
        assert_eq!(collapsed(text), "a [31m b");
    }
}
