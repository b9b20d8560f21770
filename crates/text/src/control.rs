//! Replaces or escapes characters that nobody sees: control characters, which could drive a terminal, and marks that change the
//! order in which a text is shown.

/// Returns whether texts must not contain `c`: an [invisible](is_invisible) character other than a line feed or tab.
pub fn is_harmful(c: char) -> bool {
    is_invisible(c) && !matches!(c, '\n' | '\t')
}

/// Returns true for control characters, marks of text direction, line and paragraph ends, and characters invalid in XML.
pub fn is_invisible(c: char) -> bool {
    let is_mark =
        matches!(c, '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    c.is_control() || is_mark || matches!(c, '\u{feff}' | '\u{fffe}' | '\u{ffff}')
}

/// Returns `text` with every [harmful](is_harmful) character replaced by U+FFFD.
pub fn replaced(text: &str) -> String {
    text.chars().map(|c| if is_harmful(c) { char::REPLACEMENT_CHARACTER } else { c }).collect()
}

/// Returns `text` on one line: line feeds and tabs as spaces, other [invisible](is_invisible) characters as U+FFFD. Of several colons
/// or number signs with which a word begins, one is left.
///
/// A text of outside origin must not begin a line with `::` or `##`, where a program that reads the output takes it for a command,
/// such as `::error::` on GitHub. Text is wrapped at any word.
pub fn single_line(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    // Whether the last character begins a word.
    let (mut last, mut begins_word) = (' ', false);
    for c in text.chars() {
        let c = match c {
            '\n' | '\t' => ' ',
            c if is_invisible(c) => char::REPLACEMENT_CHARACTER,
            c => c,
        };
        if begins_word && c == last && BEGINS_COMMAND.contains(&c) {
            continue;
        }
        (begins_word, last) = (last == ' ', c);
        line.push(c);
    }
    line
}

/// Characters of which two begin a command of a workflow.
const BEGINS_COMMAND: [char; 2] = [':', '#'];

/// Returns `text` on one line, with invisible characters escaped as in Rust and TOML, such as `\n` and `\u{1b}`.
pub fn spelled_out(text: &str) -> String {
    let spelled = |c: char| if is_invisible(c) { c.escape_default().to_string() } else { c.to_string() };
    text.chars().map(spelled).collect()
}

/// Returns `text` on one line, without invisible characters and without surrounding or repeated white space.
pub fn collapsed(text: &str) -> String {
    let words = text.split(|c: char| c.is_whitespace() || is_invisible(c));
    words.filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_way_leaves_no_harmful_character() {
        let text = " a\x1b[31m\n\u{9b}\u{202e} b\t";
        assert_eq!(replaced(text), " a\u{fffd}[31m\n\u{fffd}\u{fffd} b\t");
        assert_eq!(single_line(text), " a\u{fffd}[31m \u{fffd}\u{fffd} b ");
        assert_eq!(single_line("::: a::b\n::error::##c # ##vso ##"), ": a::b :error::##c # #vso #");
        assert_eq!(spelled_out(text), " a\\u{1b}[31m\\n\\u{9b}\\u{202e} b\\t");
        assert_eq!(collapsed(text), "a [31m b");
    }
}
