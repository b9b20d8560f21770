//! Explains errors of TOML files in the words of the file: its line, its key and the nearest valid word.

use toml::de::{DeTable, DeValue, Error};

use crate::{control, words};

/// The one-based line on which `text` went wrong, and what is wrong there, in one line.
pub fn explain(text: &str, error: &Error) -> (usize, String) {
    let byte = error.span().map_or(0, |span| span.start);
    let problem = plain(error.message(), key_at(text, byte).as_deref().unwrap_or("the value"));
    (line_of(text, byte), control::spelled_out(&problem))
}

/// One-based line of a byte of `text`.
pub fn line_of(text: &str, byte: usize) -> usize {
    text.bytes().take(byte).filter(|&b| b == b'\n').count() + 1
}

/// The innermost key whose value covers `byte`; `None` outside of values and where `text` is no TOML.
fn key_at(text: &str, byte: usize) -> Option<String> {
    let table = DeTable::parse(text).ok()?;
    key_in(table.get_ref(), byte)
}

fn key_in(table: &DeTable, byte: usize) -> Option<String> {
    table.iter().find_map(|(key, value)| {
        let inner = inner_key(value.get_ref(), byte);
        inner.or_else(|| value.span().contains(&byte).then(|| key.get_ref().to_string()))
    })
}

fn inner_key(value: &DeValue, byte: usize) -> Option<String> {
    match value {
        DeValue::Table(table) => key_in(table, byte),
        DeValue::Array(items) => items.iter().find_map(|item| inner_key(item.get_ref(), byte)),
        _ => None,
    }
}

/// The message of the parser about the value of `key`, without the names of a programming language.
fn plain(message: &str, key: &str) -> String {
    let mut quoted = message.split('`');
    let (start, word) = (quoted.next().unwrap_or_default(), quoted.next().unwrap_or_default());
    let valid: Vec<&str> = quoted.skip(1).step_by(2).collect();
    if start.starts_with("unknown field") {
        return words::unknown("key", word, &valid);
    }
    if start.starts_with("unknown variant") {
        return words::unknown(key.strip_suffix('s').unwrap_or(key), word, &valid);
    }
    if start.starts_with("missing field") {
        return format!("the key '{word}' is missing");
    }
    let wrong = message.strip_prefix("invalid type: ").or_else(|| message.strip_prefix("invalid value: "));
    match wrong.and_then(|rest| rest.rsplit_once(", expected ")) {
        Some((found, "a sequence")) if ["sweep", "variant", "rule", "device", "cell"].contains(&key) => {
            match found {
                "map" => format!("write [[{key}]] with two brackets"),
                _ => format!("{key} must be tables, not {}: write [[{key}]]", thing(found)),
            }
        }
        Some((found, expected)) => format!("{key} must be {}, not {}", wanted(expected, found), thing(found)),
        None => message.split_whitespace().collect::<Vec<_>>().join(" "),
    }
}

/// What a value must be; `found` tells whether the kind or only the size of a number is wrong.
fn wanted(expected: &str, found: &str) -> String {
    let whole = |most: u64| match found.strip_prefix("integer `") {
        Some(negative) if negative.starts_with('-') => "a whole number from 0 on".to_owned(),
        Some(_) => format!("a whole number from 0 to {most}"),
        None => "a whole number".to_owned(),
    };
    match expected {
        "u32" => whole(u32::MAX.into()),
        "u64" => whole(u64::MAX),
        "f64" => "a number".to_owned(),
        "a string" => "a text".to_owned(),
        "a boolean" => "true or false".to_owned(),
        "a sequence" => "a list".to_owned(),
        other if other.starts_with("struct ") => "a table".to_owned(),
        other => other.to_owned(),
    }
}

/// The value that was found, as its writer would call it.
fn thing(found: &str) -> &str {
    match found {
        "map" => "a table",
        "sequence" => "a list",
        text if text.starts_with("string ") => "a text",
        number => number.split('`').nth(1).unwrap_or(number),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_found_in_tables_lists_and_inline_tables() {
        let text = "a = 1\n[[b]]\nc = [1, 2]\n[d]\ne = { f = 'x' }\n";
        let at = |part: &str| key_at(text, text.find(part).unwrap());
        assert_eq!(at("1\n"), Some("a".into()));
        assert_eq!(at("2]"), Some("c".into()));
        assert_eq!(at("'x'"), Some("f".into()));
        assert_eq!(key_at("a = ", 2), None);
    }

    #[test]
    fn messages_speak_of_numbers_texts_lists_and_tables() {
        for (message, expected) in [
            ("invalid type: string \"20\", expected u64", "k must be a whole number, not a text"),
            ("invalid value: integer `-1`, expected u64", "k must be a whole number from 0 on, not -1"),
            (
                "invalid value: integer `5000000000`, expected u32",
                "k must be a whole number from 0 to 4294967295, not 5000000000",
            ),
            ("invalid type: boolean `true`, expected f64", "k must be a number, not true"),
            ("invalid type: map, expected a sequence", "k must be a list, not a table"),
            ("invalid type: sequence, expected struct Start", "k must be a table, not a list"),
            ("missing field `name`", "the key 'name' is missing"),
            (
                "unknown variant `righ`, expected `right` or `wrong`",
                "unknown k 'righ': did you mean 'right'? (valid: right, wrong)",
            ),
        ] {
            assert_eq!(plain(message, "k"), expected);
        }
        assert_eq!(
            plain("invalid type: map, expected a sequence", "rule"),
            "write [[rule]] with two brackets"
        );
    }
}
