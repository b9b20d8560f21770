//! A report with hostile text in every place comes out of every format as harmless text, and names never choose a path.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod links;

use gpubench::fleet::{self, Fleet};
use gpubench::report::file::{self, Content};
use gpubench::report::{Report, example};
use gpubench::write::report::{FORMATS, View};
use gpubench_text::control::is_harmful;
use serde_json::{Value, json};

/// What drives a terminal, begins markup, a formula, a cell of a table or a command, or reverses a line.
const HOSTILE: &str = "=cmd|' /C calc'!A0\u{1b}]0;title\u{7}\u{85}\u{9b}31m\u{202e}\u{2066}<script>hit()</script>--><img src=x> \
                       ]]> \" ' & | `\n::error::x\r\n##vso[a]../../etc/passwd";

/// A text without any of that, for comparison.
const BENIGN: &str = "plain";

/// Returns the report of these bytes with `text` in each place that may be any text, and as a key of each free object.
fn report_with(text: &str) -> Report {
    let mut value = serde_json::to_value(example::with_pinned(example::full(), 5.0)).unwrap();
    value["environment"]["backends"][0]["libraries"] = json!([
        { "name": "BLAS", "path": "/lib/libblas.so", "version": "1", "serves": ["fft/x"], "problem": "none", "fix": "none" }
    ]);
    let mut places = vec![];
    find_texts(&value, String::new(), &mut places);
    let mut changed = 0;
    for place in places {
        let before = std::mem::replace(value.pointer_mut(&place).unwrap(), HOSTILE.into());
        let is_free = file::parse(&Content::of(value.to_string())).is_ok();
        *value.pointer_mut(&place).unwrap() = if is_free { text.into() } else { before };
        changed += usize::from(is_free);
    }
    assert!(changed > 30, "only {changed} texts were changed");
    for object in ["/environment/settings", "/environment/variables", "/environment/backends/1/description"] {
        value.pointer_mut(object).unwrap()[text] = json!(text);
    }
    file::parse(&Content::of(value.to_string())).unwrap()
}

fn find_texts(value: &Value, place: String, found: &mut Vec<String>) {
    match value {
        Value::String(_) => found.push(place),
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(at, item)| find_texts(item, format!("{place}/{at}"), found));
        }
        Value::Object(members) => {
            members.iter().for_each(|(key, item)| find_texts(item, format!("{place}/{key}"), found));
        }
        _ => {}
    }
}

/// Checks a text of the format `name` against the same text about harmless names.
fn check(name: &str, text: &str, benign: &str) {
    let is_line_end = |c: char| c == '\r' && name.contains("csv");
    let invisible: String = text.chars().filter(|c| is_harmful(*c) && !is_line_end(*c)).collect();
    assert_eq!(invisible, "", "{name}");
    let command = text.lines().find(|line| line.starts_with("::") || line.starts_with("##vso"));
    assert_eq!(command, None, "{name}: a text begins a line, as a command of a workflow does");
    let count = |text: &str, part: &str| text.matches(part).count();
    match name {
        "html" | "svg" => {
            for tag in ["<script", "<img", "-->", "]]>"] {
                assert_eq!(count(text, tag), count(benign, tag), "{name}: {tag}");
            }
        }
        "md" => {
            let (text, benign) = (without_code(text), without_code(benign));
            assert_eq!(count(&text, "<"), count(&benign, "<"), "{text}");
            let rows = |text: &str| text.lines().filter(|line| line.starts_with('|')).count();
            assert_eq!(rows(&text), rows(&benign), "{text}");
        }
        "csv" | "table-csv" => {
            let records = gpubench_text::csv::records(text).unwrap();
            assert_eq!(records.len(), gpubench_text::csv::records(benign).unwrap().len());
            let begins_formula = |field: &String| field.starts_with(['=', '+', '-', '@', '\t', '\r']);
            let is_text = |field: &String| field != "-" && field.parse::<f64>().is_err();
            let is_formula = |field: &&String| begins_formula(field) && is_text(field);
            assert_eq!(records.iter().flatten().find(is_formula), None);
        }
        "json" => drop(serde_json::from_str::<Value>(text).unwrap()),
        _ => {}
    }
}

/// Returns Markdown without escaped characters and without code, in which nothing is markup.
fn without_code(text: &str) -> String {
    let fences = text.lines().filter(|line| line.trim_start().starts_with("```")).collect::<Vec<_>>();
    let is_fence = |(position, line): (usize, &&str)| *line == ["```text", "```"][position % 2];
    assert!(fences.iter().enumerate().all(is_fence) && fences.len().is_multiple_of(2), "{fences:?}");
    // The parts between fences, every other one of which is code.
    let outside = text.split("```").step_by(2).flat_map(str::lines);
    let lines = outside.map(|line| {
        let plain = line.replace("\\<", "").replace("\\`", "");
        assert!(plain.matches('`').count().is_multiple_of(2), "a code span does not end: {line}");
        plain.split('`').step_by(2).collect::<String>()
    });
    lines.collect::<Vec<_>>().join("\n")
}

#[test]
fn no_text_of_a_report_is_more_than_text_in_any_format() {
    check_every_format(HOSTILE);
}

#[test]
fn no_text_that_begins_with_a_sign_is_a_formula_in_any_format() {
    check_every_format(&HOSTILE.replacen('=', "-1+", 1));
}

fn check_every_format(hostile: &str) {
    let (hostile, benign) = (report_with(hostile), report_with(BENIGN));
    let view = View { tables: true, all_variants: true, ..View::default() };
    // Those that are no text; json.gz has the text of json.
    for format in FORMATS.all.iter().filter(|format| !["png", "json.gz"].contains(&format.name)) {
        let files = |report: &Report| -> Vec<String> {
            let files = format.files(report, &view).unwrap();
            for file in &files {
                let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
                assert!(file.name.chars().all(is_plain) && !file.name.starts_with('.'), "{}", file.name);
            }
            let texts = files.into_iter().map(|file| String::from_utf8(file.bytes).unwrap());
            // A text for the terminal is in no file, and a file is not on the terminal.
            texts.chain([format.screen(report, &view).unwrap()]).filter(|text| !text.is_empty()).collect()
        };
        for (text, benign) in files(&hostile).iter().zip(files(&benign)) {
            check(format.name, text, &benign);
        }
    }
}

#[test]
fn no_text_of_a_fleet_is_more_than_text_in_any_format() {
    let fleet = |text: &str, name: &str| -> Fleet {
        let report = serde_json::to_value(report_with(text)).unwrap();
        let member = |name: &str| json!({ "name": name, "report": report });
        let value = json!({ "fleet_version": 1, "members": [member(name), member("b")] });
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("fleet.json");
        std::fs::write(&path, value.to_string()).unwrap();
        fleet::file::load(&path).unwrap()
    };
    let (hostile, benign) = (fleet(HOSTILE, "=cmd|' /C calc'!A0"), fleet(BENIGN, BENIGN));
    let view = gpubench::write::terminal::Screen::default();
    for format in gpubench::write::fleet::FORMATS.all.iter().filter(|format| format.is_text()) {
        let text = |fleet: &Fleet| format.text(fleet, &view).unwrap();
        check(format.name, &text(&hostile), &text(&benign));
    }
}
