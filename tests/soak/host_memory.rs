//! Peak host memory of runs on the CPU, all processes together: what docs/soak.md promises.

use std::collections::BTreeMap;

use gpubench::case::Case;
use gpubench::op;
use gpubench::report::{Outcome, file};
use serde_json::json;

use crate::watch::watch;
use crate::{gpubench, record};

/// Bytes besides operands and answers: the programs, their threads, and the report.
const FIXED: u64 = 100_000_000;

/// Runs the cells, and asserts that their memory is at most one copy of the largest case, one per job, and [`FIXED`].
fn assert_bounded(line: &str) {
    let folder = tempfile::tempdir().unwrap();
    let fixed = "run --backends cpu --threads 2 --samples 5 --no-peaks --quiet --out out";
    let run = watch(&mut gpubench(folder.path(), &format!("{fixed} {line}")), folder.path());
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    let report = file::load(&folder.path().join("out")).unwrap();
    assert!(report.rows.iter().all(|row| row.outcome == Outcome::Measured), "{line}");
    let bytes = |case: &Case| op::find(&case.op).unwrap().footprint(case) as u64;
    let jobs: u64 = report.rows.iter().map(|row| bytes(&row.case)).sum();
    let cases: BTreeMap<u64, u64> = report.rows.iter().map(|row| (row.case.n, bytes(&row.case))).collect();
    let bound = cases.values().max().unwrap() + jobs + FIXED;
    record(&json!({ "memory": line, "peak_bytes": run.peak_of_tree, "bound_bytes": bound }));
    assert!(run.peak_of_tree <= bound, "{line}: {} bytes, at most {bound}", run.peak_of_tree);
}

#[test]
fn a_run_takes_one_copy_of_its_largest_case_and_one_per_job() {
    assert_bounded("--ops matmul --variants faer --dtypes f64 --sizes 2000");
    assert_bounded("--ops matmul --variants faer --dtypes f64 --sizes 500,1000,2000");
    assert_bounded("--ops spmv --variants parallel --dtypes f64 --sizes 4000");
}
