//! A worker holds no more memory than its jobs need, and no library that it was not started for.

use crate::leave_out;
use crate::worker::Worker;

#[test]
fn a_worker_holds_one_copy_of_the_operands_of_its_job() {
    for (library, variant) in [(None, "faer"), (Some("openblas"), "openblas"), (Some("mkl"), "mkl")] {
        let mut worker = Worker::start_for(library, 2, false);
        // Matrices as large as the code and the buffers of MKL.
        let (n, idle) = (3000, worker.resident_bytes());
        let prepared = worker.prepare("matmul", variant, n, "hot");
        if prepared["type"] == "skipped" {
            leave_out(variant, &prepared["reason"]);
            continue;
        }
        worker.measure(3, 1.0);
        assert_eq!(worker.reply()["type"], "measured");
        let (matrix, held) = (n * n * 4, worker.resident_bytes() - idle);
        // Two operands and the answer; a library may have buffers of its own.
        assert!(held < 3 * matrix + 3 * matrix / 2, "{variant} holds {held} bytes, matrices of {matrix}");
        worker.rest();
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
