//! JUnit XML for Jenkins and GitLab: one suite per op and one for the geometric means, one test case per cell or mean.
//!
//! A test case fails or is in error exactly if the exit code is not 0, so test results and pipeline agree. The output
//! is valid against the schema of Jenkins' xUnit plugin.

use std::fmt::Write;

use gpubench_analysis::compare::result::{
    Change, Comparison, Conclusion, JudgedSubject, Judgement, MeanChange,
};
use gpubench_analysis::compare::{Severity, Verdict};
use gpubench_document::comparison::phrases;
use gpubench_report::format::Makes;
use gpubench_text::escape::xml as escape;
use gpubench_text::grouped::grouped;
use gpubench_text::words::json_word;

use super::ComparisonFormat;
use super::names::names;

pub(crate) static JUNIT: ComparisonFormat = ComparisonFormat {
    name: "junit",
    summary: "JUnit XML, a test case per cell, for Jenkins and GitLab",
    by_default: false,
    makes: Makes::Text("compare.junit.xml", |comparison, _| Ok(text(comparison))),
};

enum TestOutcome {
    Passed,
    /// Worse.
    Failure,
    /// Missing or inconclusive.
    Error,
    Skipped,
}

struct TestCase {
    /// The suite it belongs to: an op, or `compare` for the comparison as a whole.
    suite: String,
    name: String,
    /// Time of NEW, in seconds.
    time: Option<f64>,
    outcome: TestOutcome,
    kind: String,
    message: String,
    details: Vec<String>,
}

fn text(comparison: &Comparison) -> String {
    let names = names(comparison);
    let mut cases: Vec<TestCase> =
        comparison.cells.iter().zip(names).map(|(change, name)| cell(comparison, change, name)).collect();
    cases.extend(comparison.mean_changes.iter().map(|mean_change| mean(comparison, mean_change)));
    let is_explained =
        cases.iter().any(|case| matches!(case.outcome, TestOutcome::Failure | TestOutcome::Error));
    cases.insert(0, whole(comparison, is_explained));
    let all: Vec<&TestCase> = cases.iter().collect();
    let mut text = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    let _ = writeln!(text, "<testsuites name=\"gpubench compare\" {}>", counts(&all));
    for (suite, cases) in grouped(cases.iter().map(|case| (&case.suite, case))) {
        let skipped = cases.iter().filter(|case| matches!(case.outcome, TestOutcome::Skipped)).count();
        let (suite, counts) = (escape(suite), counts(&cases));
        let _ = writeln!(text, "  <testsuite name=\"{suite}\" {counts} skipped=\"{skipped}\">");
        cases.iter().for_each(|case| text.push_str(&case_text(case)));
        text.push_str("  </testsuite>\n");
    }
    text + "</testsuites>\n"
}

/// Returns the test case of the comparison as a whole. It is in error if the sides cannot be compared, or if no other
/// test case explains an exit code other than 0.
fn whole(comparison: &Comparison, is_explained: bool) -> TestCase {
    let gate = &comparison.gate;
    let outcome = match gate.conclusion {
        Conclusion::NotComparable => TestOutcome::Error,
        Conclusion::RatiosOnly => TestOutcome::Skipped,
        _ if gate.exit_code != 0 && !is_explained => TestOutcome::Error,
        _ => TestOutcome::Passed,
    };
    let differences = comparison.environment.iter().filter(|found| found.severity != Severity::Ignore);
    let differences = differences.map(|difference| {
        let severity = difference.severity.name();
        format!("{severity}: {}: {}, now {}", difference.fact, difference.old, difference.new)
    });
    let next = gate.next.iter().map(|next| format!("next: {next}"));
    TestCase {
        suite: "compare".into(),
        name: "comparable".into(),
        time: None,
        outcome,
        kind: json_word(&gate.conclusion),
        message: gate.reason.clone(),
        details: next.chain(differences).collect(),
    }
}

fn cell(comparison: &Comparison, change: &Change, name: String) -> TestCase {
    let outcome = match change.verdict {
        verdict if verdict.is_regression() && comparison.gate.exit_code != 0 => TestOutcome::Failure,
        Verdict::NotMeasured | Verdict::NotJudged => TestOutcome::Skipped,
        _ if comparison.blocks_pass(change) => TestOutcome::Error,
        _ if change.is_open() => TestOutcome::Skipped,
        _ => TestOutcome::Passed,
    };
    let accepted =
        if change.is_open() && matches!(outcome, TestOutcome::Skipped) { "accepted: " } else { "" };
    let case = judged(change.cell().case.op.clone(), name, outcome, change);
    TestCase { message: format!("{accepted}{}", case.message), ..case }
}

/// Returns the test case of a geometric mean. An inconclusive mean passes, because it does not affect the gate.
fn mean(comparison: &Comparison, change: &MeanChange) -> TestCase {
    let outcome = match change.verdict {
        Verdict::Slower if comparison.gate.exit_code != 0 => TestOutcome::Failure,
        Verdict::NotJudged => TestOutcome::Skipped,
        _ => TestOutcome::Passed,
    };
    judged("mean".into(), change.key(), outcome, change)
}

/// Returns a test case whose details are the next step, the change and the p-value with the threshold, as far as they are known.
fn judged<T: JudgedSubject>(
    suite: String,
    name: String,
    outcome: TestOutcome,
    judged: &Judgement<T>,
) -> TestCase {
    let p = |p| format!("p: {}; threshold: {}", phrases::p_value(p), phrases::percent(judged.threshold));
    let figures = judged.change().filter(|_| phrases::reason_after_change(judged).is_none());
    let details = [
        judged.next.as_ref().map(|next| format!("next: {next}")),
        figures.map(|figures| format!("change: {}", figures.with_interval())),
        judged.p_corrected.map(p),
    ];
    TestCase {
        suite,
        name,
        time: judged.new.as_ref().map(|measured| measured.median_s),
        outcome,
        kind: json_word(&judged.verdict),
        message: format!("{}: {}", phrases::verdict(judged), judged.reason),
        details: details.into_iter().flatten().collect(),
    }
}

/// Formats the attributes that count test cases.
fn counts(cases: &[&TestCase]) -> String {
    let failures = cases.iter().filter(|case| matches!(case.outcome, TestOutcome::Failure)).count();
    let errors = cases.iter().filter(|case| matches!(case.outcome, TestOutcome::Error)).count();
    format!("tests=\"{}\" failures=\"{failures}\" errors=\"{errors}\"", cases.len())
}

fn case_text(case: &TestCase) -> String {
    let time = case.time.map(|time| format!(" time=\"{time}\"")).unwrap_or_default();
    let (suite, name, kind) = (escape(&case.suite), escape(&case.name), &case.kind);
    let message = escape(&case.message);
    // GitLab shows the text of an element, Jenkins also its message.
    let lines: Vec<String> =
        std::iter::once(&case.message).chain(&case.details).map(|line| escape(line)).collect();
    let lines = lines.join("\n");
    let result = match case.outcome {
        TestOutcome::Passed => format!("<system-out>{lines}</system-out>"),
        TestOutcome::Failure => format!("<failure type=\"{kind}\" message=\"{message}\">{lines}</failure>"),
        TestOutcome::Error => format!("<error type=\"{kind}\" message=\"{message}\">{lines}</error>"),
        TestOutcome::Skipped => format!("<skipped message=\"{message}\">{lines}</skipped>"),
    };
    format!("    <testcase classname=\"gpubench.{suite}\" name=\"{name}\"{time}>{result}</testcase>\n")
}
