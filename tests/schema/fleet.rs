//! The schema of a merged file: valid files fit it, and broken ones do not.

use gpubench::fleet::{SCHEMA, Source, file, merge};
use gpubench::report::{Report, SCHEMA as REPORT_SCHEMA};
use serde_json::{Value, json};

use super::reports::{complete, report};
use super::{Break, assert_fits, assert_rejected, remove};

/// Returns the schema, with the report schema that it refers to.
fn bundled() -> String {
    let mut schema: Value = serde_json::from_str(SCHEMA).unwrap();
    assert_eq!(schema["$defs"]["report"]["then"], json!({ "$ref": "report-v4.json" }));
    // Bundled as the specification says: under its own name, so that internal references stay internal.
    let mut inner: Value = serde_json::from_str(REPORT_SCHEMA).unwrap();
    inner["$id"] = json!("https://gpubench.invalid/report-v4.json");
    schema["$id"] = json!("https://gpubench.invalid/fleet-v1.json");
    schema["$defs"]["inner"] = inner;
    schema.to_string()
}

fn fleet() -> Value {
    let source = |(host, mut report): (&str, Report)| {
        report.environment.host.name = host.into();
        Source { origin: host.into(), name: None, report }
    };
    let merged = merge([("a", report()), ("b", complete())].map(source).to_vec(), None).unwrap();
    serde_json::from_slice(&file::to_json(&merged).unwrap()).unwrap()
}

#[test]
fn what_is_merged_fits_the_schema_and_so_does_a_member_of_the_older_layout() {
    let mut fleet = fleet();
    assert_fits(&bundled(), &fleet);
    // Later keys are allowed.
    (fleet["later"], fleet["members"][0]["later"]) = (json!(1), json!([]));
    assert_fits(&bundled(), &fleet);
    let mut older = fleet;
    older["members"][0]["report"] =
        serde_json::from_str(include_str!("../../crates/report/src/report/testdata/layout-1.json")).unwrap();
    assert_fits(&bundled(), &older);
}

#[test]
fn fleets_that_break_a_promise_are_rejected() {
    let breaks: &[(&str, Break)] = &[
        ("no version", |v| remove(v, "fleet_version")),
        ("no members", |v| v["members"] = json!([])),
        ("a member without a name", |v| remove(&mut v["members"][0], "name")),
        ("a name with an escape", |v| v["members"][0]["name"] = json!("a\u{1b}[31m")),
        ("a report of an unknown layout", |v| v["members"][0]["report"]["schema_version"] = json!(5)),
        ("a report that breaks a promise", |v| v["members"][1]["report"]["rows"][0]["n"] = json!(0)),
    ];
    assert_rejected(&bundled(), &fleet(), "", breaks);
}
