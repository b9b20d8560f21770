//! Estimates the time of a run before it begins, without any device.

use std::collections::BTreeMap;

use gpubench_backend::host::processors;
use gpubench_backend::{Peaks, Registry, Side, fewer_threads};
use gpubench_ops as op;
use gpubench_report::measure::sampling::{HARD_FACTOR, MIN_SAMPLES};

use super::PlannedCell;
use super::peaks::{PeakSource, newest_kept};

/// A range from the least to the most.
type Range = [f64; 2];

/// Seconds per cell for preparation, warm-up, checks and its share of saving, and for the choice of threads.
const AROUND_S: Range = [0.15, 0.2];
const THREADS_S: Range = [0.0, 0.15];
/// Share of the cells' time that a run takes: variants that are missing or far behind take little.
const SHARE: Range = [0.7, 0.85];
/// Share of the cells' time that a run takes where every variant is sampled to precision.
const SHARE_OF_ALL: Range = [0.7, 1.0];
/// Part of `--max-time` until a time is precise.
const PRECISE: Range = [1.0 / 3.0, 1.0];
/// Executions that are not samples: the first and those of checks.
const UNTIMED: Range = [2.0, 3.0];
/// Executions of warm-ups and trials of threads, and the seconds after which these end.
const WARM_UPS: Range = [0.0, 5.0];
const WARM_UPS_S: f64 = 0.5;
/// Seconds to measure the peaks of one backend, and to start and end workers.
const PEAKS_S: Range = [1.0, 5.0];
const START_S: Range = [0.3, 1.0];

/// Rate of matrix products over the peak FLOP rate, and that of other ops.
const PRODUCT_SHARE: Range = [0.3, 1.0];
const OTHER_SHARE: Range = [0.06, 0.3];
/// Memory traffic over the peak bandwidth.
const TRAFFIC_SHARE: Range = [0.5, 1.0];
/// Unknown peaks: FLOP per second of a CPU's thread and of a GPU, bytes per second of their memory.
const THREAD_FLOP: Range = [4e10, 2e11];
const GPU_FLOP: Range = [1e13, 6e13];
const CPU_BYTES: Range = [2e10, 2e11];
const GPU_BYTES: Range = [3e11, 4e12];

/// The time that a run is expected to take.
#[derive(Clone, Debug, PartialEq)]
pub struct RunEstimate {
    /// Seconds, at least and at most.
    pub seconds: Range,
    /// True if the run measures peaks of the CPU, because none are known.
    pub measures_peaks: bool,
}

/// The limits of a run, in seconds.
#[derive(Clone, Copy, Debug)]
pub struct RunLimits {
    /// The time of the whole run, if it has a limit.
    pub budget_s: Option<f64>,
    /// The time after which a cell is given up.
    pub cell_s: f64,
}

/// Returns the expected time of a run of `cells`; `None` if all times are simulated. Peaks that earlier runs kept narrow it.
pub fn estimate(
    cells: &[PlannedCell],
    registry: Registry,
    peaks: &PeakSource,
    limits: RunLimits,
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
    let is_gpu = |name: &str| {
        cells.iter().any(|planned| planned.cell.backend == name && planned.variant.side == Side::Gpu)
    };
    let mut seconds = plus(START_S, cells_s(cells, &backends, limits.cell_s));
    let mut measures_peaks = false;
    for (name, _) in backends.iter().filter(|(_, kept)| is_measured(kept)) {
        // A GPU without known peaks may be absent.
        let least_s = if is_gpu(name) { 0.0 } else { PEAKS_S[0] };
        seconds = plus(seconds, [least_s, PEAKS_S[1]]);
        measures_peaks |= !is_gpu(name);
    }
    if let Some(budget_s) = limits.budget_s {
        // A run spends the rest of its budget on times that are not precise.
        seconds = [seconds[0].min(budget_s), budget_s];
    }
    (!backends.is_empty()).then_some(RunEstimate { seconds, measures_peaks })
}

/// Returns the seconds that the cells of `backends`, given with their peaks, take together, each at most `limit_s`.
fn cells_s(cells: &[PlannedCell], backends: &BTreeMap<&str, Option<Peaks>>, limit_s: f64) -> Range {
    let costs = cells.iter().filter_map(|one| Some(cost_s(one, backends.get(&*one.cell.backend)?.as_ref())));
    costs.map(|cost| cost.map(|seconds| seconds.min(limit_s))).fold([0.0; 2], plus)
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
        // A GPU without known peaks may be absent, and cells without a device take no time.
        let share = if is_gpu && peaks.is_none() && end == 0 { 0.0 } else { share[end] };
        let warm_ups_s = (WARM_UPS[end] * execution_s[end]).min(WARM_UPS_S);
        share * (AROUND_S[end] + threads_s + warm_ups_s + sampling_s + UNTIMED[end] * execution_s[end])
    })
}

/// Returns the seconds of one execution of the cell.
fn execution_s(planned: &PlannedCell, peaks: Option<&Peaks>) -> Range {
    let case = &planned.cell.case;
    let work = op::find(&case.op).map(|op| op.work(case)).unwrap_or_default();
    let all = processors::allowed().len().max(1) as f64;
    let threads = fewer_threads(&planned.cell.variant).map_or(all, |threads| threads as f64);
    let (unknown_flop, unknown_bytes, part) = match planned.variant.side {
        Side::Gpu => (GPU_FLOP, GPU_BYTES, 1.0),
        Side::Cpu => (THREAD_FLOP.map(|rate| rate * all), CPU_BYTES, threads / all),
    };
    let flop = peaks.and_then(|peaks| peaks.matmul.get(case.dtype.name()));
    let bytes = peaks.and_then(|peaks| peaks.copy);
    let flop = flop.map_or(unknown_flop, |rate| [*rate; 2]);
    let bytes = bytes.map_or(unknown_bytes, |rate| [rate; 2]);
    let flop_share = if case.op == "matmul" { PRODUCT_SHARE } else { OTHER_SHARE };
    // The least time is that at the highest rate.
    let seconds = |end: usize| {
        let arithmetic_s = work.flop / (flop[end] * flop_share[end] * part);
        arithmetic_s.max(work.bytes / (bytes[end] * TRAFFIC_SHARE[end]))
    };
    [seconds(1), seconds(0)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::executor::cell_run::tests::planned;

    /// An op, its sizes, and its number of variants on the CPU and on CUDA.
    type Swept<'a> = (&'a str, &'a [u64], [usize; 2]);

    /// Returns the cells of a sweep.
    fn cells(sweep: &[Swept<'_>], max_time_s: f64, may_be_screened: bool) -> Vec<PlannedCell> {
        let mut cells = vec![];
        for (op, sizes, variants) in sweep {
            for (at, side) in [Side::Cpu, Side::Gpu].into_iter().enumerate() {
                for n in sizes.iter().flat_map(|n| std::iter::repeat_n(*n, variants[at])) {
                    let mut one = planned(n, "a");
                    one.cell.case.op = (*op).into();
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

    /// The peaks of 16 threads of a Xeon and of an H200.
    fn known() -> BTreeMap<&'static str, Option<Peaks>> {
        let known = [("cpu", 1.3e11, 1.8e12), ("cuda", 4.3e12, 5.1e13)].map(|(name, copy, product)| {
            let matmul = [("f32".to_owned(), product)].into();
            (name, Some(Peaks { copy: Some(copy), matmul, ..Peaks::default() }))
        });
        known.into()
    }

    const QUICK: &[Swept<'_>] = &[
        ("matmul", &[1000, 2000], [5, 1]),
        ("elementwise", &[2000, 4000], [1, 1]),
        ("reduction", &[2000, 4000], [1, 1]),
        ("fft", &[1000, 2000], [3, 1]),
        ("solve", &[250, 500, 1000], [6, 1]),
        ("spgemm", &[1000, 4000], [1, 1]),
        ("svd", &[250, 500], [5, 1]),
    ];
    const ARTICLE: &[Swept<'_>] = &[
        ("matmul", &[100, 500, 1000, 5000, 10_000], [5, 1]),
        ("elementwise", &[100, 500, 1000, 5000, 10_000], [1, 1]),
        ("reduction", &[100, 500, 1000, 5000, 10_000], [1, 1]),
        ("fft", &[100, 500, 512, 1024, 2048], [3, 1]),
        ("solve", &[100, 500, 512, 1024, 2048], [6, 1]),
        ("spgemm", &[100, 500, 512, 1024, 2048], [1, 1]),
        ("svd", &[100, 500, 512, 1024, 2048], [5, 1]),
    ];

    #[test]
    fn the_time_of_real_runs_lies_in_the_range() {
        let two_ops: &[Swept<'_>] = &[("matmul", &[100, 1000], [5, 1]), ("fft", &[100, 1000], [3, 1])];
        // Seconds that these runs took on that machine.
        for (sweep, max_time_s, may_be_screened, took_s) in [
            (QUICK, 0.2, true, 22.1),
            (QUICK, 0.2, true, 21.5),
            (QUICK, 0.2, false, 29.2),
            (ARTICLE, 0.5, true, 147.0),
            (two_ops, 0.5, true, 8.6),
        ] {
            let cells = cells(sweep, max_time_s, may_be_screened);
            let [least, most] = plus(START_S, cells_s(&cells, &known(), 300.0));
            assert!(1.2 * least < took_s && took_s < most / 1.2, "{took_s} s: {least} s to {most} s");
            assert!(most < 5.0 * least, "{least} s to {most} s");
        }
    }

    #[test]
    fn unknown_peaks_widen_the_range() {
        let cells = cells(ARTICLE, 0.5, true);
        let [least, most] = cells_s(&cells, &known(), 300.0);
        // Peaks that lie in the ranges of the unknown ones, on any machine that runs this.
        let all = processors::allowed().len() as f64;
        let mut peaks = known();
        let cpu = [("f32".to_owned(), all * 6e10)].into();
        *peaks.get_mut("cpu").unwrap() = Some(Peaks { copy: Some(5e10), matmul: cpu, ..Peaks::default() });
        let [least_known, most_known] = cells_s(&cells, &peaks, 300.0);
        let [least_unknown, most_unknown] = cells_s(&cells, &[("cpu", None), ("cuda", None)].into(), 300.0);
        assert!(least_unknown < least_known && most_known < most_unknown);
        assert!(least > 0.0 && most > least);
    }

    #[test]
    fn a_budget_bounds_the_time_and_kept_peaks_need_no_measurement() {
        let cells = cells(QUICK, 0.2, true);
        let of = |peaks: &PeakSource, budget_s| {
            estimate(&cells, Registry::new(&[]), peaks, RunLimits { budget_s, cell_s: 300.0 }).unwrap()
        };
        let free = of(&PeakSource::Unwanted, None);
        assert!(!free.measures_peaks);
        assert_eq!(of(&PeakSource::Unwanted, Some(60.0)).seconds, [free.seconds[0], 60.0]);
        assert_eq!(of(&PeakSource::Unwanted, Some(1.0)).seconds, [1.0; 2]);
        let measured = of(&PeakSource::Measured, None);
        assert!(measured.measures_peaks);
        let with_cpu = plus(free.seconds, PEAKS_S);
        assert_eq!(measured.seconds, plus(with_cpu, [0.0, PEAKS_S[1]]), "the GPU may be absent");
    }

    #[test]
    fn a_cell_takes_no_longer_than_its_limit() {
        let cells = cells(&[("matmul", &[1 << 20], [3, 0])], 0.5, true);
        assert_eq!(cells_s(&cells, &known(), 60.0), [180.0; 2]);
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
