//! Reports to validate against the schema: one with few keys, one with all.

use gpubench::backend::{Finding, HostMemory, Origin, PageFaults};
use gpubench::measure::grade::{Grade, WarningKind};
use gpubench::measure::modality::Modes;
use gpubench::report::{BackendState, Execute, Outcome, Phases, QuotaPauses, Report, RunWarning, example};

/// A report of every outcome, with few optional keys.
pub(crate) fn report() -> Report {
    let measured = example::measured("spmv", 1, "cuda", "auto", 1.5e-6);
    let others = [(2, Outcome::Incorrect), (3, Outcome::Skipped), (4, Outcome::Failed)];
    let others = others.map(|(n, outcome)| {
        let fix = (outcome == Outcome::Skipped).then_some("pip install nvidia-cusparse");
        example::without_time("spmv", n, "cuda", "auto", outcome, "cuSPARSE: not found", fix)
    });
    let mut report = example::of([measured].into_iter().chain(others));
    for row in &mut report.rows {
        row.case.density = Some(0.05);
        row.phases = Some(Phases::default());
        let bare = |full: Execute| Execute::of(full.samples_s, full.host_samples_s).unwrap();
        row.execute = row.execute.take().map(|full| Execute { clock: full.clock, ..bare(full) });
    }
    report.rows[0].case.seed = u64::MAX;
    report.environment.backends = vec![BackendState {
        name: "cuda".into(),
        reason: Some("no driver".into()),
        fix: Some("install the NVIDIA driver".into()),
        libraries: vec![Finding {
            name: "cuFFT".into(),
            serves: vec!["fft/r2c".into()],
            problem: Some("not found".into()),
            ..Finding::default()
        }],
        ..BackendState::default()
    }];
    report
}

/// A report in which every optional key is present somewhere: its first row and its one backend have them all.
pub(crate) fn complete() -> Report {
    let mut report = report();
    let full = example::with_pinned(example::of(example::both_sides("spmv", 1, 1e-6, 1.5e-6)), 2.0);
    let environment = &mut report.environment;
    environment.gpubench_revision = Some("0123abc".into());
    environment.program_hash = Some("0123456789abcdef".into());
    environment.git_revision = Some("0123abc-dirty".into());
    environment.planned_rows = Some(5);
    environment.warnings = vec![RunWarning { text: "busy".into(), next: "wait".into() }];
    environment.variables.insert("OMP_NUM_THREADS".into(), "4".into());
    environment.variables_rule = 1;
    environment.quota_pauses = Some(QuotaPauses { periods: 112, paused: 103 });
    let backend = &mut environment.backends[0];
    backend.startup_s = Some(0.5);
    backend.timer_overhead = full.environment.backends[1].timer_overhead.clone();
    if let Some(overhead) = &mut backend.timer_overhead {
        overhead.event_uncertainty_s = Some(5e-8);
        overhead.thread_speeds = example::timer_overhead(full.rows[0].side).thread_speeds;
    }
    backend.peaks = Some(example::peaks());
    let row = &mut report.rows[0];
    *row = full.rows[1].clone();
    example::warn(row, WarningKind::Bimodal, Grade::D, "two modes", "raise --samples");
    (row.case.density, row.case.matrix) = (Some(0.05), Some("bcsstk13@1f3a5c7e90b2d4f6".into()));
    row.case.shape = serde_json::from_str(r#"{"m":"N","n":5,"layout":"nt"}"#).ok();
    (row.picked, row.threads, row.origin) = (Some("cusparse".into()), Some(8), Some(Origin::Library));
    (row.reason, row.fix) = (Some("a reason".into()), Some("a fix".into()));
    row.unaltered = Some("it keeps its operands in a form of its own".into());
    (row.added_by_refinement, row.screened) = (true, true);
    row.error.as_mut().unwrap().coarse = true;
    assert_eq!(row.phases.as_ref().unwrap().pinned.as_ref().unwrap().upload.memory, HostMemory::Pinned);
    fill(row.execute.as_mut().unwrap());
    report
}

/// Gives the timed phase the optional keys that a row of one device lacks.
fn fill(execute: &mut Execute) {
    execute.event_uncertainty_s = Some(5e-8);
    execute.quantiles_s = Some([1e-6, 1.2e-6, 1.7e-6, 2e-6]);
    execute.host_ci95_s = Some([3e-6, 3e-6]);
    execute.context_switches = vec![0; 12];
    execute.page_faults = Some(PageFaults { minor: 0.5, major: 0.0 });
    execute.modes = Some(Modes { low: 1e-6, high: 2e-6, share_high: 0.5 });
    for state in execute.conditions.iter_mut().flatten() {
        state.throttle = vec!["sw_power_cap".into()];
        state.others = vec!["python3 (4711)".into()];
        state.load_average = Some(0.5);
    }
}
