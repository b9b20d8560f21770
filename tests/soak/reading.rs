//! Every command that reads reports, on large reports and on many: time and memory.

use std::path::Path;
use std::time::Duration;

use serde_json::json;

use crate::sweep::Sweep;
use crate::watch::watch;
use crate::{gpubench, record};

const MIB: u64 = 1 << 20;

/// Bounds for a report of 10 000 cells, and for 500 reports.
const MAX_TIME: Duration = Duration::from_secs(120);
const MAX_PEAK: u64 = 500 * MIB;

/// Copies the report of `from` to `to`, with another start.
fn copy_report(folder: &Path, from: &str, to: &str, started: &str) {
    let text = std::fs::read_to_string(folder.join(from).join("report.json")).unwrap();
    let key = "\"started\": \"";
    let start = text.find(key).unwrap() + key.len();
    let end = start + text[start..].find('"').unwrap();
    std::fs::create_dir_all(folder.join(to)).unwrap();
    let copy = format!("{}{started}{}", &text[..start], &text[end..]);
    std::fs::write(folder.join(to).join("report.json"), copy).unwrap();
}

/// Runs commands that must succeed within the bounds. Returns their peak memory.
fn assert_within_bounds(folder: &Path, lines: &[&str]) -> u64 {
    let mut peak = 0;
    for line in lines {
        let read = watch(&mut gpubench(folder, line), folder);
        // Without the names of hundreds of reports.
        let (shown, _) = line.split_once(" many/003").unwrap_or((line, ""));
        record(&json!({ "read": shown, "seconds": read.took.as_secs_f64(), "peak_bytes": read.peak }));
        // Cells without a time are no error of a reading command; compare and baseline report them.
        assert!(read.code.is_some_and(|code| code != 2), "{line}: {}", read.stderr);
        // The reasons of cells name the panics that the script asks for.
        let own = read.stderr.replace("panicked: a simulated panic", "");
        assert!(!own.contains("panicked"), "{line}: {}", read.stderr);
        assert!(read.took < MAX_TIME, "{line}: {:?}", read.took);
        assert!(read.peak < MAX_PEAK, "{line}: {} MiB", read.peak / MIB);
        peak = peak.max(read.peak);
    }
    peak
}

/// Asserts that every reading command reads the report in `out` and a copy of it within the bounds.
pub(crate) fn assert_readable(folder: &Path) {
    for (copy, started) in [("second", "2026-01-01"), ("third", "2026-01-02")] {
        copy_report(folder, "out", copy, &format!("{started}T00:00:00Z"));
    }
    let lines = [
        "show out",
        "show out --tables --all-variants",
        "show out --format json",
        "show out --format csv",
        "show out --format md",
        "show out --format html",
        "show out --versus sim/cpu1:sim/gpu1",
        "report out --out page.html",
        "plot out --charts all --format png,svg --out charts",
        "trend out second third",
        "merge out second --out fleet.json",
        "show fleet.json",
        "compare out second",
        "compare --plan out second third",
        "baseline save soak --from out second third --accept-noisy",
        "baseline list",
    ];
    assert_within_bounds(folder, &lines);
}

/// Makes `count` reports of 80 cells in `many`.
fn make_reports(folder: &Path, count: u64) {
    let sweep = Sweep { variants_per_side: 5, sizes: 2, seed: 3, hangs: false };
    sweep.write(folder);
    watch(&mut gpubench(folder, &sweep.line()), folder);
    for index in 0..count {
        let started =
            format!("20{:02}-{:02}-{:02}T00:00:00Z", 10 + index / 336, 1 + index / 28 % 12, 1 + index % 28);
        copy_report(folder, "out", &format!("many/{index:03}"), &started);
    }
}

const READ_MANY: [&str; 9] = [
    "trend many",
    "trend many --out trend",
    "report $ALL --out page.html",
    "plot $ALL --out charts",
    "merge $ALL --out fleet.json",
    "show fleet.json",
    "show fleet.json --format html",
    "report fleet.json --out fleet.html",
    "plot fleet.json --out fleet-charts",
];

/// Returns the command lines with the names of all reports.
fn lines_of(count: u64) -> Vec<String> {
    let all: Vec<String> = (0..count).map(|index| format!("many/{index:03}")).collect();
    READ_MANY.iter().map(|line| line.replace("$ALL", &all.join(" "))).collect()
}

#[test]
fn a_merged_file_is_not_in_memory_as_text() {
    let folder = tempfile::tempdir().unwrap();
    make_reports(folder.path(), 200);
    let lines = lines_of(200);
    let merge: Vec<&str> = lines[4..6].iter().map(String::as_str).collect();
    let peak = assert_within_bounds(folder.path(), &merge);
    let length = folder.path().join("fleet.json").metadata().unwrap().len();
    // What is parsed takes 1.4 times the memory of its text, which has equal samples of both clocks once, and merge reads
    // back what it has written: 2.8 times, and 17 MiB for the program. Text in memory would be one time more.
    assert!(peak < 3 * length + 24 * MIB, "{} MiB for a file of {} MiB", peak / MIB, length / MIB);
}

#[test]
#[ignore = "takes minutes"]
fn five_hundred_reports_are_read_within_the_bounds() {
    let folder = tempfile::tempdir().unwrap();
    make_reports(folder.path(), 500);
    let lines = lines_of(500);
    assert_within_bounds(folder.path(), &lines.iter().map(String::as_str).collect::<Vec<_>>());
}
