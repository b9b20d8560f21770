//! The published schema: real reports fit it, and reports that break a promise do not.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use gpubench::backend::{Accuracy, SetupCounts, Side};
use gpubench::case::{Case, DType};
use gpubench::op::{Checked, Work};
use gpubench::report::{
    BackendState, Clock, Environment, Execute, Outcome, Phases, Report, Row, SCHEMA, SCHEMA_VERSION,
};
use serde_json::{Value, json};

fn row(n: u64, outcome: Outcome) -> Row {
    let measured = outcome == Outcome::Measured;
    let checked = measured || outcome == Outcome::Incorrect;
    Row {
        case: Case { op: "spmv".into(), n, dtype: DType::F64, density: Some(0.05), seed: u64::MAX },
        backend: "cuda".into(),
        variant: "cusparse".into(),
        side: Side::Gpu,
        accuracy: Accuracy::Ieee,
        outcome,
        reason: (!measured).then(|| "cuSPARSE: not found".into()),
        fix: (outcome == Outcome::Skipped).then(|| "pip install nvidia-cusparse".into()),
        error: checked.then(|| Checked::new(f64::NAN, 1e-12)),
        work: Work { flop: 2e6, bytes: 1.2e7 },
        inputs: checked.then(|| "0123456789abcdef".into()),
        phases: checked.then(Phases::default),
        execute: measured.then(|| Execute {
            clock: Clock::DeviceEvents,
            samples_s: vec![1e-6, 2e-6],
            median_s: 1.5e-6,
            min_s: 1e-6,
            max_s: 2e-6,
            mad_s: 5e-7,
            ci95_s: [1e-6, 2e-6],
            host_samples_s: vec![3e-6, 3e-6],
            host_median_s: 3e-6,
            warmups: 3,
            setup_while_sampling: SetupCounts::default(),
        }),
    }
}

fn report() -> Report {
    let missing = BackendState {
        name: "cuda".into(),
        available: false,
        reason: Some("no driver".into()),
        fix: Some("install the NVIDIA driver".into()),
        startup_s: None,
        description: Value::Null,
        libraries: vec![gpubench::backend::Finding {
            name: "cuFFT".into(),
            path: None,
            version: None,
            serves: vec!["fft/r2c".into()],
            problem: Some("not found".into()),
            fix: None,
        }],
    };
    let outcomes = [Outcome::Measured, Outcome::Incorrect, Outcome::Skipped, Outcome::Failed];
    Report {
        schema_version: SCHEMA_VERSION,
        environment: Environment {
            backends: vec![missing],
            settings: json!({ "samples": 30 }),
            ..Environment::default()
        },
        rows: (1..).zip(outcomes).map(|(n, outcome)| row(n, outcome)).collect(),
    }
}

fn validator() -> jsonschema::Validator {
    let schema: Value = serde_json::from_str(SCHEMA).unwrap();
    jsonschema::draft202012::meta::validate(&schema).unwrap();
    jsonschema::draft202012::new(&schema).unwrap()
}

#[test]
fn a_report_with_every_outcome_fits_the_schema() {
    let value = serde_json::to_value(report()).unwrap();
    let validator = validator();
    let errors: Vec<String> =
        validator.iter_errors(&value).map(|error| format!("{}: {error}", error.instance_path())).collect();
    assert!(errors.is_empty(), "{errors:#?}");
}

#[test]
fn a_saved_file_fits_the_schema() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("report.json");
    gpubench::report::file::save(&report(), &path).unwrap();
    let value: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    assert!(validator().is_valid(&value));
    assert_eq!(gpubench::report::file::load(&path).unwrap(), report());
}

#[test]
fn later_keys_are_allowed() {
    let mut value = serde_json::to_value(report()).unwrap();
    value["later"] = json!(1);
    value["rows"][0]["later"] = json!([]);
    value["environment"]["host"]["later"] = json!("x");
    assert!(validator().is_valid(&value));
}

/// Changes a report so that it breaks a promise of the layout.
type Break = fn(&mut Value);

#[test]
fn reports_that_break_a_promise_are_rejected() {
    let breaks: &[(&str, Break)] = &[
        ("a number as text", |v| v["rows"][0]["execute"]["median_s"] = json!("1.5e-6")),
        ("a sample that is not a number", |v| v["rows"][0]["execute"]["samples_s"][0] = Value::Null),
        ("no samples", |v| v["rows"][0]["execute"]["samples_s"] = json!([])),
        ("an unknown clock", |v| v["rows"][0]["execute"]["clock"] = json!("wall")),
        ("an interval of one number", |v| v["rows"][0]["execute"]["ci95_s"] = json!([1e-6])),
        ("a negative time", |v| v["rows"][0]["execute"]["min_s"] = json!(-1.0)),
        ("an unknown outcome", |v| v["rows"][0]["outcome"] = json!("ok")),
        ("an unknown element type", |v| v["rows"][0]["dtype"] = json!("float32")),
        ("size 0", |v| v["rows"][0]["n"] = json!(0)),
        ("an op that is no name", |v| v["rows"][0]["op"] = json!("evil/../../x")),
        ("a backend with a slash", |v| v["rows"][0]["backend"] = json!("a/b")),
        ("a variant with an escape", |v| v["rows"][0]["variant"] = json!("a\u{1b}[31m")),
        ("a plan of less than no cells", |v| v["environment"]["planned_rows"] = json!(-1)),
        ("an error without a bound", |v| v["rows"][0]["error"] = json!({ "value": 1.0 })),
        ("measured without a time", |v| remove(&mut v["rows"][0], "execute")),
        ("incorrect with a time", |v| v["rows"][1]["execute"] = v["rows"][0]["execute"].clone()),
        ("a row without op", |v| remove(&mut v["rows"][0], "op")),
        ("a row without outcome", |v| remove(&mut v["rows"][2], "outcome")),
        ("no rows", |v| remove(v, "rows")),
        ("no environment", |v| remove(v, "environment")),
        ("no schema_version", |v| remove(v, "schema_version")),
        ("another schema_version", |v| v["schema_version"] = json!(2)),
    ];
    let validator = validator();
    for (what, change) in breaks {
        let mut value = serde_json::to_value(report()).unwrap();
        change(&mut value);
        assert!(!validator.is_valid(&value), "accepted: {what}");
    }
}

/// A report in which every optional key is present somewhere: its first row and its one backend have them all.
fn complete() -> Value {
    let mut value = serde_json::to_value(report()).unwrap();
    let environment = &mut value["environment"];
    environment["gpubench_revision"] = json!("0123abc");
    environment["git_revision"] = json!("0123abc-dirty");
    environment["planned_rows"] = json!(5);
    environment["host"]["governor"] = json!("performance");
    environment["backends"][0]["startup_s"] = json!(0.5);
    value["rows"][0]["reason"] = json!("a reason");
    value["rows"][0]["fix"] = json!("a fix");
    value
}

/// Places of the objects of a report, and the definitions of the schema that they fit.
const OBJECTS: &[(&str, &str)] = &[
    ("/environment", "environment"),
    ("/environment/host", "host"),
    ("/environment/backends/0", "backend"),
    ("/environment/backends/0/libraries/0", "finding"),
    ("/rows/0", "row"),
    ("/rows/0/error", "error"),
    ("/rows/0/work", "work"),
    ("/rows/0/phases", "phases"),
    ("/rows/0/execute", "execute"),
];

#[test]
fn the_schema_and_a_complete_report_have_the_same_keys() {
    let (schema, complete): (Value, Value) = (serde_json::from_str(SCHEMA).unwrap(), complete());
    assert!(validator().is_valid(&complete));
    for (place, definition) in OBJECTS {
        let mut written: Vec<&String> =
            complete.pointer(place).unwrap().as_object().unwrap().keys().collect();
        let properties = &schema["$defs"][definition]["properties"];
        let mut described: Vec<&String> = properties.as_object().unwrap().keys().collect();
        described.sort();
        written.sort();
        assert_eq!(written, described, "{place}");
    }
}

#[test]
fn every_key_that_the_schema_requires_is_required_when_a_report_is_read_and_the_reverse() {
    let (complete, validator) = (complete(), validator());
    for (place, _) in OBJECTS {
        for key in complete.pointer(place).unwrap().as_object().unwrap().keys() {
            // A measured row without `execute` can be read, and then counts as one without a time.
            if key == "execute" {
                continue;
            }
            let mut value = complete.clone();
            remove(value.pointer_mut(place).unwrap(), key);
            let readable = serde_json::from_value::<Report>(value.clone()).is_ok();
            assert_eq!(validator.is_valid(&value), readable, "{place}/{key}");
        }
    }
}

fn remove(value: &mut Value, key: &str) {
    assert!(value.as_object_mut().unwrap().remove(key).is_some(), "no {key}");
}
