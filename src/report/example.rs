//! Small reports for tests: rows of every outcome with plausible figures.

use super::*;
use crate::backend::{Accuracy, Side};
use crate::case::{Cache, Case, DType};
use crate::measure::stats::Summary;
use crate::op::{Checked, Work};

/// A report without rows.
pub fn empty() -> Report {
    let backend = |name: &str, description| BackendState {
        name: name.into(),
        available: true,
        reason: None,
        fix: None,
        startup_s: Some(0.1),
        floors: None,
        description,
        libraries: vec![],
    };
    Report {
        schema_version: SCHEMA_VERSION,
        environment: Environment {
            gpubench_version: "0.1.0".into(),
            argv: vec!["gpubench".into(), "run".into()],
            started: "2026-11-21T10:00:00Z".into(),
            elapsed_s: 12.5,
            host: Host {
                name: "node".into(),
                os: "Linux 6.8".into(),
                cpu: "Intel(R) Xeon(R) Platinum 8480C".into(),
                threads: 16,
                memory_bytes: 128 << 30,
                ..Host::default()
            },
            backends: vec![
                backend("cpu", serde_json::json!({ "threads": 16 })),
                backend("cuda", serde_json::json!({ "device": 0, "name": "NVIDIA H200" })),
            ],
            settings: serde_json::json!({ "samples": 3 }),
            ..Environment::default()
        },
        rows: vec![],
    }
}

/// A measured float32 row; backends other than `cpu` stand on the GPU's side.
pub fn measured(op: &str, n: u64, backend: &str, variant: &str, median_s: f64) -> Row {
    let samples_s = vec![median_s * 0.98, median_s, median_s * 1.03];
    let s = Summary::of(&samples_s).unwrap();
    let side = if backend == "cpu" { Side::Cpu } else { Side::Gpu };
    Row {
        case: Case { op: op.into(), n, dtype: DType::F32, density: None, seed: 1 },
        backend: backend.into(),
        variant: variant.into(),
        cache: Cache::Cold,
        side,
        accuracy: Accuracy::Ieee,
        outcome: Outcome::Measured,
        reason: None,
        fix: None,
        error: Some(Checked { value: 3.1e-7, bound: 1.2e-5 }),
        work: Work { flop: 2.0 * (n as f64).powi(3), bytes: 12.0 * (n as f64).powi(2) },
        inputs: Some("0123456789abcdef".into()),
        phases: Some(Phases {
            inputs_s: 0.01,
            prepare_s: 0.02,
            first_s: 0.03,
            download_s: 0.0,
            check_s: 0.01,
            ..Phases::default()
        }),
        execute: Some(Execute {
            clock: if side == Side::Cpu { Clock::Host } else { Clock::DeviceEvents },
            median_s: s.median,
            min_s: s.min,
            max_s: s.max,
            mad_s: s.mad,
            ci95_s: [s.low, s.high],
            host_samples_s: samples_s.clone(),
            host_median_s: s.median,
            samples_s,
            warmups: 3,
            steady: true,
            ..Execute::default()
        }),
    }
}

/// A row that has no time.
pub fn without_time(
    op: &str,
    n: u64,
    backend: &str,
    variant: &str,
    outcome: Outcome,
    reason: &str,
    fix: Option<&str>,
) -> Row {
    let wrong = outcome == Outcome::Incorrect;
    Row {
        outcome,
        reason: Some(reason.into()),
        fix: fix.map(Into::into),
        error: wrong.then_some(Checked { value: 0.5, bound: 1.2e-5 }),
        execute: None,
        ..measured(op, n, backend, variant, 1.0)
    }
}

/// Two ops, every outcome, and a size at which the CPU wins.
pub fn full() -> Report {
    let mkl = Some("pip install mkl");
    let mut report = empty();
    report.rows = vec![
        measured("matmul", 100, "cpu", "openblas", 7.68e-6),
        measured("matmul", 100, "cuda", "cublas", 12.42e-6),
        without_time("matmul", 100, "cpu", "mkl", Outcome::Skipped, "mkl: not found", mkl),
        measured("matmul", 10000, "cpu", "openblas", 0.7438),
        measured("matmul", 10000, "cuda", "cublas", 40.92e-3),
        without_time("matmul", 10000, "cpu", "mkl", Outcome::Skipped, "mkl: not found", mkl),
        measured("spgemm", 512, "cpu", "gustavson", 90.06e-6),
        without_time(
            "spgemm",
            512,
            "cuda",
            "cusparse",
            Outcome::Failed,
            "cusparseSpGEMM_compute: internal",
            None,
        ),
        without_time("spgemm", 512, "cuda", "hash", Outcome::Incorrect, "error 0.5 above 1.2e-5", None),
    ];
    for row in report.rows.iter_mut().filter(|row| row.case.op == "spgemm") {
        row.case.density = Some(0.01);
    }
    report
}
