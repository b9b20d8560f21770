//! Damaged reports are either refused in one line or can be shown in every text form.

use gpubench::report::file::{self, FILE_NAME};
use gpubench::report::{Report, example};
use gpubench::write::report::{FORMATS, View};
use proptest::prelude::*;
use serde_json::{Value, json};

/// Returns the result of loading a file with that text.
fn load(text: &[u8]) -> Result<Report, String> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(FILE_NAME);
    std::fs::write(&path, text).unwrap();
    file::load(&path).map_err(|error| error.to_string())
}

/// The replacement of a value.
fn hostile() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        prop_oneof![Just(0.0), Just(-1.0), Just(1e300), Just(1e-300), Just(f64::MAX)].prop_map(Value::from),
        ".{0,12}".prop_map(Value::from),
        "[a-z]{0,3}[\n\u{1b}]?".prop_map(Value::from),
        Just(json!([])),
        Just(json!({})),
        Just(json!([[[[[[1]]]]]])),
        Just(json!({ "n": { "n": [1, "x", null] } })),
    ]
}

/// A change of one value, where `place` counts the values of a report. The report itself is the last value; it can be
/// replaced or shortened, but not removed.
#[derive(Clone, Debug)]
enum Change {
    Replace(usize, Value),
    Remove(usize),
    Repeat(usize),
    Shorten(usize, usize),
}

fn change() -> impl Strategy<Value = Change> {
    let place = any::<u16>().prop_map(usize::from);
    prop_oneof![
        4 => (place.clone(), hostile()).prop_map(|(place, value)| Change::Replace(place, value)),
        1 => place.clone().prop_map(Change::Remove),
        1 => place.clone().prop_map(Change::Repeat),
        1 => (place, 0..12usize).prop_map(|(place, length)| Change::Shorten(place, length)),
    ]
}

fn places(value: &Value, here: String, found: &mut Vec<String>) {
    match value {
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(i, item)| places(item, format!("{here}/{i}"), found));
        }
        Value::Object(members) => {
            members.iter().for_each(|(key, item)| places(item, format!("{here}/{key}"), found));
        }
        _ => {}
    }
    found.push(here);
}

fn apply(report: &mut Value, change: &Change) {
    let mut found = vec![];
    places(report, String::new(), &mut found);
    let (Change::Replace(at, _) | Change::Remove(at) | Change::Repeat(at) | Change::Shorten(at, _)) = change;
    let place = &found[at % found.len()];
    match (change, place.rsplit_once('/')) {
        (Change::Replace(_, value), _) => *report.pointer_mut(place).unwrap() = value.clone(),
        (Change::Shorten(_, length), _) => {
            if let Value::Array(items) = report.pointer_mut(place).unwrap() {
                items.truncate(*length);
            }
        }
        (Change::Remove(_), Some((parent, key))) => match report.pointer_mut(parent).unwrap() {
            Value::Array(items) => drop(items.remove(key.parse().unwrap())),
            Value::Object(members) => drop(members.remove(key)),
            _ => {}
        },
        (Change::Repeat(_), Some((parent, key))) => {
            if let Value::Array(items) = report.pointer_mut(parent).unwrap() {
                let again = items[key.parse::<usize>().unwrap()].clone();
                items.push(again);
            }
        }
        (Change::Remove(_) | Change::Repeat(_), None) => {}
    }
}

/// Asserts that a report is refused in one line, or can be shown in every text form.
fn survives(text: &[u8]) -> Result<(), TestCaseError> {
    match load(text) {
        Err(message) => {
            prop_assert!(!message.chars().any(char::is_control), "{message:?}");
            prop_assert!(message.len() < 2000, "{message}");
        }
        Ok(report) => {
            for format in ["table", "json", "csv", "md", "svg"] {
                let (format, view) = (FORMATS.find(format).unwrap(), View::default());
                let _ = (format.screen(&report, &view), format.files(&report, &view));
            }
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, max_shrink_iters: 200, ..ProptestConfig::default() })]

    #[test]
    fn no_value_in_the_place_of_another_panics(changes in prop::collection::vec(change(), 1..4)) {
        let mut report = serde_json::to_value(example::full()).unwrap();
        changes.iter().for_each(|change| apply(&mut report, change));
        survives(report.to_string().as_bytes())?;
    }

    #[test]
    fn no_damage_to_the_text_panics(
        cuts in prop::collection::vec((any::<prop::sample::Index>(), 0..40usize, prop::collection::vec(any::<u8>(), 0..6)), 1..4),
    ) {
        let mut text = file::to_json(&example::full()).unwrap();
        for (at, length, bytes) in cuts {
            let start = at.index(text.len());
            let end = (start + length).min(text.len());
            text.splice(start..end, bytes);
        }
        survives(&text)?;
    }

    #[test]
    fn no_digit_or_sign_in_the_place_of_another_panics(
        edits in prop::collection::vec((any::<prop::sample::Index>(), "[-0-9eE.+,:\\[\\]{}\"]"), 1..5),
    ) {
        let mut text = file::to_json(&example::full()).unwrap();
        for (at, sign) in edits {
            let at = at.index(text.len());
            text[at] = sign.as_bytes()[0];
        }
        survives(&text)?;
    }
}
