//! What every exporter must do, whatever the report holds.

use gpubench_model::report::{Outcome, example};

use super::*;

/// Reports that have little or nothing to show.
fn hard_reports() -> Vec<(&'static str, Report)> {
    let with = |rows| Report { rows, ..example::empty() };
    let without = |outcome| {
        let nasty = "a | \"b\", <c>\n\u{1F600} `d` \\ 50%";
        with(vec![
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
        ("one point", with(vec![example::measured("fft", 1, "cpu", "realfft", 2e-9)])),
        ("time zero", with(vec![example::measured("fft", 1, "cuda", "r2c", 0.0)])),
        ("unknown op", with(vec![example::measured("stencil", 101, "cupy", "roll", 1e-3)])),
        ("everything", example::full()),
    ]
}

#[test]
fn every_exporter_handles_every_report() {
    for (what, report) in hard_reports() {
        for exporter in EXPORTERS {
            for all_variants in [false, true] {
                let is_image = ["png", "svg"].contains(&exporter.name());
                // Charts show every variant whatever is asked for, and take time to draw.
                if is_image && all_variants {
                    continue;
                }
                let files = exporter
                    .files(&report, &View { tables: true, all_variants, color: true, ..View::default() });
                let files = files.unwrap_or_else(|error| panic!("{} of {what}: {error:#}", exporter.name()));
                assert!(is_image || files.len() == 1, "{} of {what}", exporter.name());
                for file in files {
                    assert!(file.name.ends_with(&format!(".{}", exporter.extension())), "{}", file.name);
                    assert!(!file.bytes.is_empty(), "{} of {what}", file.name);
                }
            }
        }
    }
}

#[test]
fn exporters_have_unique_names_by_which_they_are_found() {
    let names: Vec<&str> = EXPORTERS.iter().map(|exporter| exporter.name()).collect();
    assert_eq!(names, ["table", "json", "csv", "md", "html", "png", "svg"]);
    assert!(names.iter().all(|name| find(name).is_some_and(|found| found.name() == *name)));
    assert!(find("pdf").is_none());
}

#[test]
fn a_format_of_several_files_refuses_a_single_output() {
    let report = example::full();
    let message = find("svg").unwrap().write(&report, &View::default(), &mut vec![]).unwrap_err().to_string();
    assert!(message.contains("5 files") && message.contains("--out"), "{message}");
    let message = find("svg").unwrap().write(&example::empty(), &View::default(), &mut vec![]).unwrap_err();
    assert!(message.to_string().contains("nothing measured"));
}

#[test]
fn json_reads_back_as_the_same_report() {
    let report = example::full();
    let mut bytes = vec![];
    find("json").unwrap().write(&report, &View::default(), &mut bytes).unwrap();
    assert_eq!(serde_json::from_slice::<Report>(&bytes).unwrap(), report);
}
