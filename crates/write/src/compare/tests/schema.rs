//! The published schema: real comparisons fit it, and those that break a promise do not.

use serde_json::{Value, json};

use super::{example, text};
use gpubench_analysis::compare::result::Conclusion;
use gpubench_analysis::compare::{COMPARISON_SCHEMA, Comparison, InconclusiveReason, Severity, Verdict};

fn validator() -> jsonschema::Validator {
    let schema: Value = serde_json::from_str(COMPARISON_SCHEMA).unwrap();
    jsonschema::draft202012::meta::validate(&schema).unwrap();
    jsonschema::draft202012::new(&schema).unwrap()
}

/// Fails with every place at which the value breaks a promise.
fn assert_fits(value: &Value) {
    let validator = validator();
    let errors: Vec<String> =
        validator.iter_errors(value).map(|error| format!("{}: {error}", error.instance_path())).collect();
    assert!(errors.is_empty(), "{errors:#?}");
}

/// A comparison whose first cell is inconclusive and has every optional key.
fn complete() -> Value {
    let mut comparison = example::full();
    comparison.gate.accepted = vec![Verdict::Missing];
    comparison.environment[0].disturbed = vec!["NEW".into()];
    let mut cell = comparison.cells[2].clone();
    cell.subject.cell.case.matrix = Some("bcsstk13@1f3a5c7e90b2d4f6".into());
    cell.subject.cell.case.shape = serde_json::from_str(r#"{"m":"N","n":5}"#).ok();
    (cell.subject.cell.case.density, cell.verdict, cell.inconclusive_reason) =
        (Some(0.05), Verdict::Inconclusive, Some(InconclusiveReason::LowerClock));
    comparison.cells.insert(0, cell);
    let mean = &mut comparison.mean_changes[0];
    (mean.subject.op, mean.subject.backend) = (Some("fft".into()), Some("cuda".into()));
    (mean.verdict, mean.inconclusive_reason) = (Verdict::Inconclusive, Some(InconclusiveReason::LowerClock));
    serde_json::to_value(comparison).unwrap()
}

#[test]
fn output_matches_the_schema() {
    let examples = [
        example::full(),
        example::passing(),
        example::across_machines(false),
        example::across_machines(true),
    ];
    for comparison in examples {
        assert_fits(&serde_json::from_str(&text("json", &comparison)).unwrap());
    }
    assert_fits(&complete());
}

#[test]
fn later_keys_are_allowed_and_read_over() {
    let mut value = complete();
    value["later"] = json!(1);
    value["gate"]["later"] = json!("x");
    value["cells"][0]["later"] = json!([]);
    assert_fits(&value);
    serde_json::from_value::<Comparison>(value).unwrap();
}

type Break = fn(&mut Value);

#[test]
fn comparisons_that_break_a_promise_are_rejected() {
    let breaks: &[(&str, Break)] = &[
        ("another layout", |v| v["comparison_version"] = json!(1)),
        ("an unknown exit code", |v| v["gate"]["exit_code"] = json!(4)),
        ("an unknown conclusion", |v| v["gate"]["conclusion"] = json!("ok")),
        ("an unknown verdict", |v| v["cells"][0]["verdict"] = json!("slow")),
        ("an inconclusive reason of a cell that is not inconclusive", |v| {
            v["cells"][0]["verdict"] = json!("slower")
        }),
        ("an unknown inconclusive reason", |v| v["cells"][0]["inconclusive_reason"] = json!("weather")),
        ("a ratio that is not a number", |v| v["cells"][0]["ratio"] = Value::Null),
        ("an interval of one number", |v| v["cells"][0]["interval"] = json!([1.0])),
        ("a chance above 1", |v| v["cells"][0]["p"] = json!(1.5)),
        ("a negative time", |v| v["cells"][0]["old"]["median_s"] = json!(-1.0)),
        ("an unknown grade", |v| v["cells"][0]["old"]["grade"] = json!("E")),
        ("an unknown severity", |v| v["environment"][0]["severity"] = json!("fatal")),
        ("cells that are no list", |v| v["cells"] = json!({})),
        ("a mean of no cell", |v| v["mean_changes"][0]["cells"] = json!(0)),
        ("a mean that is missing", |v| v["mean_changes"][0]["verdict"] = json!("missing")),
        ("an inconclusive reason of a mean that is not inconclusive", |v| {
            v["mean_changes"][0]["verdict"] = json!("same")
        }),
    ];
    let validator = validator();
    for (what, change) in breaks {
        let mut value = complete();
        change(&mut value);
        assert!(!validator.is_valid(&value), "accepted: {what}");
    }
}

/// Places of the objects of a comparison, and the definitions of the schema that they fit.
const OBJECTS: &[(&str, &str)] = &[
    ("", ""),
    ("/gate", "/$defs/gate"),
    ("/counts/0", "/$defs/count_of_verdict"),
    ("/old/0", "/$defs/run"),
    ("/method", "/$defs/method"),
    ("/environment/0", "/$defs/difference"),
    ("/notes/0", "/$defs/note"),
    ("/means/0", "/$defs/mean"),
    ("/mean_changes/0", "/$defs/mean_change"),
    ("/cells/0", "/$defs/change"),
    ("/cells/0/old", "/$defs/measured"),
    ("/cells/0/old/error", "/$defs/error"),
];

#[test]
fn the_schema_and_a_complete_comparison_have_the_same_keys() {
    let (schema, complete): (Value, Value) = (serde_json::from_str(COMPARISON_SCHEMA).unwrap(), complete());
    for (place, definition) in OBJECTS {
        let keys = |value: &Value| {
            let mut keys: Vec<String> = value.as_object().unwrap().keys().cloned().collect();
            keys.sort();
            keys
        };
        let properties = schema.pointer(&format!("{definition}/properties")).unwrap();
        assert_eq!(keys(complete.pointer(place).unwrap()), keys(properties), "{place}");
    }
}

#[test]
fn the_schema_requires_the_keys_that_reading_requires() {
    let (complete, validator) = (complete(), validator());
    for (place, _) in OBJECTS {
        for key in complete.pointer(place).unwrap().as_object().unwrap().keys() {
            // An inconclusive cell without its reason can be read, and is then an open one.
            // A mean without its ratio can be read, and is left out.
            if key == "inconclusive_reason" || (*place, key.as_str()) == ("/mean_changes/0", "ratio") {
                continue;
            }
            let mut value = complete.clone();
            value.pointer_mut(place).unwrap().as_object_mut().unwrap().remove(key).unwrap();
            let readable = serde_json::from_value::<Comparison>(value.clone()).is_ok();
            assert_eq!(validator.is_valid(&value), readable, "{place}/{key}");
        }
    }
}

#[test]
fn words_of_the_schema_are_those_that_are_written_and_shown() {
    let mut value = complete();
    let conclusions = [
        Conclusion::Pass,
        Conclusion::Regression,
        Conclusion::NotComparable,
        Conclusion::Inconclusive,
        Conclusion::RatiosOnly,
    ];
    for conclusion in conclusions {
        value["gate"]["conclusion"] = serde_json::to_value(conclusion).unwrap();
        assert_fits(&value);
    }
    for reason in [
        InconclusiveReason::MaybeSlower,
        InconclusiveReason::MaybeFaster,
        InconclusiveReason::LowerClock,
        InconclusiveReason::NotComparable,
        InconclusiveReason::Disturbed,
    ] {
        value["cells"][0]["inconclusive_reason"] = serde_json::to_value(reason).unwrap();
        assert_fits(&value);
    }
    for severity in Severity::ALL {
        value["environment"][0]["severity"] = serde_json::to_value(severity).unwrap();
        assert_fits(&value);
    }
    let schema: Value = serde_json::from_str(COMPARISON_SCHEMA).unwrap();
    for word in schema.pointer("/$defs/verdict/enum").unwrap().as_array().unwrap() {
        let verdict: Verdict = serde_json::from_value(word.clone()).unwrap();
        assert_eq!(verdict.words().replace(' ', "-"), *word);
    }
}
