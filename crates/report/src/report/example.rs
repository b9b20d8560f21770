//! Helpers of tests: small reports with rows of every outcome and plausible figures, and the number of trials.

use super::*;
use crate::case::{Cache, Case, Cell, DType};
use crate::measure::drift::Drift;
use crate::measure::grade::{Grade, Warning, WarningKind};
use crate::measure::modality::Modes;
use crate::measure::sampling::Sampling;
use crate::measure::stopping::Reason;
use crate::{
    Accuracy, BusRates, Checked, ClockCheck, Compile, Conditions, HostMemory, PageFaults, Peaks,
    PinnedCopies, Side, ThreadSpeeds, TimerOverhead, Transfer, Work,
};

/// Time that events add to the work between them, in seconds.
const EVENTS_S: f64 = 1.5e-6;

/// Twelve samples as shares of their median, whose interval has a half width of 0.1 %.
const SHAPE: [f64; 12] = [0.997, 0.998, 0.999, 0.9995, 0.9998, 1.0, 1.0, 1.0005, 1.0008, 1.001, 1.004, 1.02];

/// Returns the number of trials of a test that takes seconds with `full` ones: a tenth of them, unless
/// `GPUBENCH_FULL_TRIALS` is set.
pub fn trials(full: u64) -> u64 {
    if std::env::var_os("GPUBENCH_FULL_TRIALS").is_some() { full } else { full / 10 }
}

/// Returns the timer overhead of a backend on that side.
pub fn timer_overhead(side: Side) -> TimerOverhead {
    match side {
        Side::Cpu => TimerOverhead {
            clock_s: 21e-9,
            thread_speeds: Some(ThreadSpeeds { fastest_s: 510e-6, slowest_s: 520e-6 }),
            ..TimerOverhead::default()
        },
        Side::Gpu => TimerOverhead {
            clock_s: 1.4e-6,
            empty_kernel_s: Some(2.7e-6),
            launch_sync_s: Some(6.1e-6),
            event_constant_s: Some(EVENTS_S),
            checks: vec![
                ClockCheck { spun_s: 10e-6, events_s: 11.52e-6, device_s: 10.02e-6 },
                ClockCheck { spun_s: 1e-3, events_s: 1.0016e-3, device_s: 1.0001e-3 },
            ],
            ..TimerOverhead::default()
        },
    }
}

/// Returns a report without rows.
pub fn empty() -> Report {
    let backend = |name: &str, side, description| BackendState {
        name: name.into(),
        available: true,
        startup_s: Some(0.1),
        timer_overhead: Some(timer_overhead(side)),
        description,
        ..BackendState::default()
    };
    Report {
        schema_version: SCHEMA_VERSION,
        environment: Environment {
            gpubench_version: "0.1.0".into(),
            build_profile: Some("release".into()),
            argv: vec!["gpubench".into(), "run".into()],
            started: "2026-11-21T10:00:00Z".into(),
            elapsed_s: 12.5,
            other_programs: Some(0.05),
            host: Host {
                name: "node".into(),
                os: "Linux 6.8".into(),
                cpu: "Intel(R) Xeon(R) Platinum 8480C".into(),
                cpu_identity: Some("family 6, model 143, stepping 8".into()),
                threads: 16,
                memory_bytes: 128 << 30,
                governor: Some("performance".into()),
                smt: Some(true),
                numa_nodes: Some(1),
                cpu_quota: Some(15.5),
                transparent_huge_pages: Some("madvise".into()),
                last_level_cache_bytes: Some(105 << 20),
                load_average: Some(0.4),
            },
            backends: vec![
                backend("cpu", Side::Cpu, serde_json::json!({ "threads": 16 })),
                backend("cuda", Side::Gpu, serde_json::json!({ "device": 0, "name": "NVIDIA H200" })),
            ],
            settings: serde_json::json!({ "sweeps": [{ "op": "matmul", "sampling": Sampling::default() }] }),
            ..Environment::default()
        },
        rows: vec![],
    }
}

/// Returns a report of these rows.
pub fn of(rows: impl IntoIterator<Item = Row>) -> Report {
    Report { rows: rows.into_iter().collect(), ..empty() }
}

/// Returns the report with [`peaks`] of the GPU.
pub fn with_peaks(mut report: Report) -> Report {
    report.environment.backends[1].peaks = Some(peaks());
    report
}

/// Returns the report with copies of pinned memory next to each pair of copies of pageable memory, `times` times as fast.
pub fn with_pinned(mut report: Report, times: f64) -> Report {
    let shorter = |times_s: &[f64]| times_s.iter().map(|time| time / times).collect();
    let faster = |Transfer { bytes, host_s, device_s, .. }: &Transfer| {
        let (host_s, device_s) = (shorter(host_s), shorter(device_s));
        Transfer { bytes: *bytes, memory: HostMemory::Pinned, host_s, device_s }
    };
    for phases in report.rows.iter_mut().filter_map(|row| row.phases.as_mut()) {
        let copies = phases.upload.as_ref().zip(phases.download.as_ref());
        phases.pinned = copies.map(|(up, down)| PinnedCopies { upload: faster(up), download: faster(down) });
    }
    report
}

/// Returns rows of a case on both sides, with the seconds of each: by `faer` on the CPU, by `cublas` on the GPU.
pub fn both_sides(op: &str, n: u64, cpu_s: f64, gpu_s: f64) -> [Row; 2] {
    [measured(op, n, "cpu", "faer", cpu_s), measured(op, n, "cuda", "cublas", gpu_s)]
}

/// Round figures for a large GPU.
pub fn peaks() -> Peaks {
    let matmul = [("f32", 50e12), ("f64", 25e12), ("tf32", 400e12), ("f16", 800e12), ("bf16", 800e12)];
    Peaks {
        read: Some(4.5e12),
        copy: Some(4e12),
        triad: Some(3.9e12),
        matmul: matmul.map(|(name, rate)| (name.to_owned(), rate)).into(),
        upload: Some(BusRates { pageable: 10e9, pinned: 55e9 }),
        download: Some(BusRates { pageable: 12e9, pinned: 54e9 }),
        measured: "2026-11-02T09:00:00Z".into(),
        cached: false,
    }
}

/// Returns a measured float32 row of cold caches and grade A; backends other than `cpu` are on the GPU's side.
pub fn measured(op: &str, n: u64, backend: &str, variant: &str, median_s: f64) -> Row {
    let side = if backend == "cpu" { Side::Cpu } else { Side::Gpu };
    let case = Case::square(op, n, DType::F32, 1);
    let cell = Cell { case, backend: backend.into(), variant: variant.into(), cache: Cache::Cold };
    Row {
        outcome: Outcome::Measured,
        error: Some(Checked::new(3.1e-7, 1.2e-5)),
        work: Work { flop: 2.0 * (n as f64).powi(3), bytes: 12.0 * (n as f64).powi(2) },
        inputs: Some("0123456789abcdef".into()),
        phases: Some(phases(side, n)),
        execute: Some(execute(side, median_s)),
        ..Row::blank(cell, side, Accuracy::Ieee)
    }
}

fn phases(side: Side, n: u64) -> Phases {
    let host = Phases { inputs_s: 0.01, prepare_s: 0.02, first_s: 0.03, check_s: 0.01, ..Phases::default() };
    if side == Side::Cpu {
        return host;
    }
    let copies = |count: u64| Transfer {
        bytes: 4 * count * n.saturating_mul(n),
        memory: HostMemory::Pageable,
        host_s: vec![31e-6, 30e-6, 32e-6],
        device_s: vec![21e-6, 20e-6, 22e-6],
    };
    Phases {
        plan_s: Some(0.004),
        compile: Some(Compile { cold_s: Some(0.21), cached_s: Some(0.0012) }),
        upload: Some(copies(2)),
        first_device_s: Some(0.002),
        download_s: 35e-6,
        download: Some(copies(1)),
        peak_device_bytes: Some(12 * n.saturating_mul(n)),
        ..host
    }
}

fn execute(side: Side, median_s: f64) -> Execute {
    let samples_s: Vec<f64> = SHAPE.iter().map(|share| share * median_s).collect();
    let gpu = side == Side::Gpu;
    let launch_s = if gpu { 5e-6 } else { 0.0 };
    let host_samples_s = samples_s.iter().map(|sample| sample + launch_s).collect();
    let state = Conditions {
        sm_mhz: gpu.then_some(1980.0),
        memory_mhz: gpu.then_some(3201.0),
        power_w: gpu.then_some(310.0),
        temperature_c: gpu.then_some(41.0),
        memory_temperature_c: gpu.then_some(52.0),
        load_average: (!gpu).then_some(0.4),
        ..Conditions::default()
    };
    Execute {
        clock: if gpu { Clock::DeviceEvents } else { Clock::Host },
        event_constant_s: gpu.then_some(EVENTS_S),
        enqueue_median_s: gpu.then_some(4e-6),
        rounds: (0..12).map(|sample| sample / 4).collect(),
        blocked: gpu.then_some(true),
        ended_by_word: gpu.then_some(true),
        sm_mhz: if gpu { vec![1980.0; 12] } else { vec![] },
        page_faults: (!gpu).then(PageFaults::default),
        context_switches: if gpu { vec![] } else { vec![0; 12] },
        warmups: 3,
        verified: 4,
        steady: true,
        spent_s: 0.25,
        stopped: Some(Reason::Precise),
        drift: Some(Drift { relative: 0.0006, p: 0.4 }),
        conditions: vec![[state.clone(), state]; 3],
        grade: Some(Grade::A),
        ..Execute::of(samples_s, host_samples_s).unwrap()
    }
}

/// Lowers a measured row's grade with a warning of that kind, text and next step.
pub fn warn(row: &mut Row, kind: WarningKind, at_best: Grade, text: &str, next: &str) {
    let execute = row.execute.as_mut().unwrap();
    execute.grade = execute.grade.max(Some(at_best));
    execute.warnings.push(Warning { kind, at_best, text: text.into(), next: next.into() });
    execute.warnings.sort_by_key(|warning| std::cmp::Reverse(warning.at_best));
    match kind {
        WarningKind::Spread => {
            execute.ci95_s = [0.95 * execute.median_s, 1.05 * execute.median_s];
            execute.stopped = Some(Reason::OutOfTime);
        }
        WarningKind::Bimodal => {
            let low = execute.median_s;
            execute.modes = Some(Modes { low, high: 1.2 * low, share_high: 0.3 });
        }
        WarningKind::Throttled => (execute.throttled, execute.discarded) = (2, 1),
        _ => {}
    }
}

/// Returns a row that has no time.
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
        error: wrong.then_some(Checked::new(0.5, 1.2e-5)),
        execute: None,
        ..measured(op, n, backend, variant, 1.0)
    }
}

/// Two ops, every outcome, a size at which the CPU wins, a time near the device's floor and an imprecise one.
pub fn full() -> Report {
    let mkl = Some("pip install mkl");
    let failed = "cusparseSpGEMM_compute: internal";
    let mut report = empty();
    report.rows = vec![
        measured("matmul", 100, "cpu", "openblas", 7.68e-6),
        measured("matmul", 100, "cuda", "cublas", 12.42e-6),
        without_time("matmul", 100, "cpu", "mkl", Outcome::Skipped, "mkl: not found", mkl),
        measured("matmul", 10000, "cpu", "openblas", 0.7438),
        measured("matmul", 10000, "cuda", "cublas", 40.92e-3),
        without_time("matmul", 10000, "cpu", "mkl", Outcome::Skipped, "mkl: not found", mkl),
        measured("spgemm", 512, "cpu", "gustavson", 90.06e-6),
        without_time("spgemm", 512, "cuda", "cusparse", Outcome::Failed, failed, None),
        without_time("spgemm", 512, "cuda", "hash", Outcome::Incorrect, "error 0.5 above 1.2e-5", None),
    ];
    for row in report.rows.iter_mut().filter(|row| row.case.op == "spgemm") {
        row.case.density = Some(0.01);
    }
    let larger = "choose a larger size, or --cache hot, which times batches";
    let text = "the time is 2.8 times the timer overhead";
    warn(&mut report.rows[1], WarningKind::LaunchBound, Grade::B, text, larger);
    let text = "half the 95 % interval is 5.0 % of the median; 1.0 % was requested";
    let quieter = "close other programs, or raise --max-time";
    warn(&mut report.rows[3], WarningKind::Spread, Grade::C, text, quieter);
    report.environment.warnings.push(RunWarning {
        text: "other programs were using the CPU when the run started (load 0.4 per core)".into(),
        next: "close other programs and run again".into(),
    });
    report
}

/// One op at one size on two backends of each side, of which JAX has no device clock.
pub fn several() -> Report {
    let mut report = of([
        measured("matmul", 1000, "cpu", "openblas", 8e-3),
        measured("matmul", 1000, "numpy", "matmul", 6e-3),
        measured("matmul", 1000, "cuda", "cublas", 60e-6),
        measured("matmul", 1000, "cupy", "matmul", 90e-6),
        measured("matmul", 1000, "cupy", "tf32", 20e-6),
        measured("matmul", 1000, "jax", "jit", 50e-6),
    ]);
    report.rows[1].side = Side::Cpu;
    report.rows[1].phases = report.rows[0].phases.clone();
    report.rows[1].execute =
        Some(measured("matmul", 1000, "cpu", "matmul", 6e-3)).and_then(|row| row.execute);
    report.rows[4].accuracy = Accuracy::Tf32;
    let jax = report.rows[5].execute.as_mut().unwrap();
    (jax.clock, jax.median_s) = (Clock::Host, jax.host_median_s);
    let state = |name: &str, device: &str| BackendState {
        name: name.into(),
        available: true,
        description: serde_json::json!({ "name": device }),
        ..BackendState::default()
    };
    let cpu = report.environment.host.cpu.clone();
    let backends = &mut report.environment.backends;
    backends.extend([state("numpy", &cpu), state("cupy", "NVIDIA H200"), state("jax", "NVIDIA H200")]);
    report
}
