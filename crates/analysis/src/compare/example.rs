//! An example comparison for tests, with every verdict and every reason why a cell is inconclusive.

#![expect(clippy::unwrap_used, reason = "an example for tests")]

use gpubench_ops::Checked;
use gpubench_report::Side;
use gpubench_report::case::{Cache, Case, Cell, DType};
use gpubench_report::measure::grade::Grade;

use crate::compare::Verdict;
use crate::compare::environment::{Difference, Severity};
use crate::compare::result::{
    COMPARISON_VERSION, Change, ComparedCell, ComparedMean, Comparison, Conclusion, Gate, InconclusiveReason,
    Judgement, Mean, MeanChange, Measured, Method, Note, VerdictCount,
};
use crate::compare::runs::{ReportRef, RunInfo};

/// The summary of three runs per side of a cell.
pub(crate) fn measured(median_s: f64) -> Measured {
    Measured {
        runs: 3,
        rounds: 9,
        samples: 90,
        median_s,
        sm_mhz: None,
        grade: Some(Grade::A),
        error: Some(Checked { coarse: true, ..Checked::new(3.1e-7, 1.2e-5) }),
    }
}

/// A cell with cold caches and without results.
pub(crate) fn cell(
    op: &str,
    n: u64,
    backend: &str,
    variant: &str,
    verdict: Verdict,
    reason: impl Into<String>,
) -> Change {
    let case = Case::square(op, n, DType::F32, 1);
    let side = if backend == "cpu" { Side::Cpu } else { Side::Gpu };
    let cell = Cell { case, backend: backend.into(), variant: variant.into(), cache: Cache::Cold };
    let subject = ComparedCell { cell, side };
    Change { verdict, reason: reason.into(), ..Judgement::without_figures(subject, 0.05) }
}

/// Gives a cell times on both sides, and a ratio with its interval.
fn timed(mut change: Change, old_s: f64, ratio: f64, interval: [f64; 2], p: f64) -> Change {
    (change.old, change.new) = (Some(measured(old_s)), Some(measured(old_s * ratio)));
    (change.ratio, change.interval) = (Some(ratio), Some(interval));
    (change.p, change.p_corrected) = (Some(p), Some((p * 10.0).min(1.0)));
    (change.smallest_detectable_change, change.variation_between_runs) = (Some(0.03), Some(0.011));
    change
}

fn next(mut change: Change, next: &str) -> Change {
    change.next = Some(next.into());
    change
}

fn inconclusive(mut change: Change, reason: InconclusiveReason) -> Change {
    change.inconclusive_reason = Some(reason);
    change
}

/// Regressions, most severe first.
fn regressions() -> Vec<Change> {
    let reason = "error 5.0e-1 is above the bound 1.2e-5; it was right";
    let mut incorrect = cell("spgemm", 512, "cuda", "hash", Verdict::NewlyIncorrect, reason);
    (incorrect.subject.cell.case.density, incorrect.old) = (Some(0.01), Some(measured(90.1e-6)));
    let reason = "was measured, now: cusolverDnDgesvdj: out of memory";
    let mut failed = cell("svd", 1024, "cuda", "gesvdj", Verdict::NewlyFailed, reason);
    (failed.subject.cell.case.dtype, failed.old) = (DType::F64, Some(measured(0.412)));
    let reason = "1.31x slower (1.28 to 1.34)";
    let slower = cell("matmul", 4096, "cuda", "cublas", Verdict::Slower, reason);
    let mut slower = timed(slower, 2.71e-3, 1.31, [1.28, 1.34], 2.4e-7);
    slower.p_rounds = Some(0.0022);
    (slower.old.as_mut().unwrap().sm_mhz, slower.new.as_mut().unwrap().sm_mhz) = (Some(1980.0), Some(1980.0));
    let reason = "the error is 40 times as large";
    let coarse = cell("fft", 65536, "cpu", "realfft", Verdict::LessAccurate, reason);
    let mut coarse = timed(coarse, 251e-6, 1.002, [0.99, 1.014], 0.71);
    coarse.new.as_mut().unwrap().error = Some(Checked::new(1.1e-5, 1.2e-5));
    let look = "look at what changed between both revisions";
    vec![
        next(incorrect, "run it alone with `gpubench run --ops spgemm --sizes 512`"),
        next(failed, "run `gpubench doctor`"),
        next(slower, look),
        next(coarse, look),
    ]
}

/// Missing and inconclusive cells.
fn open() -> Vec<Change> {
    let mut missing = cell("solve", 2048, "cpu", "mkl", Verdict::Missing, "skipped: mkl: not found");
    (missing.subject.cell.case.dtype, missing.old) = (DType::F64, Some(measured(31.2e-3)));
    let undecided =
        |op, n, backend, variant, reason| cell(op, n, backend, variant, Verdict::Inconclusive, reason);
    let reason = "it may be 1.13x as long";
    let slower =
        timed(undecided("reduction", 1 << 20, "cpu", "parallel", reason), 98e-6, 1.06, [0.995, 1.13], 0.06);
    let reason = "the SM clock fell from 1980 to 1830 MHz, the time rose as much";
    let clock =
        timed(undecided("matmul", 8192, "cuda", "cublas", reason), 21.4e-3, 1.082, [1.07, 1.094], 1e-5);
    let reason = "operands differ: 8 digits of the fingerprint are not the same";
    let different = timed(undecided("fft", 1024, "cuda", "r2c", reason), 7.7e-6, 0.94, [0.93, 0.95], 3e-4);
    let reason = "it may be 0.93 times as long";
    let mut faster = timed(undecided("sin", 4096, "cpu", "simd", reason), 3.1e-6, 0.965, [0.93, 1.001], 0.2);
    faster.subject.cell.cache = Cache::Hot;
    let more = "run each side again and give all reports";
    vec![
        next(missing, "pip install mkl"),
        next(inconclusive(slower, InconclusiveReason::MaybeSlower), more),
        next(inconclusive(clock, InconclusiveReason::LowerClock), "hold the clocks with `nvidia-smi -lgc`"),
        next(inconclusive(different, InconclusiveReason::NotComparable), "give both sides the same --seed"),
        inconclusive(faster, InconclusiveReason::MaybeFaster),
    ]
}

/// Cells that are faster, new or unchanged.
fn settled() -> Vec<Change> {
    let better =
        cell("elementwise", 4096, "cuda", "fused", Verdict::Faster, "0.83 times as long (0.82 to 0.84)");
    let mut new = cell("spmv", 4096, "cuda", "cusparse", Verdict::New, "measured now, was not there");
    (new.subject.cell.case.density, new.new) = (Some(0.05), Some(measured(310e-6)));
    let same = |n: u64| {
        let change = cell("matmul", n, "cpu", "openblas", Verdict::Same, "within the threshold");
        timed(change, 1e-12 * (n * n * n) as f64, 1.004, [0.99, 1.018], 0.5)
    };
    vec![
        timed(better, 41.5e-6, 0.832, [0.82, 0.844], 1e-7),
        new,
        same(1024),
        same(2048),
        cell("solve", 4096, "cpu", "mkl", Verdict::NotMeasured, "mkl: not found"),
        cell("svd", 64, "cpu", "faer", Verdict::NotJudged, "the policy leaves it out"),
    ]
}

fn run(name: &str, revision: &str) -> RunInfo {
    let report = ReportRef {
        name: name.into(),
        started: "2026-11-21T10:00:00Z".into(),
        host: "node".into(),
        gpubench_version: "0.1.0".into(),
        gpubench_revision: Some(revision.into()),
        git_revision: Some(format!("folder-{revision}")),
    };
    RunInfo { report, measured: 13, rows: 15 }
}

fn difference(fact: &str, severity: Severity, old: &str, new: &str) -> Difference {
    Difference { fact: fact.into(), severity, old: old.into(), new: new.into(), disturbed: vec![] }
}

/// Three means: one that is slower, one that is inconclusive, one that is the same.
fn mean_changes() -> Vec<MeanChange> {
    let mean = |op: Option<&str>, backend: Option<&str>, cells, ratio: f64, half: f64, verdict, reason| {
        let subject = ComparedMean { op: op.map(str::to_owned), backend: backend.map(str::to_owned), cells };
        let change = MeanChange {
            verdict,
            inconclusive_reason: reason,
            ratio: Some(ratio),
            interval: Some([ratio - half, ratio + half]),
            p: Some(0.001),
            p_corrected: Some(0.004),
            smallest_detectable_change: Some(0.011),
            variation_between_runs: Some(0.002),
            ..Judgement::without_figures(subject, 0.02)
        };
        MeanChange { reason: change.change().unwrap().with_interval(), ..change }
    };
    let mut all = mean(None, None, 6, 1.021, 0.004, Verdict::Slower, None);
    all.reason += "; no single cell is slower";
    all.next = Some("look at what changed between both revisions".into());
    vec![
        all,
        mean(None, Some("cpu"), 3, 1.01, 0.03, Verdict::Inconclusive, Some(InconclusiveReason::MaybeSlower)),
        mean(Some("matmul"), Some("cpu"), 3, 1.001, 0.01, Verdict::Same, None),
    ]
}

/// A comparison with regressions.
pub fn full() -> Comparison {
    let cells: Vec<Change> = regressions().into_iter().chain(open()).chain(settled()).collect();
    let mean = |op: &str, backend: &str, cells, ratio| Mean {
        op: op.into(),
        backend: backend.into(),
        dtype: DType::F32,
        cache: Cache::Cold,
        cells,
        ratio,
    };
    with_cells(
        Comparison {
            comparison_version: COMPARISON_VERSION,
            gpubench_version: "0.1.0".into(),
            gate: Gate {
                conclusion: Conclusion::Regression,
                exit_code: 1,
                reason: "4 of 15 cells are worse: 1 incorrect, 1 failed, 1 slower, 1 less accurate".into(),
                next: Some("look at what changed between both revisions".into()),
                accepted: vec![],
            },
            counts: vec![],
            old: vec![run("base/1", "0123abc"), run("base/2", "0123abc"), run("base/3", "0123abc")],
            new: vec![run("head/1", "4567def"), run("head/2", "4567def"), run("head/3", "4567def")],
            method: Method {
                alpha: 0.01,
                confidence: 0.95,
                correction: "holm".into(),
                cells_tested: 10,
                means_tested: 3,
                variation_source: "measured between 3 runs of OLD and 3 runs of NEW".into(),
            },
            environment: vec![
                difference("driver", Severity::Warn, "580.65.06", "580.82.07"),
                difference("os", Severity::Ignore, "Linux 6.8", "Linux 6.9"),
            ],
            notes: vec![Note {
                text: "3 runs per side see changes of 3 % at best".into(),
                next: "give 5 runs per side".into(),
            }],
            means: vec![mean("matmul", "cuda", 2, 1.19), mean("matmul", "cpu", 2, 1.004)],
            mean_changes: mean_changes(),
            cells: vec![],
        },
        cells,
    )
}

/// That comparison with other cells, counted again.
pub fn with_cells(mut comparison: Comparison, cells: Vec<Change>) -> Comparison {
    comparison.counts = VerdictCount::of(&cells);
    comparison.cells = cells;
    comparison
}

/// A comparison in which nothing changed.
pub fn passing() -> Comparison {
    let mut comparison = full();
    let same = comparison.cells.iter().filter(|change| change.verdict == Verdict::Same).cloned().collect();
    comparison.gate = gate(Conclusion::Pass, 0, "none of 2 cells is worse");
    comparison.mean_changes.retain(|mean| !mean.is_regression());
    with_cells(comparison, same)
}

/// A comparison of two GPU models: ratios only if that is allowed, otherwise not comparable.
pub fn across_machines(allowed: bool) -> Comparison {
    let mut comparison = full();
    let model = difference("gpu-model", Severity::Block, "NVIDIA H100", "NVIDIA H200");
    comparison.environment.insert(0, model);
    comparison.gate = if allowed {
        gate(Conclusion::RatiosOnly, 0, "the machines differ: ratios only")
    } else {
        gate(Conclusion::NotComparable, 2, "gpu-model differs")
    };
    let mut cells = comparison.cells.clone();
    for change in &mut cells {
        change.remove_verdict();
        change.reason = "the machines differ".into();
    }
    comparison.mean_changes.iter_mut().for_each(Judgement::remove_verdict);
    with_cells(comparison, cells)
}

fn gate(conclusion: Conclusion, exit_code: u8, reason: &str) -> Gate {
    Gate { conclusion, exit_code, reason: reason.into(), next: None, accepted: vec![] }
}
