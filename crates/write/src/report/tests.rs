//! Tests that every format handles every report.

use gpubench_report::report::{Outcome, example};

use super::*;
use crate::chart::Selection;

/// Reports that have little or nothing to show.
fn hard_reports() -> Vec<(&'static str, Report)> {
    let without = |outcome| {
        let nasty = "a | \"b\", <c>\n\u{1F600} `d` \\ 50%";
        example::of([
            example::without_time("matmul", 1, "cpu", "mkl", outcome, nasty, Some("pip install 'x, y'")),
            example::without_time("svd", 333, "cuda", "gesvd", outcome, "", None),
        ])
    };
    let mut unexplained = without(Outcome::Failed);
    unexplained.rows[0].reason = None;
    vec![
        ("empty", example::empty()),
        ("all skipped", without(Outcome::Skipped)),
        ("incorrect", without(Outcome::Incorrect)),
        ("failed", without(Outcome::Failed)),
        ("failed without a reason", unexplained),
        ("one point", example::of([example::measured("fft", 1, "cpu", "realfft", 2e-9)])),
        ("time zero", example::of([example::measured("fft", 1, "cuda", "r2c", 0.0)])),
        ("unknown op", example::of([example::measured("stencil", 101, "cupy", "roll", 1e-3)])),
        ("everything", example::full()),
    ]
}

#[test]
fn every_format_handles_every_report() {
    for (what, report) in hard_reports() {
        for format in FORMATS.all {
            for all_variants in [false, true] {
                let view = View { tables: true, all_variants, color: true, ..View::default() };
                if format.is_text() {
                    let text = format.text(&report, &view);
                    let text = text.unwrap_or_else(|error| panic!("{format:?} of {what}: {error:#}"));
                    assert!(!text.is_empty(), "{format:?} of {what}");
                } else if all_variants {
                    // Charts show every variant with either setting, and take time to draw.
                    continue;
                }
                let files = format.files(&report, &view);
                let files = files.unwrap_or_else(|error| panic!("{format:?} of {what}: {error:#}"));
                for file in files {
                    assert!(format.is_made_as(&file.name), "{}", file.name);
                    assert!(!file.bytes.is_empty(), "{} of {what}", file.name);
                }
            }
        }
    }
}

#[test]
fn formats_have_unique_names_by_which_they_are_found() {
    let mut names = FORMATS.names();
    let count = names.len();
    assert!(names.iter().all(|name| FORMATS.find(name).is_some_and(|found| found.name == *name)));
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), count);
    assert!(FORMATS.find("pdf").is_none());
}

#[test]
fn a_format_of_several_files_refuses_a_single_output() {
    let report = example::full();
    assert_eq!(SVG.files(&report, &View::default()).unwrap().len(), 4);
    let all = View { charts: Selection::ALL, ..View::default() };
    assert!(SVG.files(&report, &all).unwrap().len() > 4);
    let message = SVG.text(&report, &View::default()).unwrap_err().to_string();
    assert!(message.contains("--out"), "{message}");
    assert!(SVG.files(&example::empty(), &View::default()).unwrap().is_empty());
}

#[test]
fn json_reads_back_as_the_same_report() {
    let report = example::full();
    let text = JSON.text(&report, &View::default()).unwrap();
    assert_eq!(serde_json::from_str::<Report>(&text).unwrap(), report);
}
