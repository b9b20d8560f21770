//! The published schema: real reports fit it, and reports that break a rule do not.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod compare;
mod fleet;
mod reports;

use std::collections::BTreeSet;

use gpubench::report::{Report, SCHEMA};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::cli::items;
use reports::{complete, report};

fn validator(schema: &str) -> jsonschema::Validator {
    let schema: Value = serde_json::from_str(schema).unwrap();
    jsonschema::draft202012::meta::validate(&schema).unwrap();
    jsonschema::draft202012::new(&schema).unwrap()
}

#[test]
fn a_report_with_every_outcome_fits_the_schema_also_as_a_saved_file() {
    assert_fits(SCHEMA, &serde_json::to_value(Report { rows: vec![], ..report() }).unwrap());
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("report.json");
    gpubench::report::file::save(&report(), &path).unwrap();
    assert_fits(SCHEMA, &serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap());
    assert_eq!(gpubench::report::file::load(&path).unwrap(), report());
}

/// A report of an H200 with the answer that is derived from it.
fn answered() -> Value {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/quick/first/report.json");
    let report = gpubench::report::file::load(std::path::Path::new(path)).unwrap();
    serde_json::to_value(gpubench::document::report::Answered::of(&report)).unwrap()
}

#[test]
fn an_answer_about_contenders_with_names_fits_the_schema() {
    let mut report: Report = serde_json::from_value(answered()).unwrap();
    gpubench::answer::Versus::choose(&mut report, "cuda:cpu").unwrap();
    let answered = serde_json::to_value(gpubench::document::report::Answered::of(&report)).unwrap();
    assert_eq!(answered["answer"]["versus"], json!({ "a": "cuda", "b": "cpu" }));
    assert_fits(SCHEMA, &answered);
}

#[test]
fn an_answer_fits_the_schema_and_one_that_breaks_a_promise_does_not() {
    let answered = answered();
    assert_fits(SCHEMA, &answered);
    let breaks: &[(&str, Break)] = &[
        ("an unknown kind", |v| v["crossovers"][0]["kind"] = json!("best")),
        ("an unknown state", |v| v["crossovers"][0]["state"] = json!("maybe")),
        ("an unknown end", |v| v["crossovers"][0]["interval_ends"] = json!(["below", "open"])),
        ("an unknown winner", |v| v["crossovers"][0]["winners"][0]["side"] = json!("neither")),
        ("an interval with one end", |v| v["crossovers"][0]["interval"] = json!([1])),
        ("a speed-up of an unknown kind", |v| v["sizes"][0]["speed_ups"]["best"] = json!({})),
        ("a ratio without an interval", |v| v["sizes"][0]["speed_ups"]["kernel"]["ratio"] = json!(2)),
        ("no sizes", |v| remove(v, "sizes")),
    ];
    assert_rejected(SCHEMA, &answered, "/answer/sections/0", breaks);
}

#[test]
fn later_keys_are_allowed() {
    let mut value = serde_json::to_value(report()).unwrap();
    value["later"] = json!(1);
    value["rows"][0]["later"] = json!([]);
    value["environment"]["host"]["later"] = json!("x");
    assert_fits(SCHEMA, &value);
}

fn backend(report: &mut Value) -> &mut Value {
    &mut report["environment"]["backends"][0]
}

/// Changes a report so that it breaks a rule of the layout.
type Break = fn(&mut Value);

#[test]
fn reports_that_break_a_promise_are_rejected() {
    let breaks: &[(&str, Break)] = &[
        ("a number as text", |v| v["rows"][0]["execute"]["median_s"] = json!("1.5e-6")),
        ("no samples", |v| v["rows"][0]["execute"]["samples_s"] = json!([])),
        ("an interval of one number", |v| v["rows"][0]["execute"]["ci95_s"] = json!([1e-6])),
        ("a negative time", |v| v["rows"][0]["execute"]["min_s"] = json!(-1.0)),
        ("an unknown outcome", |v| v["rows"][0]["outcome"] = json!("ok")),
        ("size 0", |v| v["rows"][0]["n"] = json!(0)),
        ("an op that is no name", |v| v["rows"][0]["op"] = json!("evil/../../x")),
        ("a variant with an escape", |v| v["rows"][0]["variant"] = json!("a\u{1b}[31m")),
        ("measured without a time", |v| remove(&mut v["rows"][0], "execute")),
        ("incorrect with a time", |v| v["rows"][1]["execute"] = v["rows"][0]["execute"].clone()),
        ("no rows", |v| remove(v, "rows")),
        ("another schema_version", |v| v["schema_version"] = json!(1)),
        ("three quantiles", |v| v["rows"][0]["execute"]["quantiles_s"] = json!([1, 2, 3])),
        ("a round of one state", |v| v["rows"][0]["execute"]["conditions"] = json!([[{}]])),
        ("a peak of nothing", |v| backend(v)["peaks"] = json!({ "read": 0 })),
    ];
    assert_rejected(SCHEMA, &serde_json::to_value(report()).unwrap(), "", breaks);
}

/// Places of the objects of a report, and the definitions of the schema that they fit.
const OBJECTS: &[(&str, &str)] = &[
    ("/environment", "environment"),
    ("/environment/warnings/0", "run_warning"),
    ("/environment/host", "host"),
    ("/environment/backends/0", "backend"),
    ("/environment/backends/0/timer_overhead", "timer_overhead"),
    ("/environment/backends/0/timer_overhead/checks/0", "clock_check"),
    ("/environment/backends/0/peaks", "peaks"),
    ("/environment/backends/0/peaks/upload", "bus_rates"),
    ("/environment/backends/0/libraries/0", "finding"),
    ("/rows/0", "row"),
    ("/rows/0/error", "error"),
    ("/rows/0/work", "work"),
    ("/rows/0/phases", "phases"),
    ("/rows/0/phases/compile", "compile"),
    ("/rows/0/phases/upload", "transfer"),
    ("/rows/0/phases/pinned", "pinned_copies"),
    ("/rows/0/execute", "execute"),
    ("/rows/0/execute/drift", "drift"),
    ("/rows/0/execute/modes", "modes"),
    ("/rows/0/execute/conditions/0/1", "conditions"),
    ("/rows/0/execute/warnings/0", "warning"),
];

/// Keys that layout 2 always has and layout 1 lacks; a report can be read without them.
const SINCE_LAYOUT_2: &[&str] = &["cache", "discarded", "throttled", "steady", "spent_s"];

#[test]
fn the_schema_has_the_keys_of_a_complete_report_and_requires_those_that_reading_requires() {
    let is_readable = |key: &str, value: &Value| {
        let is_readable = serde_json::from_value::<Report>(value.clone()).is_ok();
        let since = SINCE_LAYOUT_2.contains(&key);
        assert!(!since || is_readable, "{key}: layout 1 cannot be read");
        is_readable && !since
    };
    // A measured row without `execute` can be read, and then counts as one without a time.
    let complete = serde_json::to_value(complete()).unwrap();
    assert_same_keys(SCHEMA, &complete, OBJECTS, &["execute"], is_readable);
}

#[test]
fn words_of_the_schema_are_those_that_are_written() {
    for (place, words) in [
        (
            "execute/warnings/0/kind",
            "spread drift throttled few-samples ended-early launch-bound bimodal disturbed other-process busy-machine \
             cpu-quota setup not-warm",
        ),
        (
            "execute/stopped",
            "precise plateau out-of-time fixed most-samples drift screened cut-short ended-early",
        ),
        ("execute/grade", "A B C D"),
        ("cache", "cold hot"),
    ] {
        assert_words::<Report>(
            SCHEMA,
            &serde_json::to_value(complete()).unwrap(),
            &format!("/rows/0/{place}"),
            words,
        );
    }
}

#[test]
fn a_report_of_a_simulated_run_fits_the_schema() {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/configs/sim-example.toml");
    let run = "run --ops matmul --sizes 16 --backends sim --cache both --quiet --format json --out - --sim";
    let value = crate::cli::Folder::new().succeeds(&format!("{run} {script}")).json();
    assert_fits(SCHEMA, &value);
    assert!(items(&value["rows"]).iter().any(|row| row["execute"]["grade"].is_string()));
    assert!(value["environment"]["backends"][0]["peaks"]["read"].is_number());
}

/// Asserts that each change at `place` makes the value break the schema.
fn assert_rejected(schema: &str, value: &Value, place: &str, breaks: &[(&str, Break)]) {
    let validator = validator(schema);
    for (what, change) in breaks {
        let mut value = value.clone();
        change(value.pointer_mut(place).unwrap());
        assert!(!validator.is_valid(&value), "accepted: {what}");
    }
}

/// Fails with every place where the value breaks a rule.
fn assert_fits(schema: &str, value: &Value) {
    let validator = validator(schema);
    let errors: Vec<String> =
        validator.iter_errors(value).map(|error| format!("{}: {error}", error.instance_path())).collect();
    assert!(errors.is_empty(), "{errors:#?}");
}

/// Asserts that a value that fits the schema has the keys at those places that the schema defines, and that it fits without
/// one exactly if `is_readable` says so, with the key and the value that is left. Keys in `except`, or with their place, are
/// not removed.
fn assert_same_keys(
    schema: &str,
    complete: &Value,
    objects: &[(&str, &str)],
    except: &[&str],
    is_readable: impl Fn(&str, &Value) -> bool,
) {
    assert_fits(schema, complete);
    let (validator, schema) = (validator(schema), serde_json::from_str::<Value>(schema).unwrap());
    for (place, definition) in objects {
        let keys = |object: &Value| object.as_object().unwrap().keys().cloned().collect::<BTreeSet<_>>();
        let described = if definition.is_empty() { &schema } else { &schema["$defs"][definition] };
        let found = keys(complete.pointer(place).unwrap());
        assert_eq!(found, keys(&described["properties"]), "{place}");
        for key in found {
            let path = format!("{place}/{key}");
            if except.contains(&key.as_str()) || except.contains(&path.as_str()) {
                continue;
            }
            let mut value = complete.clone();
            remove(value.pointer_mut(place).unwrap(), &key);
            assert_eq!(validator.is_valid(&value), is_readable(&key, &value), "{path}");
        }
    }
}

/// Asserts that each of the words at a place fits the schema, and that reading and writing keeps it.
fn assert_words<T: Serialize + DeserializeOwned>(schema: &str, complete: &Value, place: &str, words: &str) {
    for word in words.split_whitespace() {
        let mut value = complete.clone();
        *value.pointer_mut(place).unwrap() = word.into();
        assert_fits(schema, &value);
        let read: T = serde_json::from_value(value.clone()).unwrap();
        assert_eq!(serde_json::to_value(read).unwrap(), value, "{word}");
    }
}

fn remove(value: &mut Value, key: &str) {
    assert!(value.as_object_mut().unwrap().remove(key).is_some(), "no {key}");
}
