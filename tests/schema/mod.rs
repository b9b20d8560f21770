//! The published schema: real reports fit it, and reports that break a rule do not.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod fleet;
mod reports;

use std::collections::BTreeSet;

use gpubench::report::{Report, SCHEMA};
use serde_json::{Value, json};

use crate::cli::items;
use reports::{complete, report};

fn validator() -> jsonschema::Validator {
    let schema: Value = serde_json::from_str(SCHEMA).unwrap();
    jsonschema::draft202012::meta::validate(&schema).unwrap();
    jsonschema::draft202012::new(&schema).unwrap()
}

#[test]
fn a_report_with_every_outcome_fits_the_schema_also_as_a_saved_file() {
    assert_fits(&serde_json::to_value(Report { rows: vec![], ..report() }).unwrap());
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("report.json");
    gpubench::report::file::save(&report(), &path).unwrap();
    assert_fits(&serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap());
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
    assert_fits(&answered);
}

#[test]
fn an_answer_fits_the_schema_and_one_that_breaks_a_promise_does_not() {
    let answered = answered();
    assert_fits(&answered);
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
    assert_rejected(&answered, "/answer/sections/0", breaks);
}

#[test]
fn later_keys_are_allowed() {
    let mut value = serde_json::to_value(report()).unwrap();
    value["later"] = json!(1);
    value["rows"][0]["later"] = json!([]);
    value["environment"]["host"]["later"] = json!("x");
    assert!(validator().is_valid(&value));
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
    assert_rejected(&serde_json::to_value(report()).unwrap(), "", breaks);
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

#[test]
fn the_schema_and_a_complete_report_have_the_same_keys() {
    let schema: Value = serde_json::from_str(SCHEMA).unwrap();
    let complete = serde_json::to_value(complete()).unwrap();
    assert_fits(&complete);
    for (place, definition) in OBJECTS {
        let keys = |object: &Value| object.as_object().unwrap().keys().cloned().collect::<BTreeSet<_>>();
        let described = keys(&schema["$defs"][definition]["properties"]);
        assert_eq!(keys(complete.pointer(place).unwrap()), described, "{place}");
    }
}

/// Keys that layout 2 always has and layout 1 lacks; a report can be read without them.
const SINCE_LAYOUT_2: &[&str] = &["cache", "discarded", "throttled", "steady", "spent_s"];

#[test]
fn every_key_that_the_schema_requires_is_required_when_a_report_is_read_and_the_reverse() {
    let (complete, validator) = (serde_json::to_value(complete()).unwrap(), validator());
    for (place, _) in OBJECTS {
        for key in complete.pointer(place).unwrap().as_object().unwrap().keys() {
            // A measured row without `execute` can be read, and then counts as one without a time.
            if key == "execute" {
                continue;
            }
            let mut value = complete.clone();
            remove(value.pointer_mut(place).unwrap(), key);
            let readable = serde_json::from_value::<Report>(value.clone()).is_ok();
            let since = SINCE_LAYOUT_2.contains(&key.as_str());
            assert!(!since || readable, "{place}/{key}: layout 1 cannot be read");
            assert_eq!(validator.is_valid(&value), readable && !since, "{place}/{key}");
        }
    }
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
        for word in words.split_whitespace() {
            let mut value = serde_json::to_value(complete()).unwrap();
            *value.pointer_mut(&format!("/rows/0/{place}")).unwrap() = word.into();
            assert_fits(&value);
            let read: Report = serde_json::from_value(value.clone()).unwrap();
            assert_eq!(serde_json::to_value(read).unwrap(), value, "{word}");
        }
    }
}

#[test]
fn a_report_of_a_simulated_run_fits_the_schema() {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/configs/sim-example.toml");
    let run = "run --ops matmul --sizes 16 --backends sim --cache both --quiet --format json --out - --sim";
    let value = crate::cli::Folder::new().succeeds(&format!("{run} {script}")).json();
    assert_fits(&value);
    assert!(items(&value["rows"]).iter().any(|row| row["execute"]["grade"].is_string()));
    assert!(value["environment"]["backends"][0]["peaks"]["read"].is_number());
}

/// Asserts that each change at `place` makes the value break the schema.
fn assert_rejected(value: &Value, place: &str, breaks: &[(&str, Break)]) {
    let validator = validator();
    for (what, change) in breaks {
        let mut value = value.clone();
        change(value.pointer_mut(place).unwrap());
        assert!(!validator.is_valid(&value), "accepted: {what}");
    }
}

/// Fails with every place where the value breaks a rule.
fn assert_fits(value: &Value) {
    let validator = validator();
    let errors: Vec<String> =
        validator.iter_errors(value).map(|error| format!("{}: {error}", error.instance_path())).collect();
    assert!(errors.is_empty(), "{errors:#?}");
}

fn remove(value: &mut Value, key: &str) {
    assert!(value.as_object_mut().unwrap().remove(key).is_some(), "no {key}");
}
