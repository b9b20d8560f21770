//! Runs with random faults: every cell has its one outcome, memory follows the report, time and bytes written are linear.

use std::collections::BTreeMap;
use std::path::Path;

use gpubench::report::file;
use serde_json::json;

use crate::reading::assert_readable;
use crate::sweep::{Sweep, assert_outcomes};
use crate::watch::{Watched, watch};
use crate::{gpubench, record};

const MIB: u64 = 1 << 20;

/// Runs the sweep in `folder`, and asserts what must hold for runs of any length.
fn run(sweep: Sweep, folder: &Path) -> Watched {
    let expected = sweep.write(folder);
    let run = watch(&mut gpubench(folder, &sweep.line()), folder);
    // Some cells fail.
    assert_eq!(run.code, Some(1), "{}", run.stderr);
    let report = file::load(&folder.join("out")).unwrap();
    assert_outcomes(&report, &expected);
    assert_eq!(report.rows.len() as u64, sweep.cells());
    assert!(!folder.join("out/journal.jsonl").exists(), "the report has every row");
    let saved = folder.join("out/report.json").metadata().unwrap().len();
    let [quarter, half, end] = [0.25, 0.5, 1.0].map(|share| run.at(share));
    let environment = &report.environment;
    let mut by_outcome = BTreeMap::<&str, u64>::new();
    report.rows.iter().for_each(|row| *by_outcome.entry(row.outcome.name()).or_default() += 1);
    record(&json!({
        "run": sweep.cells(),
        "outcomes": by_outcome,
        "seconds": run.took.as_secs_f64(),
        "report_bytes": saved,
        "peak_bytes": { "parent": run.peak, "quarter": quarter.peak, "end": end.peak, "with_workers": run.peak_of_tree },
        "written_bytes": run.written,
        "started": environment.started,
        "host": environment.host,
        "revision": environment.gpubench_revision,
    }));
    // Of the rows alone: their JSON is longer than they are in memory.
    assert!(end.peak - quarter.peak < saved + 16 * MIB, "{quarter:?} {end:?}");
    let (first_half, second_half) = (half.at.as_secs_f64(), (end.at - half.at).as_secs_f64());
    assert!(second_half < 3.0 * first_half + 4.0, "{first_half} s, then {second_half} s");
    run
}

#[test]
fn a_thousand_cells_with_random_faults_have_one_outcome_each_and_can_be_read() {
    let folder = tempfile::tempdir().unwrap();
    let sweep = Sweep { variants_per_side: 5, sizes: 25, seed: 24, hangs: true };
    assert_eq!(sweep.cells(), 1000);
    run(sweep, folder.path());
    assert_readable(folder.path());
}

#[test]
#[ignore = "takes minutes"]
fn ten_thousand_cells_with_random_faults_have_one_outcome_each_and_can_be_read() {
    let folder = tempfile::tempdir().unwrap();
    let sweep = Sweep { variants_per_side: 10, sizes: 125, seed: 24, hangs: true };
    assert_eq!(sweep.cells(), 10_000);
    run(sweep, folder.path());
    assert_readable(folder.path());
}

#[test]
fn the_bytes_that_saving_writes_are_linear_in_the_cells() {
    let written = |sizes: u64| {
        let folder = tempfile::tempdir().unwrap();
        let sweep = Sweep { variants_per_side: 5, sizes, seed: 1, hangs: false };
        run(sweep, folder.path()).written as f64
    };
    let (few, many) = (written(5), written(20));
    assert!(many < 8.0 * few, "200 cells write {few} bytes, 800 cells {many}");
}
