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

#[test]
fn every_key_that_the_schema_requires_is_required_when_a_report_is_read_and_the_reverse() {
    let row = serde_json::to_value(&report().rows[0]).unwrap();
    let validator = validator();
    for key in row.as_object().unwrap().keys() {
        let mut value = serde_json::to_value(report()).unwrap();
        remove(&mut value["rows"][0], key);
        // A measured row without `execute` can be read, and then counts as one without a time.
        if key != "execute" {
            let readable = serde_json::from_value::<Report>(value.clone()).is_ok();
            assert_eq!(validator.is_valid(&value), readable, "{key}");
        }
    }
}

fn remove(value: &mut Value, key: &str) {
    assert!(value.as_object_mut().unwrap().remove(key).is_some(), "no {key}");
}
