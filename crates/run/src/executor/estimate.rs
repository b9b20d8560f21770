//! Estimates the time of a run before it begins, without any device.

use std::collections::BTreeMap;

use gpubench_backend::host::processors;
use gpubench_backend::{Peaks, Registry, Side, fewer_threads};
use gpubench_ops as op;
use gpubench_report::case::DType;
use gpubench_report::measure::sampling::{HARD_FACTOR, MIN_SAMPLES};

use super::PlannedCell;
use super::peaks::{PeakSource, newest_kept};

/// A range from the least to the most.
type Range = [f64; 2];

/// Seconds per cell for preparation, warm-up, checks and its share of saving, and for the choice of threads.
const AROUND_S: Range = [0.25, 0.45];
const THREADS_S: Range = [0.05, 0.2];
/// Share of the cells' time that a run takes: variants that are missing or far behind take little.
const SHARE: Range = [0.7, 0.85];
/// Share of the cells' time that a run takes where every variant is sampled to precision.
const SHARE_OF_ALL: Range = [0.7, 1.0];
/// Part of `--max-time` until a time is precise.
const PRECISE: Range = [0.4, 0.9];
/// Executions that are not samples: the first and those of checks.
const UNTIMED: Range = [2.0, 3.0];
/// Executions of warm-ups and trials of threads, and the seconds after which these end.
const WARM_UPS: Range = [2.0, 8.0];
const WARM_UPS_S: f64 = 1.0;
/// Seconds to measure the peaks of one backend, and to start and end workers.
const PEAKS_S: Range = [1.0, 5.0];
const START_S: Range = [0.3, 1.0];

/// Rates of variants over the peak that limits the op, arithmetic or memory, where an execution takes more than a millisecond: on the CPU
/// and on a GPU. From reports of an H200 and of two threads of a Xeon.
const SHARES: [(&str, [Range; 2]); 5] = [
    ("matmul", [[0.6, 1.0], [0.7, 1.0]]),
    ("fft", [[0.1, 0.35], [0.3, 0.8]]),
    ("solve", [[0.1, 0.4], [0.005, 0.1]]),
    ("svd", [[0.08, 0.35], [0.003, 0.1]]),
    ("spgemm", [[0.005, 0.03], [0.0004, 0.005]]),
];
/// Rates over the peak bandwidth of ops that stream through memory, on the CPU and on a GPU.
const STREAMED: [Range; 2] = [[0.25, 1.0], [0.6, 1.0]];

/// Lanes of float32 in a vector register, and FLOP per second of a lane: two units, a multiplication and an addition each, at 2.5 GHz.
const LANE_FLOP: f64 = 4.0 * 2.5e9;
/// Unknown peaks: rate of a CPU's thread over that of its lanes, bytes per second of a thread and of all memory, FLOP per second of a
/// GPU and bytes per second of its memory.
const THREAD_SHARE: Range = [0.5, 1.2];
const THREAD_BYTES: Range = [8e9, 2.5e10];
const MAX_CPU_BYTES: f64 = 4e11;
const GPU_FLOP: Range = [1e13, 6e13];
const GPU_BYTES: Range = [3e11, 4e12];

/// The time that a run is expected to take.
#[derive(Clone, Debug, PartialEq)]
pub struct RunEstimate {
    /// Seconds, at least and at most.
    pub seconds: Range,
    /// True if the run measures peaks, because those of a backend are not known.
    pub measures_peaks: bool,
    /// True if earlier runs have measured the peaks on which the estimate rests; otherwise it rests on those of usual machines.
    pub peaks_are_known: bool,
}

/// Returns the expected time of a run of `cells`; `None` if all times are simulated. Peaks that earlier runs kept narrow it.
/// The run may have a limit of `budget_s` seconds, and gives up a cell after `cell_s`.
pub fn estimate(
    cells: &[PlannedCell],
    registry: Registry,
    peaks: &PeakSource,
    budget_s: Option<f64>,
    cell_s: f64,
) -> Option<RunEstimate> {
    let simulates = |backend: &str| registry.find(backend).is_some_and(|found| found.simulated);
    let mut backends: BTreeMap<&str, Option<Peaks>> = BTreeMap::new();
    for name in cells.iter().map(|planned| planned.cell.backend.as_str()).filter(|name| !simulates(name)) {
        backends.entry(name).or_insert_with(|| match peaks {
            PeakSource::Kept(folder) => newest_kept(folder, name),
            PeakSource::Unwanted | PeakSource::Measured => None,
        });
    }
    let is_measured = |kept: &Option<Peaks>| *peaks != PeakSource::Unwanted && kept.is_none();
    let mut seconds = plus(START_S, cells_s(cells, &backends, cell_s));
    let mut measures_peaks = false;
    for _ in backends.values().filter(|kept| is_measured(kept)) {
        seconds = plus(seconds, PEAKS_S);
        measures_peaks = true;
    }
    if let Some(budget_s) = budget_s {
        // A run spends the rest of its budget on times that are not precise.
        seconds = [seconds[0].min(budget_s), budget_s];
    }
    let peaks_are_known = backends.values().all(Option::is_some);
    (!backends.is_empty()).then_some(RunEstimate { seconds, measures_peaks, peaks_are_known })
}

/// Returns the seconds that the cells of `backends`, given with their peaks, take together, each at most `limit_s`. Cells of one op on
/// one backend are fast or slow together; what is not known of different ops is independent, so their deviations add up as squares.
fn cells_s(cells: &[PlannedCell], backends: &BTreeMap<&str, Option<Peaks>>, limit_s: f64) -> Range {
    let mut groups: BTreeMap<(&str, &str), Range> = BTreeMap::new();
    for planned in cells {
        let (backend, op) = (planned.cell.backend.as_str(), planned.cell.case.op.as_str());
        let Some(peaks) = backends.get(backend) else { continue };
        let cost_s = cost_s(planned, peaks.as_ref()).map(|seconds| seconds.min(limit_s));
        let group = groups.entry((backend, op)).or_default();
        *group = plus(*group, cost_s);
    }
    let (mut middle_s, mut squares) = (0.0, [0.0; 2]);
    for [least_s, most_s] in groups.into_values() {
        let group_s = (least_s * most_s).sqrt();
        middle_s += group_s;
        squares = plus(squares, [(group_s - least_s).powi(2), (most_s - group_s).powi(2)]);
    }
    [middle_s - squares[0].sqrt(), middle_s + squares[1].sqrt()]
}

fn plus(a: Range, b: Range) -> Range {
    [a[0] + b[0], a[1] + b[1]]
}

/// Returns the seconds that a cell takes on a backend with these peaks.
fn cost_s(planned: &PlannedCell, peaks: Option<&Peaks>) -> Range {
    let execution_s = execution_s(planned, peaks);
    let sampling = &planned.sampling;
    let max_s = sampling.max_time_s;
    let is_gpu = planned.variant.side == Side::Gpu;
    let share = if planned.may_be_screened { SHARE } else { SHARE_OF_ALL };
    std::array::from_fn(|end| {
        let all_s = f64::from(sampling.samples.unwrap_or(MIN_SAMPLES)) * execution_s[end];
        let precise_s = if sampling.samples.is_some() { 0.0 } else { PRECISE[end] * max_s };
        let sampling_s = all_s.min(HARD_FACTOR * max_s).max(precise_s);
        let threads_s = if is_gpu { 0.0 } else { THREADS_S[end] };
        let warm_ups_s = (WARM_UPS[end] * execution_s[end]).min(WARM_UPS_S);
        share[end] * (AROUND_S[end] + threads_s + warm_ups_s + sampling_s + UNTIMED[end] * execution_s[end])
    })
}

fn execution_s(planned: &PlannedCell, peaks: Option<&Peaks>) -> Range {
    let case = &planned.cell.case;
    let work = op::find(&case.op).map(|op| op.work(case)).unwrap_or_default();
    let all = processors::allowed().len().max(1) as f64;
    let threads = fewer_threads(&planned.cell.variant).map_or(all, |threads| threads as f64);
    let is_gpu = planned.variant.side == Side::Gpu;
    let part = if is_gpu { 1.0 } else { threads / all };
    let flop = peaks.and_then(|peaks| known_flop(peaks, case.dtype)).map(|rate| [rate; 2]);
    let flop = flop
        .unwrap_or_else(|| if is_gpu { GPU_FLOP } else { unknown_flop(case.dtype).map(|rate| rate * all) });
    let bytes = peaks.and_then(|peaks| peaks.copy).map(|rate| [rate; 2]);
    let of_threads = || THREAD_BYTES.map(|rate| (rate * all).min(MAX_CPU_BYTES));
    let bytes = bytes.unwrap_or_else(|| if is_gpu { GPU_BYTES } else { of_threads() });
    let shares = SHARES.iter().find(|(op, _)| *op == case.op).map_or(STREAMED, |(_, shares)| *shares);
    let share = shares[usize::from(is_gpu)];
    // The least time is that at the highest rate.
    let seconds = |end: usize| (work.flop / (flop[end] * part)).max(work.bytes / bytes[end]) / share[end];
    [seconds(1), seconds(0)]
}

/// Returns the measured rate of products of that element type, or half or twice that of the other one.
fn known_flop(peaks: &Peaks, dtype: DType) -> Option<f64> {
    let rate = |dtype: DType| peaks.matmul.get(dtype.name()).copied();
    rate(dtype).or_else(|| match dtype {
        DType::F32 => rate(DType::F64).map(|rate| 2.0 * rate),
        DType::F64 => rate(DType::F32).map(|rate| rate / 2.0),
    })
}

/// Returns the rates that a thread of this CPU may have, by the width of its registers.
fn unknown_flop(dtype: DType) -> Range {
    #[cfg(target_arch = "x86_64")]
    let lanes = if std::arch::is_x86_feature_detected!("avx512f") {
        16.0
    } else if std::arch::is_x86_feature_detected!("avx2") {
        8.0
    } else {
        4.0
    };
    #[cfg(not(target_arch = "x86_64"))]
    let lanes = 4.0;
    let lanes = if dtype == DType::F64 { lanes / 2.0 } else { lanes };
    THREAD_SHARE.map(|share| share * lanes * LANE_FLOP)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::executor::cell_run::tests::planned;

    /// An op, its sizes, and its number of variants on the CPU and on CUDA.
    type Swept<'a> = (&'a str, &'a [u64], [usize; 2]);

    fn cells(sweep: &[Swept<'_>], max_time_s: f64, may_be_screened: bool) -> Vec<PlannedCell> {
        let mut cells = vec![];
        for (op, sizes, variants) in sweep {
            for (at, side) in [Side::Cpu, Side::Gpu].into_iter().enumerate() {
                for n in sizes.iter().flat_map(|n| std::iter::repeat_n(*n, variants[at])) {
                    let mut one = planned(n, "a");
                    one.cell.case.op = (*op).into();
                    one.cell.case.density = (*op == "spgemm").then_some(0.01);
                    one.cell.backend = ["cpu", "cuda"][at].into();
                    one.variant.side = side;
                    one.sampling.max_time_s = max_time_s;
                    one.may_be_screened = may_be_screened;
                    cells.push(one);
                }
            }
        }
        cells
    }

    /// The sweep `quick` as it was in November 2026, run without screening.
    const QUICK: &[Swept<'_>] = &[
        ("matmul", &[1000, 2000], [5, 1]),
        ("elementwise", &[2000, 4000], [1, 1]),
        ("reduction", &[2000, 4000], [1, 1]),
        ("fft", &[1000, 2000], [3, 1]),
        ("solve", &[250, 500, 1000], [6, 1]),
        ("spgemm", &[1000, 4000], [1, 1]),
        ("svd", &[250, 500], [5, 1]),
    ];
    /// Returns a sweep of the main ops, the first three of them over `large` sizes, with their numbers of variants.
    fn main_ops<'a>(large: &'a [u64], small: &'a [u64], variants: [[usize; 2]; 7]) -> Vec<Swept<'a>> {
        let ops = ["matmul", "elementwise", "reduction", "fft", "solve", "spgemm", "svd"];
        let sizes = |index| if index < 3 { large } else { small };
        (0..7).map(|index| (ops[index], sizes(index), variants[index])).collect()
    }

    const LARGE: &[u64] = &[100, 500, 1000, 5000, 10_000];
    const SMALL: &[u64] = &[100, 500, 512, 1024, 2048];

    /// Returns the sweep `article` as it was then.
    fn article() -> Vec<Swept<'static>> {
        main_ops(LARGE, SMALL, [[5, 1], [1, 1], [1, 1], [3, 1], [6, 1], [1, 1], [5, 1]])
    }

    /// Peaks of a CPU and of a GPU: bytes and FLOP per second.
    fn peaks_of(cpu: [f64; 2], gpu: [f64; 2]) -> BTreeMap<&'static str, Option<Peaks>> {
        let known = [("cpu", cpu), ("cuda", gpu)].map(|(name, [copy, product])| {
            let matmul = [("f32".to_owned(), product)].into();
            (name, Some(Peaks { copy: Some(copy), matmul, ..Peaks::default() }))
        });
        known.into()
    }

    const H200: [f64; 2] = [4.3e12, 5.1e13];

    /// The peaks of 16 threads of a Xeon and of an H200.
    fn known() -> BTreeMap<&'static str, Option<Peaks>> {
        peaks_of([1.3e11, 1.8e12], H200)
    }

    #[test]
    fn the_time_of_real_runs_lies_in_the_range() {
        let (kept, two_threads) = (peaks_of([2.2e11, 1.4e12], H200), peaks_of([4.5e10, 2.4e11], H200));
        // The cells with a time of `results/h200/article` and of `results/xeon-2`, which has each in both element types.
        let h200 = main_ops(LARGE, SMALL, [[3, 3], [2, 2], [2, 2], [4, 2], [4, 2], [2, 2], [4, 5]]);
        let of_xeon = [14, 10, 10, 10, 12, 6, 8].map(|cpu| [cpu, 0]);
        let xeon = main_ops(&LARGE[..3], &SMALL[..4], of_xeon);
        // Seconds that these runs took on that machine.
        for (sweep, max_time_s, may_be_screened, peaks, took_s) in [
            (QUICK, 0.2, false, &known(), 29.2),
            (&article(), 0.5, true, &known(), 147.0),
            (&h200, 0.1, true, &kept, 139.1),
            (&xeon, 0.3, true, &two_threads, 212.4),
        ] {
            let cells = cells(sweep, max_time_s, may_be_screened);
            let [least, most] = plus(START_S, cells_s(&cells, peaks, 300.0));
            assert!(least < took_s && took_s < most, "{took_s} s: {least} s to {most} s");
            assert!(most < 2.0 * least, "{least} s to {most} s");
        }
    }

    #[test]
    fn what_is_not_known_of_many_ops_partly_cancels() {
        let of = |ops: &[Swept<'_>]| {
            let [least, most] = cells_s(&cells(ops, 0.1, true), &known(), 300.0);
            most / least
        };
        let several = of(&[("fft", &[2048], [4, 0]), ("solve", &[2048], [4, 0]), ("svd", &[1024], [4, 0])]);
        let alone = [("fft", 2048), ("solve", 2048), ("svd", 1024)].map(|(op, n)| of(&[(op, &[n], [4, 0])]));
        assert!(alone.iter().all(|alone| several < *alone), "{several}: {alone:?}");
        // Sizes and variants of one op are fast or slow together.
        let more = of(&[("svd", &[1024, 1024], [8, 0])]);
        assert!((more / alone[2] - 1.0).abs() < 1e-9, "{more}: {alone:?}");
    }

    #[test]
    fn unknown_peaks_widen_the_range() {
        let cells = cells(&article(), 0.5, true);
        let [least, most] = cells_s(&cells, &known(), 300.0);
        // Peaks in the middle of the ranges of the unknown ones, on any machine that runs this.
        let all = processors::allowed().len() as f64;
        let middle = |[least, most]: Range| (least * most).sqrt();
        let cpu = [
            middle(THREAD_BYTES.map(|rate| (rate * all).min(MAX_CPU_BYTES))),
            middle(unknown_flop(DType::F32)) * all,
        ];
        let peaks = peaks_of(cpu, [middle(GPU_BYTES), middle(GPU_FLOP)]);
        let [least_known, most_known] = cells_s(&cells, &peaks, 300.0);
        let [least_unknown, most_unknown] = cells_s(&cells, &[("cpu", None), ("cuda", None)].into(), 300.0);
        assert!(least_unknown < least_known && most_known < most_unknown);
        assert!(least > 0.0 && most > least);
    }

    #[test]
    fn a_peak_of_one_element_type_gives_that_of_the_other() {
        let of =
            |dtype: DType| Peaks { matmul: [(dtype.name().to_owned(), 4e11)].into(), ..Peaks::default() };
        assert_eq!(known_flop(&of(DType::F32), DType::F64), Some(2e11));
        assert_eq!(known_flop(&of(DType::F64), DType::F32), Some(8e11));
        assert_eq!(known_flop(&Peaks::default(), DType::F32), None);
    }

    #[test]
    fn a_budget_bounds_the_time_and_kept_peaks_need_no_measurement() {
        let cells = cells(QUICK, 0.2, true);
        let of = |peaks: &PeakSource, budget_s| {
            estimate(&cells, Registry::new(&[]), peaks, budget_s, 300.0).unwrap()
        };
        let free = of(&PeakSource::Unwanted, None);
        assert!(!free.measures_peaks);
        let budget_s = 2.0 * free.seconds[0];
        assert_eq!(of(&PeakSource::Unwanted, Some(budget_s)).seconds, [free.seconds[0], budget_s]);
        assert_eq!(of(&PeakSource::Unwanted, Some(1.0)).seconds, [1.0; 2]);
        let measured = of(&PeakSource::Measured, None);
        assert!(measured.measures_peaks);
        let both = plus(PEAKS_S, PEAKS_S);
        let added = [0, 1].map(|end| measured.seconds[end] - free.seconds[end] - both[end]);
        assert!(added.iter().all(|difference| difference.abs() < 1e-9), "{added:?}");
    }

    #[test]
    fn a_cell_takes_no_longer_than_its_limit() {
        let cells = cells(&[("matmul", &[1 << 20], [3, 0])], 0.5, true);
        assert!(cells_s(&cells, &known(), 60.0).iter().all(|seconds| (seconds - 180.0).abs() < 1e-9));
    }

    #[test]
    fn a_fixed_number_of_samples_takes_no_more_than_these() {
        let mut one = planned(100, "a");
        let before = cost_s(&one, None);
        one.sampling.samples = Some(1);
        let after = cost_s(&one, None);
        assert!(after[0] < before[0] && after[1] < before[1] - 0.8 * PRECISE[1] * one.sampling.max_time_s);
    }
}
