//! Escapes texts for the languages that the program writes.

use std::path::Path;

use crate::control;

/// Escapes `text` for Markdown, on one line.
pub fn markdown(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' | '\r' => escaped.push(' '),
            '|' | '*' | '_' | '`' | '~' | '<' | '[' | '\\' => escaped.extend(['\\', c]),
            '&' => escaped.push_str("&amp;"),
            c => escaped.push(c),
        }
    }
    escaped
}

/// Writes `path` as one word of a shell's command line, in single quotes where it needs them. Control characters are spelled
/// out, so that they do nothing to the terminal.
pub fn shell_word(path: &Path) -> String {
    let text = control::spelled_out(&path.to_string_lossy());
    let is_plain = |c: char| c.is_alphanumeric() || "/._-+,:=@%".contains(c);
    match !text.is_empty() && text.chars().all(is_plain) {
        true => text,
        false => format!("'{}'", text.replace('\'', "'\\''")),
    }
}

/// Escapes `text` for content and quoted attributes of HTML, and replaces control characters, which pages must not
/// contain.
pub fn html(text: &str) -> String {
    // HTML 4 lacks XML's entity for an apostrophe.
    entities(&control::replaced(text), "&#39;")
}

/// Escapes `text` for content and quoted attributes of XML. `text` must not contain control characters, for which XML has
/// no escape.
pub fn xml(text: &str) -> String {
    entities(text, "&apos;")
}

fn entities(text: &str, apostrophe: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str(apostrophe),
            c => escaped.push(c),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markdown_shows_a_text_as_it_is_on_one_line() {
        assert_eq!(markdown("a|b_c\n<d> & e"), "a\\|b\\_c \\<d> &amp; e");
    }

    #[test]
    fn xml_has_its_own_entity_for_an_apostrophe() {
        assert_eq!((xml("<'&\">").as_str(), html("'").as_str()), ("&lt;&apos;&amp;&quot;&gt;", "&#39;"));
    }

    proptest::proptest! {
        #[test]
        fn no_text_becomes_markup(text in proptest::arbitrary::any::<String>()) {
            let escaped = html(&text);
            let is_markup = escaped.contains(['<', '>', '"', '\'', '\0', '\u{1b}']);
            proptest::prop_assert!(!is_markup);
            let back = escaped
                .replace("&lt;", "<")
                .replace("&gt;", ">")
                .replace("&quot;", "\"")
                .replace("&#39;", "'")
                .replace("&amp;", "&");
            proptest::prop_assert_eq!(back, control::replaced(&text));
        }
    }

    #[test]
    fn a_path_is_one_word_of_a_shell() {
        for (path, word) in [
            ("results/2026-11-24", "results/2026-11-24"),
            ("my runs", "'my runs'"),
            ("it's", "'it'\\''s'"),
            ("a;b", "'a;b'"),
            ("", "''"),
            ("\u{1b}[2J", "'\\u{1b}[2J'"),
        ] {
            assert_eq!(shell_word(Path::new(path)), word);
        }
    }
}
