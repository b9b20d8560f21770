//! Checks that no name or reason breaks a format, controls a terminal or sends a command to a pipeline.

use std::sync::LazyLock;

use gpubench_text::csv::records as read_csv;
use proptest::prelude::*;
use serde_json::Value;

use super::{FORMATS, Sanitized, View, example, xml};
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

/// Characters and words that mean something to a terminal, a pipeline or a format.
fn texts() -> impl Strategy<Value = String> {
    let characters = "[\"'<>&|,;:%=\n\r\t\x00\x1b\x07\x7f\u{9b}\u{202e}\u{2028}\u{feff}\u{ffff}`*_~#\\[\\]\\\\a-z µ]{0,12}";
    let words = [
        "::error::x",
        "##[error]",
        "##vso[a]",
        "##teamcity[b]",
        " @name",
        "]]>",
        "<!--",
        "</details>",
        "</failure>",
        "%0A",
        "&amp;",
        "\r\n",
        "| |",
    ];
    let part = prop_oneof![characters, proptest::sample::select(words.to_vec()).prop_map(str::to_owned)];
    proptest::collection::vec(part, 0..5).prop_map(|parts| parts.concat())
}

fn text(format: &str, comparison: &Comparison) -> String {
    let view = View { all_cells: true, color: false };
    FORMATS.find(format).unwrap().text(&Sanitized::of(comparison), &view).unwrap()
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

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn no_text_breaks_a_format_or_speaks_to_a_terminal_or_pipeline(hostile in texts()) {
        // What is empty has no line of its own.
        let (comparison, benign) = (with_text(&hostile), with_text(if hostile.is_empty() { "" } else { "x" }));
        for format in FORMATS.all {
            let text = text(format.name, &comparison);
            // Only a format's own syntax has control characters, such as the ends of CSV's lines.
            let is_raw = |c: &char| (c.is_control() && *c != '\n') || *c == '\u{202e}';
            let raw = |text: &str| text.chars().filter(is_raw).collect::<String>();
            prop_assert_eq!(raw(&text), raw(&self::text(format.name, &benign)), "{}: {:?}", format.name, text);
            for command in ["##[", "##vso[", "##teamcity["] {
                prop_assert!(!text.contains(command), "{}: {text}", format.name);
            }
            if format.name != "github" {
                prop_assert!(!text.contains("::"), "{}: {text}", format.name);
            }
        }
        for format in ["json", "bmf", "github-action-benchmark"] {
            serde_json::from_str::<Value>(&text(format, &comparison)).unwrap();
        }
        let records = read_csv(&text("csv", &comparison)).unwrap();
        prop_assert_eq!(records.len(), comparison.cells.len() + 1);
        prop_assert!(records.iter().all(|record| record.len() == records[0].len()));
        check_markdown(&text("md", &comparison), &text("md", &benign));
        check_commands(&text("github", &comparison));
        prop_assert_eq!(xml::read(&text("junit", &comparison)).len(), xml::read(&text("junit", &benign)).len());
    }

    #[test]
    fn names_of_cells_are_always_unique(hostile in texts()) {
        let mut names = super::super::names::names(&with_text(&hostile));
        let count = names.len();
        names.sort();
        names.dedup();
        prop_assert_eq!(names.len(), count);
    }
}

#[test]
fn every_text_of_a_cell_and_of_the_comparison_is_among_those_replaced() {
    for place in [
        "/gate/next",
        "/old/0/gpubench_revision",
        "/old/0/git_revision",
        "/method/variation_source",
        "/cells/0/variant",
        "/cells/0/next",
    ] {
        assert!(TEXTS.iter().any(|known| known == place), "{place}");
    }
    assert!(!TEXTS.iter().any(|place| place.ends_with("/verdict")));
}
