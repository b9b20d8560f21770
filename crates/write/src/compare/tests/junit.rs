//! JUnit XML says the same as the exit code, and is valid against the schema of Jenkins' xUnit plugin.
//!
//! `tests/schema/junit-10.xsd` is that schema (MIT, Gregory Boissinot) as the source package of pytest 8.4.2 has it; it
//! is a little stricter about times than the plugin's own copy.

use std::process::Command;

use super::xml::{Element, read};
use super::{example, hostile, text};
use gpubench_analysis::compare::result::Conclusion;
use gpubench_analysis::compare::{Comparison, Verdict};

fn elements(comparison: &Comparison) -> Vec<Element> {
    read(&text("junit", comparison))
}

fn count(elements: &[Element], name: &str) -> usize {
    elements.iter().filter(|element| element.name == name).count()
}

#[test]
fn regressions_are_failures_open_cells_errors_and_unjudged_ones_skipped() {
    let found = elements(&example::full());
    let counts = ["testcase", "failure", "error", "skipped", "system-out"].map(|name| count(&found, name));
    assert_eq!(counts, [19, 5, 4, 2, 8]);
    let failure = found.iter().filter(|element| element.name == "failure").nth(2).unwrap();
    assert_eq!(
        (failure.attribute("type"), failure.attribute("message")),
        ("slower", "slower: 1.31x slower (1.28 to 1.34)")
    );
    assert!(failure.text.contains("\nnext: look at what changed between both revisions\n"), "{failure:?}");
    // The reason has the ratio already.
    assert_eq!(failure.text.matches("1.31x").count(), 1, "{failure:?}");
    let case = found.iter().find(|e| e.name == "testcase" && e.attribute("name").contains("fused")).unwrap();
    assert_eq!(case.attribute("classname"), "gpubench.elementwise");
    let time: f64 = case.attribute("time").parse().unwrap();
    assert!((time - 34.528e-6).abs() < 1e-12, "{time}");
}

#[test]
fn a_slower_mean_is_a_failure_and_an_inconclusive_one_passes() {
    let found = elements(&example::full());
    let place =
        |name: &str| found.iter().position(|e| e.name == "testcase" && e.attribute("name") == name).unwrap();
    let failure = found.iter().rfind(|element| element.name == "failure").unwrap();
    let message = "slower: 1.021x slower (1.017 to 1.025); no single cell is slower";
    assert_eq!(failure.attribute("message"), message);
    assert_eq!(found[place("mean/all")].attribute("classname"), "gpubench.mean");
    assert!(
        found.iter().any(|e| e.name == "system-out" && e.text.starts_with("inconclusive: 1.010x slower"))
    );
    assert!(place("mean/cpu") < place("mean/cpu/matmul"));
}

#[test]
fn counts_in_attributes_are_those_of_the_elements() {
    let found = elements(&example::full());
    let all = found.last().unwrap();
    let attributes =
        ["tests", "failures", "errors"].map(|name| all.attribute(name).parse::<usize>().unwrap());
    assert_eq!(attributes, ["testcase", "failure", "error"].map(|name| count(&found, name)));
    for name in ["tests", "failures", "errors"] {
        let suites = found.iter().filter(|element| element.name == "testsuite");
        let sum: usize = suites.map(|suite| suite.attribute(name).parse::<usize>().unwrap()).sum();
        assert_eq!(sum.to_string(), all.attribute(name));
    }
}

#[test]
fn something_fails_or_is_in_error_exactly_when_the_exit_code_is_not_zero() {
    let conclusions = [
        (Conclusion::Pass, 0),
        (Conclusion::Regression, 1),
        (Conclusion::NotComparable, 2),
        (Conclusion::Inconclusive, 3),
        (Conclusion::RatiosOnly, 0),
    ];
    for (conclusion, exit_code) in conclusions {
        for accepted in [vec![], vec![Verdict::Missing], vec![Verdict::Missing, Verdict::Inconclusive]] {
            for only in [None, Some(Verdict::Missing), Some(Verdict::Same)] {
                let mut comparison = example::full();
                comparison.cells.retain(|cell| !cell.verdict.is_regression() || exit_code == 1);
                comparison.mean_changes.retain(|mean| !mean.is_regression() || exit_code == 1);
                comparison.cells.retain(|cell| only.is_none_or(|only| cell.verdict == only));
                (comparison.gate.conclusion, comparison.gate.exit_code) = (conclusion, exit_code);
                comparison.gate.accepted = accepted.clone();
                let found = elements(&comparison);
                let fails = count(&found, "failure") + count(&found, "error") > 0;
                assert_eq!(fails, exit_code != 0, "{conclusion:?} {accepted:?} {only:?}");
            }
        }
    }
}

#[test]
fn accepted_cells_are_skipped_and_say_so() {
    let mut comparison = example::full();
    comparison.gate.accepted = vec![Verdict::Missing];
    let found = elements(&comparison);
    assert_eq!((count(&found, "error"), count(&found, "skipped")), (3, 3));
    let messages: Vec<&str> = found
        .iter()
        .filter(|element| element.name == "skipped")
        .map(|element| element.attribute("message"))
        .collect();
    assert!(messages.contains(&"accepted: missing: skipped: mkl: not found"), "{messages:?}");
}

#[test]
fn a_blocked_environment_is_an_error_and_ratios_alone_are_none() {
    let blocked = elements(&example::across_machines(false));
    let error = blocked.iter().find(|element| element.name == "error").unwrap();
    assert_eq!(error.attribute("type"), "not-comparable");
    assert!(error.text.contains("\nblock: gpu-model: NVIDIA H100, now NVIDIA H200\n"), "{error:?}");
    assert_eq!((count(&blocked, "error"), count(&blocked, "failure")), (1, 0));
    let allowed = elements(&example::across_machines(true));
    assert_eq!(
        (count(&allowed, "error"), count(&allowed, "failure"), count(&allowed, "skipped")),
        (0, 0, 19)
    );
}

fn required(what: &str) -> bool {
    std::env::var("GPUBENCH_REQUIRE").is_ok_and(|list| list.split(',').any(|word| word == what))
}

#[expect(clippy::print_stderr, reason = "a skipped test says why")]
#[test]
fn junit_is_valid_against_the_schema_of_jenkins() {
    let folder = tempfile::tempdir().unwrap();
    let schema = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/schema/junit-10.xsd");
    let nothing = example::with_cells(example::passing(), vec![]);
    let nasty = hostile::with_text("a\x1b[31m\x00<b>&amp;\"'\u{ffff}\u{9b}]]>\r\n\tµ\u{1F600}");
    let comparisons = [
        example::full(),
        example::passing(),
        example::across_machines(false),
        example::across_machines(true),
        nothing,
        nasty,
    ];
    for (index, comparison) in comparisons.iter().enumerate() {
        let path = folder.path().join(format!("{index}.xml"));
        std::fs::write(&path, text("junit", comparison)).unwrap();
        let output = match Command::new("xmllint")
            .args(["--noout", "--nonet", "--schema", schema])
            .arg(&path)
            .output()
        {
            Ok(output) => output,
            Err(error) => {
                assert!(!required("xmllint"), "xmllint: {error}; install libxml2-utils");
                return eprintln!("skipped: xmllint: {error}; install libxml2-utils");
            }
        };
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
}
