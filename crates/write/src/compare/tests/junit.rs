//! JUnit XML says the same as the exit code, and is valid against the schema of Jenkins' xUnit plugin.
//!
//! `tests/schema/junit-10.xsd` is that schema (MIT, Gregory Boissinot) as the source package of pytest 8.4.2 has it; it
//! is a little stricter about times than the plugin's own copy.

use std::process::Command;

use super::{example, hostile, text};
use gpubench_analysis::compare::result::Conclusion;
use gpubench_analysis::compare::{Comparison, Verdict};

/// The elements of that name, with attributes or without.
fn count(xml: &str, name: &str) -> usize {
    xml.matches(&format!("<{name} ")).count() + xml.matches(&format!("<{name}>")).count()
}

#[test]
fn regressions_are_failures_open_cells_errors_and_unjudged_ones_skipped() {
    let xml = text("junit", &example::full());
    let counts = ["testcase", "failure", "error", "skipped", "system-out"].map(|name| count(&xml, name));
    assert_eq!(counts, [19, 5, 4, 2, 8]);
    for expected in [
        "<testsuites name=\"gpubench compare\" tests=\"19\" failures=\"5\" errors=\"4\">",
        "<failure type=\"slower\" message=\"slower: 1.31x slower (1.28 to 1.34)\">",
        "\nnext: look at what changed between both revisions\n",
        "<testcase classname=\"gpubench.elementwise\" name=\"elementwise/N=4096/f32/cuda/fused/cold\" time=\"0.0000345",
        "name=\"mean/all\"><failure type=\"slower\" message=\"slower: 1.021x slower (1.017 to 1.025)\">",
        "<system-out>inconclusive: 1.010x slower",
    ] {
        assert!(xml.contains(expected), "{expected}: {xml}");
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
                let xml = text("junit", &comparison);
                let fails = count(&xml, "failure") + count(&xml, "error") > 0;
                assert_eq!(fails, exit_code != 0, "{conclusion:?} {accepted:?} {only:?}");
            }
        }
    }
}

#[test]
fn accepted_cells_are_skipped_and_a_blocked_environment_is_an_error() {
    let counts = |comparison: &Comparison| {
        let xml = text("junit", comparison);
        (["error", "failure", "skipped"].map(|name| count(&xml, name)), xml)
    };
    let mut comparison = example::full();
    comparison.gate.accepted = vec![Verdict::Missing];
    let (found, xml) = counts(&comparison);
    assert_eq!(found, [3, 5, 3]);
    assert!(xml.contains("<skipped message=\"accepted: missing: skipped: mkl: not found\">"), "{xml}");
    let (found, xml) = counts(&example::across_machines(false));
    assert_eq!(found[..2], [1, 0]);
    assert!(xml.contains("\nblock: gpu-model: NVIDIA H100, now NVIDIA H200\n"), "{xml}");
    assert_eq!(counts(&example::across_machines(true)).0, [0, 0, 19]);
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
    let nasty = hostile::with_text("a<b>&amp;\"']]>µ\u{1F600}");
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
