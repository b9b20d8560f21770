use proptest::prelude::*;
use serde_json::{Value, json};

use crate::export::{self, View};
use crate::report::file::{self, FILE_NAME};
use crate::report::{Report, example};

/// What loading a file of that text gives.
fn load(text: &[u8]) -> Result<Report, String> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(FILE_NAME);
    std::fs::write(&path, text).unwrap();
    file::load(&path).map_err(|error| error.to_string())
}

/// Why a report is refused once `place` holds `value`.
fn refusal(place: &str, value: Value) -> String {
    let mut report = serde_json::to_value(example::full()).unwrap();
    *report.pointer_mut(place).unwrap_or_else(|| panic!("no {place}")) = value;
    load(report.to_string().as_bytes()).err().unwrap_or_else(|| panic!("{place} was accepted"))
}

#[test]
fn names_that_are_no_names_are_refused_in_one_line() {
    for op in ["evil/../../x", "", "MatMul", "a b", "a\nb", "é"] {
        let message = refusal("/rows/1/op", op.into());
        assert!(message.contains("row 1: op ") && message.contains("correct it"), "{message}");
    }
    for key in ["backend", "variant"] {
        for name in ["a/b", "", "a\u{1b}[31m", "a\nb"] {
            let message = refusal(&format!("/rows/1/{key}"), name.into());
            assert!(message.contains(&format!("row 1: {key} ")) && !message.contains('\n'), "{message}");
        }
    }
    let mut report = example::full();
    (report.rows[1].backend, report.rows[1].variant) = ("Ein Gerät, v2 (b)".into(), "a b".into());
    report.rows[1].case.op = "conv_2-d.nchw".into();
    assert_eq!(load(&file::to_json(&report).unwrap()), Ok(report));
}

#[test]
fn reports_that_contradict_themselves_are_refused_with_row_and_key() {
    let first = serde_json::to_value(&example::full().rows[0]).unwrap();
    for (place, value, expected) in [
        ("/environment/started", json!("yesterday"), "environment: started \"yesterday\" is no time such as"),
        ("/environment/elapsed_s", json!(-1), "environment: elapsed_s holds -1e0, which is no time"),
        (
            "/environment/backends/0",
            json!({ "name": "cuda", "available": true, "ceilings": { "copy": -1 } }),
            "environment: the ceilings of \"cuda\" hold a figure that is no rate",
        ),
        ("/rows/1", first, "rows 0 and 1 are about the same cell, matmul N=100 f32 cpu/openblas cold"),
        ("/rows/3/n", json!(0), "row 3: n is 0"),
        ("/rows/6/density", json!(0.0), "row 6: density 0 is not above 0"),
        ("/rows/0/work/flop", json!(-2.0), "row 0: work is less than none"),
        ("/rows/0/outcome", json!("incorrect"), "row 0: outcome incorrect, and yet a time"),
        ("/rows/0/execute/samples_s", json!([]), "row 0: execute: samples_s is empty"),
        ("/rows/0/execute/samples_s/3", json!(-1e-6), "samples_s holds -1e-6, which is no time in seconds"),
        ("/rows/0/execute/samples_s/3", json!(1e300), "samples_s holds 1e300"),
        ("/rows/0/execute/host_samples_s", json!([1.0]), "host_samples_s has 1 entries, samples_s has 12"),
        ("/rows/1/execute/sm_mhz", json!([1980]), "row 1: execute: sm_mhz has 1 entries"),
        ("/rows/1/execute/events_s", json!([1e-6]), "events_s has 1 entries"),
        ("/rows/0/execute/switches", json!([1]), "switches has 1 entries"),
        ("/rows/0/execute/page_faults/minor", json!(-1.0), "page_faults holds less than none"),
        ("/rows/0/execute/rounds", json!([0, 1]), "rounds has 2 entries"),
        ("/rows/0/execute/rounds/0", json!(4_294_967_295_u32), "rounds holds a number above 1000000"),
        ("/rows/1/execute/sm_mhz/0", json!(-1.0), "sm_mhz holds a figure that is no clock"),
        ("/rows/0/execute/median_s", json!(1.0), "median_s is 1e0, but that of the samples is"),
        ("/rows/0/execute/min_s", json!(1e-9), "min_s is 1e-9, but that of the samples is"),
        ("/rows/1/execute/host_median_s", json!(1.0), "host_median_s is 1e0, but that of the samples is"),
        ("/rows/0/execute/samples_s/3", json!(0.0), "samples_s holds a time of 0"),
        ("/rows/0/error/value", json!(1.0), "outcome measured, although the answer is wrong: error 1.00e0"),
        ("/rows/0/execute/median_s", json!(2e9), "median_s holds 2e9"),
        ("/rows/0/execute/ci95_s", json!([1.0, 2.0]), "lies outside of ci95_s, 1 to 2"),
        ("/rows/0/execute/ci95_s/0", json!(1e-3), "lies outside of ci95_s"),
        ("/rows/1/execute/host_median_s", json!(-0.5), "host_median_s holds -5e-1"),
    ] {
        let message = refusal(place, value);
        assert!(message.contains(expected), "{place}: {message}");
        assert!(message.ends_with("; correct it or run the sweep again"), "{message}");
    }
}

#[test]
fn no_row_was_measured_on_no_threads() {
    let mut report = example::full();
    report.rows[0].threads = Some(0);
    let message = load(&file::to_json(&report).unwrap()).unwrap_err();
    assert!(message.contains("threads is 0"), "{message}");
}

#[test]
fn what_a_reader_can_do_without_is_tolerated() {
    let mut report = example::full();
    let execute = report.rows[0].execute.as_mut().unwrap();
    execute.host_samples_s.clear();
    execute.rounds.clear();
    execute.conditions.clear();
    report.rows[1].phases.as_mut().unwrap().first_device_s = Some(-1e-9);
    report.rows[3].execute = None;
    assert_eq!(load(&file::to_json(&report).unwrap()), Ok(report));
}

#[test]
fn every_report_that_the_project_keeps_is_sound() {
    let mut folders = vec![std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("results")];
    let mut loaded = 0;
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap().map(Result::unwrap) {
            if entry.file_type().unwrap().is_dir() {
                folders.push(entry.path());
            } else if entry.file_name() == FILE_NAME {
                file::load(&entry.path()).unwrap();
                loaded += 1;
            }
        }
    }
    assert!(loaded >= 3, "{loaded} reports");
}

/// What a mutation puts in the place of a value.
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

/// A change of one value, `place` counting the values of a report. The report itself, which is last
/// among them, can be replaced and shortened; it is in nothing that it could be removed from.
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

/// Loads; what is refused is refused in one line, and what is not can be shown in every text form.
fn survives(text: &[u8]) -> Result<(), TestCaseError> {
    match load(text) {
        Err(message) => {
            prop_assert!(!message.chars().any(char::is_control), "{message:?}");
            prop_assert!(message.len() < 2000, "{message}");
        }
        Ok(report) => {
            for format in ["table", "json", "csv", "md", "svg"] {
                let _ = export::find(format).unwrap().files(&report, &View::default());
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
