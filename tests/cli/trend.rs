//! `gpubench trend`: folders of reports, good and bad, through the real program.

use gpubench::report::{Report, file};

use super::{Folder, assert_contains, flat};

/// A folder `nightly` with `count` reports, the GPU's side 1.5 times slower from the `from`-th on.
fn nightly(count: usize, from: usize) -> Folder {
    let folder = Folder::new();
    folder.fair("--ops matmul --sizes 4", "one");
    let report: Report = serde_json::from_value(folder.report("one")).unwrap();
    for index in 0..count {
        let mut report = report.clone();
        report.environment.started = format!("2026-11-{:02}T03:00:00Z", index + 1);
        report.environment.git_revision = Some(format!("{:040x}", 0xabc + index));
        if index >= from {
            report.environment.variables.insert("CUDA_LAUNCH_BLOCKING".into(), "1".into());
        }
        for row in &mut report.rows {
            let slower = if row.variant == "accelerator" && index >= from { 1.5 } else { 1.0 };
            let spread = 1.0 + 0.002 * (index % 3) as f64;
            let execute = row.execute.as_mut().unwrap();
            execute.scale(1e-4 * slower * spread / execute.median_s);
        }
        // The order of names is not that of time.
        let path = folder.path().join(format!("nightly/{}", 90 - index));
        std::fs::create_dir_all(&path).unwrap();
        file::save(&report, &path.join(file::FILE_NAME)).unwrap();
    }
    folder
}

#[test]
fn a_step_is_reported_on_stdout_and_is_no_failure() {
    let folder = nightly(12, 6);
    let before = folder.names();
    let ended = folder.succeeds("trend nightly");
    assert_eq!(ended.stderr, "");
    let summary = "12 reports from 2026-11-01 to 2026-11-12, 2 series: 1 with steps\n";
    assert!(ended.stdout.starts_with(summary), "{}", ended.stdout);
    let expected = [
        "1.50x slower 100 µs -> 150 µs, 2026-11-07 03:00, ",
        "6 reports before, 6 after; changed at the same time: ",
        "variables CUDA_LAUNCH_BLOCKING: unset -> 1 (waits for each kernel)",
        "1 series steady",
    ];
    assert_contains(&flat(&ended.stdout), &expected);
    assert_eq!(folder.names(), before);
}

#[test]
fn a_folder_for_results_gets_files_and_charts_and_keeps_existing_files() {
    let folder = nightly(12, 6);
    folder.succeeds("trend nightly --out made/here").prints(&["1.50x slower"]);
    assert_eq!(folder.names_in("made/here"), ["trend.csv", "trend.json", "trend.md"]);
    folder.succeeds("trend nightly --out made/charts --format png");
    assert_eq!(
        folder.names_in("made/charts"),
        ["trend-1-matmul-f32-n4-sim-host.png", "trend-2-matmul-f32-n4-sim-accelerator.png"]
    );
    folder.refuses("trend nightly --out made/here", "--force");
    folder.succeeds("trend nightly --out made/here --force");
    folder.succeeds("trend nightly --out made/here --format svg");
    // Its own JSON is no report that is missing something.
    let again = folder.succeeds("trend nightly made --format csv");
    assert_eq!((again.stdout.lines().count(), again.stderr.as_str()), (1 + 24, ""));
}

#[test]
fn invalid_requests_are_refused_in_one_line_with_the_next_step() {
    let folder = nightly(1, 9);
    std::fs::create_dir(folder.path().join("empty")).unwrap();
    folder.refuses_each(
        "trend",
        "empty => no report in or below empty: create one with 'gpubench run --out empty/first'
        fair.toml => not a JSON object: not a gpubench report
        => required arguments
        nightly --ops matmull => did you mean 'matmul'
        nightly --ops fft => omit --ops and --variants
        nightly --threshold 5 => percent sign
        nightly --format png => png makes files: name a folder for several with --out
        nightly --format json,csv => one format
        nightly --format html => a trend has no HTML page
        nightly --out fair.toml/x => --out",
    );
}
