//! A worker that is not running leaves memory to the next one.

use crate::leave_out;
use crate::worker::Worker;

#[test]
fn a_worker_at_rest_keeps_its_jobs_and_no_operands() {
    for (library, variant) in [(None, "faer"), (Some("openblas"), "openblas"), (Some("mkl"), "mkl")] {
        let mut worker = Worker::start_for(library, 2, false);
        let n = 1500;
        let prepared = worker.prepare("matmul", variant, n, "hot");
        if prepared["type"] == "skipped" {
            leave_out(variant, &prepared["reason"]);
            continue;
        }
        worker.measure(3, 1.0);
        assert_eq!(worker.reply()["type"], "measured");
        let held = worker.resident_bytes();
        worker.rest();
        // The job keeps its memory.
        let operands = 2 * n * n * 4;
        let kept = worker.resident_bytes();
        assert!(kept + operands * 9 / 10 < held, "{variant}: {held} bytes before, {kept} at rest");
        worker.measure(3, 1.0);
        assert_eq!(worker.reply()["type"], "measured", "its jobs are kept");
    }
}

#[test]
fn a_worker_refuses_variants_of_a_library_that_it_was_not_started_for() {
    for (started_for, library, variant) in [(None, "openblas", "openblas"), (Some("openblas"), "mkl", "mkl")]
    {
        let refused = Worker::start_for(started_for, 1, false).prepare("matmul", variant, 8, "hot");
        assert_eq!(refused["type"], "failed", "{refused}");
        let reason = refused["reason"].as_str().unwrap();
        assert!(reason.contains(&format!("\"library\": \"{library}\"")), "{reason}");
    }
}
