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

/// Cells of every verdict, the most severe first: the verdict, the reason why it is inconclusive, the cell, its median in OLD in
/// seconds, the ratio, its interval and p; then the reason and the next step.
const CELLS: &str = "
newly-incorrect - spgemm 512 f32 cuda hash cold 90.1e-6 | error 5.0e-1 is above the bound 1.2e-5; it was right | run it alone with `gpubench run --ops spgemm --sizes 512`
newly-failed - svd 1024 f64 cuda gesvdj cold 0.412 | was measured, now: cusolverDnDgesvdj: out of memory | run `gpubench doctor`
slower - matmul 4096 f32 cuda cublas cold 2.71e-3 1.31 1.28 1.34 2.4e-7 | 1.31x slower (1.28 to 1.34) | look at what changed between both revisions
less-accurate - fft 65536 f32 cpu realfft cold 251e-6 1.002 0.99 1.014 0.71 | the error is 40 times as large | look at what changed between both revisions
missing - solve 2048 f64 cpu mkl cold 31.2e-3 | skipped: mkl: not found | pip install mkl
inconclusive maybe-slower reduction 1048576 f32 cpu parallel cold 98e-6 1.06 0.995 1.13 0.06 | it may be 1.13x as long | run each side again and give all reports
inconclusive lower-clock matmul 8192 f32 cuda cublas cold 21.4e-3 1.082 1.07 1.094 1e-5 | the SM clock fell from 1980 to 1830 MHz, the time rose as much | hold the clocks with `nvidia-smi -lgc`
inconclusive not-comparable fft 1024 f32 cuda r2c cold 7.7e-6 0.94 0.93 0.95 3e-4 | operands differ: 8 digits of the fingerprint are not the same | give both sides the same --seed
inconclusive maybe-faster sin 4096 f32 cpu simd hot 3.1e-6 0.965 0.93 1.001 0.2 | it may be 0.93 times as long
faster - elementwise 4096 f32 cuda fused cold 41.5e-6 0.832 0.82 0.844 1e-7 | 0.83 times as long (0.82 to 0.84)
new - spmv 4096 f32 cuda cusparse cold | measured now, was not there
same - matmul 1024 f32 cpu openblas cold 1.07e-3 1.004 0.99 1.018 0.5 | within the threshold
same - matmul 2048 f32 cpu openblas cold 8.59e-3 1.004 0.99 1.018 0.5 | within the threshold
not-measured - solve 4096 f32 cpu mkl cold | mkl: not found
not-judged - svd 64 f32 cpu faer cold | the policy leaves it out
";

/// The summary of three runs per side of a cell.
fn measured(median_s: f64) -> Measured {
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

fn word<T: serde::de::DeserializeOwned>(word: &str) -> Option<T> {
    serde_json::from_value(word.into()).ok()
}

/// The cell of a line of [`CELLS`].
fn cell(line: &str) -> Change {
    let mut texts = line.split(" | ");
    let words: Vec<&str> = texts.next().unwrap().split(' ').collect();
    let [verdict, inconclusive, op, n, dtype, backend, variant, cache] = words[..8] else { panic!("{line}") };
    let figures: Vec<f64> = words[8..].iter().map(|figure| figure.parse().unwrap()).collect();
    let case = Case::square(op, n.parse().unwrap(), word(dtype).unwrap(), 1);
    let cell = Cell { case, backend: backend.into(), variant: variant.into(), cache: word(cache).unwrap() };
    let side = if backend == "cpu" { Side::Cpu } else { Side::Gpu };
    let change = Change {
        verdict: word(verdict).unwrap(),
        inconclusive_reason: word(inconclusive),
        reason: texts.next().unwrap().into(),
        next: texts.next().map(str::to_owned),
        old: figures.first().map(|seconds| measured(*seconds)),
        ..Judgement::without_figures(ComparedCell { cell, side }, 0.05)
    };
    let [old_s, ratio, low, high, p] = figures[..] else { return change };
    Change {
        new: Some(measured(old_s * ratio)),
        ratio: Some(ratio),
        interval: Some([low, high]),
        p: Some(p),
        p_corrected: Some((p * 10.0).min(1.0)),
        smallest_detectable_change: Some(0.03),
        variation_between_runs: Some(0.011),
        ..change
    }
}

fn cells() -> Vec<Change> {
    let mut cells: Vec<Change> = CELLS.trim().lines().map(cell).collect();
    cells[0].subject.cell.case.density = Some(0.01);
    let slower = &mut cells[2];
    slower.p_rounds = Some(0.0022);
    [&mut slower.old, &mut slower.new].into_iter().flatten().for_each(|side| side.sm_mhz = Some(1980.0));
    cells[3].new.as_mut().unwrap().error = Some(Checked::new(1.1e-5, 1.2e-5));
    (cells[10].subject.cell.case.density, cells[10].new) = (Some(0.05), Some(measured(310e-6)));
    cells
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
    all.next = Some("look at what changed between both revisions".into());
    vec![
        all,
        mean(None, Some("cpu"), 3, 1.01, 0.03, Verdict::Inconclusive, Some(InconclusiveReason::MaybeSlower)),
        mean(Some("matmul"), Some("cpu"), 3, 1.001, 0.01, Verdict::Same, None),
    ]
}

/// A comparison with regressions.
pub fn full() -> Comparison {
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
        cells(),
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
