//! Tests that every format handles every report.

use gpubench_report::Finding;
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
fn a_format_of_several_files_refuses_a_single_output() {
    let report = example::full();
    assert_eq!(SVG.files(&report, &View::default()).unwrap().len(), 3);
    let all = View { charts: Selection::ALL, ..View::default() };
    assert!(SVG.files(&report, &all).unwrap().len() > 3);
    let message = SVG.text(&report, &View::default()).unwrap_err().to_string();
    assert!(message.contains("name a folder"), "{message}");
    assert!(SVG.files(&example::empty(), &View::default()).unwrap().is_empty());
}

fn markdown_of(report: &Report) -> String {
    MARKDOWN.text(report, &View::default()).unwrap()
}

#[test]
fn the_environment_shows_timer_overhead_checks_and_device_state() {
    let mut report = example::full();
    let execute = report.rows[1].execute.as_mut().unwrap();
    (execute.discarded, execute.throttled, execute.sm_mhz[3]) = (3, 2, 1755.0);
    execute.conditions[1][0].throttle = vec!["sw_power_cap".into()];
    report.environment.build_profile = Some("debug".into());
    let text = markdown_of(&report);
    for line in [
        "- gpubench: 0.1.0, debug build\n",
        "- Frequency governor: performance\n- Simultaneous multithreading: on\n- NUMA nodes: 1\n",
        "- CPU quota: 15.5 CPUs\n- Transparent huge pages: madvise\n- Last-level caches: 105 MiB\n- Load when the run started: 0.40\n",
        "- Clock of the multiprocessors around samples: 1755–1980 MHz\n",
        "- Temperature of the device: 41 °C\n",
        "- Throttled samples: 3 discarded, 2 kept, of 27\n",
        "- Reasons for throttling: sw\\_power\\_cap\n",
        "| cpu | 21.0 ns | - | - | - | 510 µs | 520 µs |\n| cuda | 1.40 µs | 2.70 µs | 6.10 µs | 1.50 µs | - | - |\n",
        "| cuda | 10.00 µs | 11.52 µs | 10.02 µs |\n| cuda | 1.000 ms | 1.002 ms | 1.000 ms |\n",
    ] {
        assert!(text.contains(line), "{line}\n{text}");
    }
}

#[test]
fn arguments_and_paths_stay_on_their_lines() {
    let mut report = example::full();
    report.environment.argv.push("a\n# b `c`".into());
    let path = Some("/lib\n# d `e`".into());
    let library =
        Finding { name: "BLAS".into(), path, version: None, serves: vec![], problem: None, fix: None };
    report.environment.backends[0].libraries.push(library);
    let text = markdown_of(&report);
    assert!(text.contains("- command: `gpubench run a\\n# b 'c'`\n"), "{text}");
    assert!(text.contains("| BLAS | - | /lib # d \\`e\\` |\n"), "{text}");
}
