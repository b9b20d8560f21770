use serde_json::Value;

use crate::report::file::{self, FILE_NAME};
use crate::report::{Report, example};

fn load(text: &[u8]) -> Result<Report, String> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(FILE_NAME);
    std::fs::write(&path, text).unwrap();
    file::load(&path).map_err(|error| error.to_string())
}

/// Returns the refusal of a report in which `place` holds `value`.
fn refusal(place: &str, value: Value) -> String {
    let mut report = serde_json::to_value(example::with_pinned(example::full(), 5.0)).unwrap();
    let (parent, key) = place.rsplit_once('/').unwrap();
    let parent = report.pointer_mut(parent).unwrap_or_else(|| panic!("no {parent}"));
    match parent {
        Value::Array(items) => items[key.parse::<usize>().unwrap()] = value,
        fields => fields[key] = value,
    }
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

/// A place in a report, a value that it must not hold, and the refusal.
const CONTRADICTIONS: &str = r#"/environment/started | "yesterday" | environment: started "yesterday" is not a time such as
/environment/elapsed_s | -1 | environment: elapsed_s contains -1e0, which is not a valid time
/environment/backends/0/peaks | { "copy": -1 } | environment: the peaks of "cpu" include a rate outside 1e-100 to 1e100 per second
/environment/backends/0/peaks | { "copy": 1e-300 } | environment: the peaks of "cpu" include a rate outside 1e-100 to 1e100 per second
/rows/3/n | 0 | : n is 0
/rows/6/density | 0.0 | : density is 0, but must be above 0
/rows/0/work/flop | -2.0 | row 0, matmul N=100 f32 cpu/openblas cold: work is negative
/rows/0/work/bytes | 1e300 | matmul N=100 f32 cpu/openblas cold: work is above 1e100
/rows/0/outcome | "incorrect" | outcome is incorrect, but execute holds a time
/rows/0/execute/samples_s | [] | : execute: samples_s is empty
/rows/0/execute/samples_s/3 | -1e-6 | samples_s contains -1e-6, which is not a valid time in seconds
/rows/0/execute/samples_s/3 | 1e300 | samples_s contains 1e300
/rows/0/execute/host_samples_s | [1.0] | host_samples_s has 1 entries, samples_s has 12
/rows/1/execute/sm_mhz | [1980] | : execute: sm_mhz has 1 entries
/rows/0/execute/context_switches | [1] | switches has 1 entries
/rows/0/execute/page_faults/minor | -1.0 | page_faults contains a negative count
/rows/0/execute/rounds | [0, 1] | rounds has 2 entries
/rows/0/execute/rounds/0 | 4294967295 | rounds contains a number above 1000000
/rows/1/execute/sm_mhz/0 | -1.0 | sm_mhz contains a value that is not a clock rate
/rows/0/execute/median_s | 1.0 | median_s is 1e0, but the samples give
/rows/0/execute/min_s | 1e-9 | min_s is 1e-9, but the samples give
/rows/1/execute/host_median_s | 1.0 | host_median_s is 1e0, but the samples give
/rows/0/execute/samples_s/3 | 0.0 | samples_s contains a time of 0
/rows/0/error/value | 1.0 | outcome is measured, but the answer is wrong: error 1.00e0
/rows/0/execute/median_s | 2e9 | median_s contains 2e9
/rows/1/execute/event_uncertainty_s | -1e-8 | event_uncertainty_s contains -1e-8
/rows/0/execute/ci95_s | [1.0, 2.0] | lies outside ci95_s, 1 to 2
/rows/0/execute/ci95_s/0 | 1e-3 | lies outside ci95_s
/rows/1/execute/host_median_s | -0.5 | host_median_s contains -5e-1
/rows/0/execute/mad_s | 5.0 | mad_s is 5e0, but the samples give
/rows/0/error/value | -1.0 | cpu/openblas cold: error is negative
/rows/1/phases/first_s | -5.0 | phases: first_s contains -5e0
/rows/1/phases/upload/host_s/0 | 0.0 | phases: upload claims
/rows/1/phases/upload/host_s/0 | -1e-3 | phases: upload contains -1e-3
/rows/1/phases/pinned/upload/host_s/0 | 0.0 | phases: pinned.upload claims
/rows/1/phases/pinned/download/host_s/0 | -1e-3 | phases: pinned.download contains -1e-3
/rows/0/threads | 0 | : threads is 0"#;

#[test]
fn reports_that_contradict_themselves_are_refused_with_row_and_key() {
    for line in CONTRADICTIONS.lines() {
        let (place, rest) = line.split_once(" | ").unwrap();
        let (value, expected) = rest.split_once(" | ").unwrap();
        let message = refusal(place, serde_json::from_str(value).unwrap());
        assert!(message.contains(expected), "{place}: {message}");
        assert!(message.ends_with("; correct it or run the sweep again"), "{message}");
    }
    let twice = refusal("/rows/1", serde_json::to_value(&example::full().rows[0]).unwrap());
    assert!(twice.contains("rows 0 and 1 describe the same cell, matmul N=100 f32 cpu/openblas cold"));
}

#[test]
fn values_that_readers_can_ignore_are_accepted() {
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
fn every_report_in_the_repository_is_valid() {
    let mut folders = vec![std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../results")];
    let mut loaded = 0;
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap().map(Result::unwrap) {
            if entry.file_type().unwrap().is_dir() {
                folders.push(entry.path());
            } else if [FILE_NAME, file::COMPRESSED_NAME].iter().any(|name| entry.file_name() == *name) {
                file::load(&entry.path()).unwrap();
                loaded += 1;
            }
        }
    }
    assert!(loaded >= 3, "{loaded} reports");
}
