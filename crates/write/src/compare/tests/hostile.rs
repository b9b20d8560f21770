//! Checks that no name or reason breaks a format.

use std::sync::LazyLock;

use gpubench_text::csv::records as read_csv;
use serde_json::Value;

use super::{FORMATS, View, example};
use gpubench_analysis::compare::Comparison;

/// Places of the texts of the example that may be any text.
static TEXTS: LazyLock<Vec<String>> = LazyLock::new(|| {
    let example = serde_json::to_value(example::full()).unwrap();
    let mut places = vec![];
    find_texts(&example, String::new(), &mut places);
    let is_free = |place: &String| {
        let mut changed = example.clone();
        *changed.pointer_mut(place).unwrap() = "x".into();
        serde_json::from_value::<Comparison>(changed).is_ok()
    };
    places.retain(is_free);
    places
});

fn find_texts(value: &Value, place: String, places: &mut Vec<String>) {
    match value {
        Value::String(_) => places.push(place),
        Value::Array(items) => {
            items
                .iter()
                .enumerate()
                .for_each(|(index, item)| find_texts(item, format!("{place}/{index}"), places));
        }
        Value::Object(members) => {
            members.iter().for_each(|(key, member)| find_texts(member, format!("{place}/{key}"), places));
        }
        _ => {}
    }
}

pub(crate) fn with_text(text: &str) -> Comparison {
    let mut value = serde_json::to_value(example::full()).unwrap();
    for place in TEXTS.iter() {
        *value.pointer_mut(place).unwrap() = text.into();
    }
    serde_json::from_value(value).unwrap()
}

fn text(format: &str, comparison: &Comparison) -> String {
    let view = View { all_cells: true, color: false };
    FORMATS.find(format).unwrap().text(comparison, &view).unwrap()
}

/// Bars that part the fields of a Markdown table's row.
fn bars(line: &str) -> usize {
    line.replace("\\\\", "").replace("\\|", "").matches('|').count()
}

fn check_markdown(text: &str, benign: &str) {
    // A comment parts what would be a mention.
    let text = &text.replace("@<!-- -->", "");
    assert!(!text.contains('@'), "{text}");
    let tables =
        |text: &str| -> Vec<usize> { text.lines().filter(|line| line.starts_with('|')).map(bars).collect() };
    assert_eq!(tables(text), tables(benign), "{text}");
    // What is not escaped are the tags of the format itself, in their lines.
    let tags = |text: &str| -> Vec<String> {
        let plain = text.replace("\\\\", "").replace("\\<", "");
        plain.lines().filter(|line| line.contains('<')).map(str::to_owned).collect()
    };
    assert_eq!(tags(text), tags(benign), "{text}");
    assert_eq!(text.lines().count(), benign.lines().count(), "{text}");
}

fn check_commands(text: &str) {
    for line in text.lines() {
        let (command, message) = line.strip_prefix("::").and_then(|rest| rest.split_once("::")).expect(line);
        let (level, title) = command.split_once(" title=").expect(line);
        assert!(["error", "warning", "notice"].contains(&level), "{line}");
        assert!(!title.contains([':', ',']), "{line}");
        for escape in title.split('%').skip(1).chain(message.split('%').skip(1)) {
            assert!(["25", "0A", "0D", "3A", "2C"].iter().any(|code| escape.starts_with(code)), "{line}");
        }
    }
}

/// Reports are sanitized when they are loaded; what is left may mean something to a format.
#[test]
fn no_text_breaks_a_format() {
    let hostile = "=1 \"'<b>&amp; | ` @name ]]> <!-- </details></failure> %0A [x](y) \\ *_~#";
    let (comparison, benign) = (with_text(hostile), with_text("x"));
    for format in ["json", "bmf", "github-action-benchmark"] {
        serde_json::from_str::<Value>(&text(format, &comparison)).unwrap();
    }
    let records = read_csv(&text("csv", &comparison)).unwrap();
    assert_eq!(records.len(), comparison.cells.len() + 1);
    assert!(records.iter().all(|record| record.len() == records[0].len()));
    check_markdown(&text("md", &comparison), &text("md", &benign));
    check_commands(&text("github", &comparison));
    let tags = |comparison| text("junit", comparison).matches(['<', '>']).count();
    assert_eq!(tags(&comparison), tags(&benign));
}
