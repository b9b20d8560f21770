//! A CPU worker as the system sees it: its working threads, the CPUs they are bound to, page faults, and its
//! libraries.

#![allow(clippy::unwrap_used, reason = "a test ends at what it did not expect")]

#[path = "../stubs/compiler.rs"]
mod compiler;
mod environment;
mod neighbours;
mod threads;
mod worker;

use std::process::Command;

use gpubench::measure::stats::median;

use crate::cli::leave_out;
use worker::Worker;

/// Makes a command find the libraries of Python packages installed under the prefixes in `GPUBENCH_TEST_PREFIXES` (at
/// most two, separated by a colon).
fn with_prefixes(command: &mut Command) {
    let prefixes = std::env::var("GPUBENCH_TEST_PREFIXES").unwrap_or_default();
    for (prefix, name) in prefixes.split(':').filter(|p| !p.is_empty()).zip(["VIRTUAL_ENV", "CONDA_PREFIX"]) {
        command.env(name, prefix);
    }
}

/// Variants that do not allocate while they run: all memory is touched before they are timed.
const OWN: [(&str, &str); 7] = [
    ("elementwise", "plain"),
    ("sin", "plain"),
    ("reduction", "one-pass"),
    ("fft", "realfft"),
    ("spmv", "parallel"),
    ("spgemm", "gustavson"),
    ("matmul", "faer"),
];

#[test]
fn own_kernels_have_no_page_faults_while_they_are_sampled() {
    let mut worker = Worker::start(2, false);
    for (op, variant) in OWN {
        for cache in ["cold", "hot"] {
            assert_eq!(worker.prepare(op, variant, 256, cache)["type"], "prepared", "{op}/{variant}");
            worker.measure(21, 30.0);
            let reply = worker.reply();
            let samples = reply["result"]["samples"].as_array().unwrap();
            let faults: Vec<f64> =
                samples.iter().map(|sample| sample["page_faults"]["minor"].as_f64().unwrap()).collect();
            let median = median(&faults).unwrap();
            assert!(median == 0.0, "{op}/{variant} {cache}: {median} page faults per execution");
        }
    }
}

#[test]
fn a_worker_holds_one_copy_of_the_operands_of_its_job() {
    for (library, variant) in [(None, "faer"), (Some("openblas"), "openblas"), (Some("mkl"), "mkl")] {
        let mut worker = Worker::start_for(library, 2, false);
        // Matrices as large as the code and the buffers of MKL.
        let (n, idle) = (3000, worker.resident_bytes());
        let prepared = worker.prepare("matmul", variant, n, "hot");
        if prepared["type"] == "skipped" {
            leave_out(variant, &prepared["reason"].to_string());
            continue;
        }
        worker.measure(1, 1.0);
        assert_eq!(worker.reply()["type"], "measured");
        let (matrix, held) = (n * n * 4, worker.resident_bytes() - idle);
        // Two operands and the answer; a library may have buffers of its own.
        assert!(held < 3 * matrix + 3 * matrix / 2, "{variant} holds {held} bytes, matrices of {matrix}");
        worker.rest();
        worker.measure(1, 1.0);
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
