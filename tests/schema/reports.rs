//! Reports to validate against the schema: one with few keys, one with all.

use gpubench::backend::{
    Accuracy, BusRates, ClockCheck, Compile, Conditions, HostMemory, Origin, PageFaults, Peaks, PinnedCopies,
    SetupCounts, Side, ThreadSpeeds, TimerOverhead, Transfer,
};
use gpubench::case::{Cache, Case, DType};
use gpubench::measure::drift::Drift;
use gpubench::measure::grade::{Grade, Warning, WarningKind};
use gpubench::measure::modality::Modes;
use gpubench::measure::stopping::Reason;
use gpubench::op::{Checked, Work};
use gpubench::report::{
    BackendState, Clock, Environment, Execute, Host, Outcome, Phases, QuotaPauses, Report, Row, RunWarning,
    SCHEMA_VERSION, TimeSpent,
};
use serde_json::json;

fn row(n: u64, outcome: Outcome) -> Row {
    let measured = outcome == Outcome::Measured;
    let checked = measured || outcome == Outcome::Incorrect;
    Row {
        case: Case { op: "spmv".into(), n, dtype: DType::F64, density: Some(0.05), seed: u64::MAX },
        backend: "cuda".into(),
        variant: "auto".into(),
        picked: checked.then(|| "cusparse".into()),
        threads: checked.then_some(8),
        cache: Cache::Cold,
        side: Side::Gpu,
        accuracy: Accuracy::Ieee,
        origin: Some(Origin::Library),
        outcome,
        reason: (!measured).then(|| "cuSPARSE: not found".into()),
        fix: (outcome == Outcome::Skipped).then(|| "pip install nvidia-cusparse".into()),
        unaltered: Some("it keeps its operands in a form of its own".into()),
        error: checked
            .then(|| Checked::new(if outcome == Outcome::Measured { 1e-13 } else { f64::NAN }, 1e-12)),
        work: Work { flop: 2e6, bytes: 1.2e7 },
        inputs: checked.then(|| "0123456789abcdef".into()),
        phases: checked.then(Phases::default),
        added_by_refinement: false,
        screened: false,
        execute: measured.then(|| Execute {
            clock: Clock::DeviceEvents,
            samples_s: vec![1e-6, 2e-6],
            median_s: 1.5e-6,
            min_s: 1e-6,
            max_s: 2e-6,
            mad_s: 5e-7,
            ci95_s: [1e-6, 2e-6],
            host_samples_s: vec![3e-6, 3e-6],
            host_median_s: 3e-6,
            warmups: 3,
            steady: true,
            ..Execute::default()
        }),
    }
}

/// A report of every outcome, with few optional keys.
pub(crate) fn report() -> Report {
    let missing = BackendState {
        name: "cuda".into(),
        available: false,
        reason: Some("no driver".into()),
        fix: Some("install the NVIDIA driver".into()),
        libraries: vec![gpubench::backend::Finding {
            name: "cuFFT".into(),
            serves: vec!["fft/r2c".into()],
            problem: Some("not found".into()),
            ..Default::default()
        }],
        ..BackendState::default()
    };
    let outcomes = [Outcome::Measured, Outcome::Incorrect, Outcome::Skipped, Outcome::Failed];
    Report {
        schema_version: SCHEMA_VERSION,
        environment: Environment {
            backends: vec![missing],
            started: "2026-11-21T10:00:00Z".into(),
            settings: json!({ "samples": 30 }),
            ..Environment::default()
        },
        rows: (1..).zip(outcomes).map(|(n, outcome)| row(n, outcome)).collect(),
    }
}

/// A report in which every optional key is present somewhere: its first row and its one backend have them all.
pub(crate) fn complete() -> Report {
    let mut report = report();
    if let Some(error) = &mut report.rows[0].error {
        error.coarse = true;
    }
    let environment = &mut report.environment;
    environment.gpubench_revision = Some("0123abc".into());
    environment.build_profile = Some("release".into());
    environment.program_hash = Some("0123456789abcdef".into());
    environment.git_revision = Some("0123abc-dirty".into());
    environment.planned_rows = Some(5);
    environment.other_programs = Some(0.02);
    environment.time_spent = Some(TimeSpent { sampling_s: 3.5, ..TimeSpent::default() });
    environment.warnings = vec![RunWarning { text: "busy".into(), next: "wait".into() }];
    environment.variables.insert("OMP_NUM_THREADS".into(), "4".into());
    environment.variables_rule = 1;
    environment.quota_pauses = Some(QuotaPauses { periods: 112, paused: 103 });
    environment.host = Host {
        cpu_identity: Some("family 6, model 143, stepping 8".into()),
        governor: Some("performance".into()),
        smt: Some(true),
        numa_nodes: Some(2),
        transparent_huge_pages: Some("always".into()),
        cpu_quota: Some(1.5),
        last_level_cache_bytes: Some(1 << 25),
        load_average: Some(0.1),
        ..Host::default()
    };
    environment.backends[0].startup_s = Some(0.5);
    environment.backends[0].timer_overhead = Some(TimerOverhead {
        clock_s: 1e-6,
        empty_kernel_s: Some(2e-6),
        launch_sync_s: Some(6e-6),
        event_constant_s: Some(1.5e-6),
        event_uncertainty_s: Some(5e-8),
        thread_speeds: Some(ThreadSpeeds { fastest_s: 5e-4, slowest_s: 8e-4 }),
        checks: vec![ClockCheck { spun_s: 1e-5, events_s: 1.15e-5, device_s: 1e-5 }],
    });
    environment.backends[0].peaks = Some(peaks());
    let row = &mut report.rows[0];
    (row.reason, row.fix) = (Some("a reason".into()), Some("a fix".into()));
    (row.phases, row.added_by_refinement, row.screened) = (Some(phases()), true, true);
    fill(row.execute.as_mut().unwrap());
    report
}

fn peaks() -> Peaks {
    let rates = BusRates { pageable: 1e10, pinned: 5e10 };
    Peaks {
        read: Some(4.5e12),
        copy: Some(4.3e12),
        triad: Some(4.4e12),
        matmul: ["f32", "f64", "tf32", "f16", "bf16"].map(|word| (word.to_owned(), 5e13)).into(),
        upload: Some(rates),
        download: Some(rates),
        measured: "2026-11-21T10:00:00Z".into(),
        cached: true,
    }
}

fn phases() -> Phases {
    let copies = Transfer { bytes: 8, memory: HostMemory::Pinned, host_s: vec![1e-5], device_s: vec![9e-6] };
    Phases {
        plan_s: Some(0.1),
        compile: Some(Compile { cold_s: Some(0.2), cached_s: Some(0.001) }),
        upload: Some(copies.clone()),
        first_device_s: Some(1e-3),
        pinned: Some(PinnedCopies { upload: copies.clone(), download: copies.clone() }),
        download: Some(copies),
        peak_device_bytes: Some(4096),
        ..Phases::default()
    }
}

/// Gives the timed phase every optional key.
fn fill(execute: &mut Execute) {
    let state = Conditions {
        sm_mhz: Some(1980.0),
        memory_mhz: Some(3201.0),
        power_w: Some(300.0),
        temperature_c: Some(40.0),
        memory_temperature_c: Some(51.0),
        throttle: vec!["sw_power_cap".into()],
        others: vec!["python3 (4711)".into()],
        load_average: Some(0.5),
    };
    execute.event_constant_s = Some(1.5e-6);
    execute.event_uncertainty_s = Some(5e-8);
    execute.quantiles_s = Some([1e-6, 1.2e-6, 1.7e-6, 2e-6]);
    execute.host_ci95_s = Some([3e-6, 3e-6]);
    execute.enqueue_median_s = Some(2e-6);
    execute.rounds = vec![0, 1];
    execute.blocked = Some(true);
    execute.ended_by_word = Some(false);
    execute.sm_mhz = vec![1980.0, 1755.0];
    execute.context_switches = vec![0, 2];
    execute.page_faults = Some(PageFaults { minor: 0.5, major: 0.0 });
    execute.stopped = Some(Reason::MostSamples);
    execute.drift = Some(Drift { relative: 0.1, p: 0.04 });
    execute.modes = Some(Modes { low: 1e-6, high: 2e-6, share_high: 0.5 });
    execute.setup_while_sampling = SetupCounts::default();
    execute.conditions = vec![[state.clone(), state]];
    execute.grade = Some(Grade::D);
    execute.warnings = vec![Warning {
        kind: WarningKind::FewSamples,
        at_best: Grade::D,
        text: "2 samples count".into(),
        next: "raise --samples".into(),
    }];
}
