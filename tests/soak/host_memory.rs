//! Peak host memory of runs on the CPU, all processes together: what docs/soak.md promises.

use gpubench::case::Case;
use gpubench::op;
use gpubench::report::{Outcome, file};
use serde_json::json;

use crate::watch::watch;
use crate::{gpubench, record};

/// Bytes besides the operands and the answer of the largest case: the programs, their threads, the report, and jobs of
/// small cases.
const FIXED: u64 = 200_000_000;

/// Runs the cells, and asserts that their memory is at most that of the largest case, once per variant, and [`FIXED`].
fn assert_bounded(line: &str) {
    let folder = tempfile::tempdir().unwrap();
    let fixed = "run --backends cpu --threads 2 --samples 5 --no-peaks --quiet --out out";
    let run = watch(&mut gpubench(folder.path(), &format!("{fixed} {line}")), folder.path());
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    let report = file::load(&folder.path().join("out")).unwrap();
    assert!(report.rows.iter().all(|row| row.outcome == Outcome::Measured), "{line}");
    let bytes = |case: &Case| op::find(&case.op).unwrap().footprint(case) as u64;
    let of_case =
        |case: &Case| report.rows.iter().filter(|row| row.case == *case).count() as u64 * bytes(case);
    let bound = report.rows.iter().map(|row| of_case(&row.case)).max().unwrap() + FIXED;
    record(&json!({ "memory": line, "peak_bytes": run.peak_of_tree, "bound_bytes": bound }));
    assert!(run.peak_of_tree <= bound, "{line}: {} bytes, at most {bound}", run.peak_of_tree);
}

#[test]
fn a_run_needs_the_memory_of_its_largest_case_once_per_variant() {
    assert_bounded("--ops matmul --variants faer --dtypes f64 --sizes 2500");
    assert_bounded("--ops matmul --variants faer --dtypes f64 --sizes 1000,1500,2000");
    assert_bounded("--ops elementwise --variants plain --dtypes f64 --sizes 2000,5000");
    assert_bounded("--ops elementwise --variants plain,ndarray --dtypes f64 --sizes 2000,4000");
    assert_bounded("--ops fft --variants realfft --dtypes f64 --sizes 3000");
    assert_bounded("--ops spgemm --variants gustavson --dtypes f64 --sizes 4000");
}
