//! The schema of a comparison: real comparisons fit it, and those that break a promise do not.

use gpubench::compare::{COMPARISON_SCHEMA, Comparison, InconclusiveReason, Verdict, example};
use serde_json::{Value, json};

use super::{Break, assert_fits, assert_rejected, assert_same_keys, assert_words};

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
fn output_fits_the_schema_also_with_later_keys() {
    let examples = [
        example::full(),
        example::passing(),
        example::across_machines(false),
        example::across_machines(true),
    ];
    for comparison in examples {
        assert_fits(COMPARISON_SCHEMA, &serde_json::to_value(comparison).unwrap());
    }
    let mut value = complete();
    value["later"] = json!(1);
    value["gate"]["later"] = json!("x");
    value["cells"][0]["later"] = json!([]);
    assert_fits(COMPARISON_SCHEMA, &value);
    serde_json::from_value::<Comparison>(value).unwrap();
}

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
    assert_rejected(COMPARISON_SCHEMA, &complete(), "", breaks);
}

/// Places of the objects of a comparison, and the definitions of the schema that they fit.
const OBJECTS: &[(&str, &str)] = &[
    ("", ""),
    ("/gate", "gate"),
    ("/counts/0", "count_of_verdict"),
    ("/old/0", "run"),
    ("/method", "method"),
    ("/environment/0", "difference"),
    ("/notes/0", "note"),
    ("/means/0", "mean"),
    ("/mean_changes/0", "mean_change"),
    ("/cells/0", "change"),
    ("/cells/0/old", "measured"),
    ("/cells/0/old/error", "error"),
];

#[test]
fn the_schema_has_the_keys_of_a_complete_comparison_and_requires_those_that_reading_requires() {
    let is_readable = |value: &Value| serde_json::from_value::<Comparison>(value.clone()).is_ok();
    // An inconclusive cell without its reason can be read, and is then an open one. A mean without its ratio can be read, and is
    // left out.
    let except = ["inconclusive_reason", "/mean_changes/0/ratio"];
    assert_same_keys(COMPARISON_SCHEMA, &complete(), OBJECTS, &except, |_, value| is_readable(value));
}

#[test]
fn words_of_the_schema_are_those_that_are_written_and_shown() {
    for (place, words) in [
        ("/gate/conclusion", "pass regression not-comparable inconclusive ratios-only"),
        ("/cells/0/inconclusive_reason", "maybe-slower maybe-faster lower-clock not-comparable disturbed"),
        ("/environment/0/severity", "block inconclusive warn ignore"),
    ] {
        assert_words::<Comparison>(COMPARISON_SCHEMA, &complete(), place, words);
    }
    let schema: Value = serde_json::from_str(COMPARISON_SCHEMA).unwrap();
    for word in schema.pointer("/$defs/verdict/enum").unwrap().as_array().unwrap() {
        let verdict: Verdict = serde_json::from_value(word.clone()).unwrap();
        assert_eq!(verdict.words().replace(' ', "-"), *word);
    }
}
