//! Our own kernels touch all memory before they are timed.

use gpubench::measure::stats::median;

use crate::worker::Worker;

/// The variants that do not allocate while they run.
const OWN: [(&str, &str); 7] = [
    ("elementwise", "parallel"),
    ("sin", "parallel"),
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
            assert!(median == 0.0, "{op}/{variant} {cache}: {median} page faults an execution");
        }
    }
}
