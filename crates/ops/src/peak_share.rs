//! Computes a row's share of the measured peak of memory, arithmetic or bus, whichever limits it, as in S. Williams,
//! A. Waterman, D. Patterson, "Roofline: an insightful visual performance model", CACM 52 (2009).
//! `docs/peaks.md` describes the peaks.

use gpubench_report::case::{Cache, DType};
use gpubench_report::report::machine::device_of_backend;
use gpubench_report::report::{BackendState, Clock, Report, Row};
use gpubench_report::{Accuracy, Peaks, Side};

use super::{Limit, find};

/// The resource that limits a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum BoundBy {
    /// Bytes per second of memory.
    Memory,
    /// FLOP per second.
    Arithmetic,
    /// Bytes per second between host and device.
    Bus,
}

/// A row's share of the peak that limits it.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct Share {
    /// Minimum time over median time: 1 at the peak, above 1 where caches helped or the peak was measured at a slower
    /// moment.
    pub share: f64,
    /// The resource with the longest minimum time.
    pub bound_by: BoundBy,
    /// The minimum time that the peaks allow, in seconds.
    pub min_s: f64,
    /// The element type of the FLOP rate, where it is another one than the row's: `f64`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate_of: Option<&'static str>,
}

/// Returns the share of the peak that `row` reaches by its own clock; `None` without a peak or a time.
pub fn share(report: &Report, row: &Row) -> Option<Share> {
    let median_s = row.median_s().filter(|median| *median > 0.0)?;
    let peaks = peaks(report, &row.backend)?;
    let (min_s, bound_by) = min_time(&peaks, row)?;
    let rate_of = peak(&peaks, row).map(|(_, of)| of);
    let rate_of = rate_of.filter(|of| bound_by == BoundBy::Arithmetic && *of != precision(row));
    Some(Share { share: min_s / median_s, bound_by, min_s, rate_of })
}

/// The measured peaks of a backend. Rows of the report never raise them: a row would then be compared with itself.
pub fn peaks(report: &Report, backend: &str) -> Option<Peaks> {
    source(report, backend)?.peaks.clone()
}

/// The backend whose peaks hold for `backend`: itself, or the backend of gpubench that measured those of the same device.
fn source<'a>(report: &'a Report, backend: &str) -> Option<&'a BackendState> {
    let own = report.environment.backend(backend)?;
    if own.peaks.is_some() {
        return Some(own);
    }
    let side = report.rows.iter().find(|row| row.backend == backend)?.side;
    let measured = report.environment.backend(if side == Side::Cpu { "cpu" } else { "cuda" })?;
    let [of_own, of_measured] = [own, measured].map(|state| device_of_backend(report, state));
    // Without a name, a CPU is the host's, and a GPU is unknown.
    let is_same = of_own == of_measured && (side == Side::Cpu || of_own.is_some());
    (is_same && measured.peaks.is_some()).then_some(measured)
}

/// The arithmetic of a row: its element type, which it may emulate, or the reduced precision that it names.
pub fn precision(row: &Row) -> &'static str {
    match row.accuracy {
        Accuracy::Ieee | Accuracy::Emulated => row.case.dtype.name(),
        Accuracy::Tf32 => "tf32",
        Accuracy::F16 => "f16",
        Accuracy::Bf16 => "bf16",
    }
}

/// The resource that limits an op at large sizes; memory for an op unknown here.
pub fn limit(op: &str) -> Limit {
    find(op).map_or(Limit::ReadAndWrite, |op| op.about().limit)
}

/// The peak memory bandwidth of an op with that limit, in bytes per second.
pub fn bandwidth(peaks: &Peaks, limit: Limit) -> Option<f64> {
    let mixed = [peaks.copy, peaks.triad].into_iter().flatten().max_by(f64::total_cmp);
    match limit {
        Limit::Read => peaks.read.or(mixed),
        Limit::ReadAndWrite => mixed.or(peaks.read),
        Limit::Bus | Limit::Latency => None,
    }
}

/// A median counts as an error where the minimum time exceeds it by this factor: device clocks repeat within a few per
/// cent, but on shared hosts the rates of memory and CPUs vary up to twofold within minutes.
const TOLERANCE_DEVICE: f64 = 1.25;
const TOLERANCE_HOST: f64 = 2.5;

/// The least time that the machine needs for the work of a row whose time is shorter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ImpossibleTime {
    /// The least time, in seconds.
    pub min_s: f64,
    /// The work that takes it, for a sentence: `its arithmetic`.
    pub work: &'static str,
}

/// Returns the least time of a row whose median cannot be right: the arithmetic, or with cold caches reading the operands once,
/// takes longer at the measured peaks. Written bytes may stay in a cache and do not count.
pub fn impossible(peaks: &Peaks, row: &Row) -> Option<ImpossibleTime> {
    let execute = row.execute.as_ref()?;
    let op = find(&row.case.op).filter(|op| matches!(op.about().limit, Limit::Read | Limit::ReadAndWrite))?;
    let rates = [peaks.read, peaks.copy, peaks.triad].into_iter().flatten();
    let rate = rates.reduce(f64::max).filter(|_| row.cache == Cache::Cold);
    let reading = rate.map(|rate| (op.read_bytes(&row.case) / rate, "reading its operands"));
    let arithmetic = peak(peaks, row).map(|(rate, _)| (row.work.flop / rate, "its arithmetic"));
    let longest = reading.into_iter().chain(arithmetic).max_by(|a, b| a.0.total_cmp(&b.0));
    let (min_s, work) = longest.filter(|(s, _)| s.is_finite())?;
    let tolerance = if execute.clock == Clock::Host { TOLERANCE_HOST } else { TOLERANCE_DEVICE };
    (execute.median_s * tolerance < min_s).then_some(ImpossibleTime { min_s, work })
}

/// Returns the peak FLOP rate for a row, and the arithmetic that reaches it. A row in full precision may compute in a wider type
/// where the device is faster in it. Emulated arithmetic has no peak, because it executes other operations than it counts.
fn peak(peaks: &Peaks, row: &Row) -> Option<(f64, &'static str)> {
    let of = |name: &'static str| Some((*peaks.matmul.get(name)?, name));
    match row.accuracy {
        Accuracy::Ieee => {
            // Rates of 16-bit types are not measured on every device; those of other types are no bound for them.
            let dtypes = match row.case.dtype {
                dtype @ (DType::Bf16 | DType::F16) => [dtype; 2],
                dtype => [DType::F64, dtype.working()],
            };
            let rates = dtypes.into_iter().filter_map(|dtype| of(dtype.name()));
            rates.max_by(|a, b| a.0.total_cmp(&b.0))
        }
        Accuracy::Emulated => None,
        Accuracy::Tf32 | Accuracy::F16 | Accuracy::Bf16 => of(precision(row)),
    }
}

/// The minimum time of a row's work in seconds, and the resource that sets it.
fn min_time(peaks: &Peaks, row: &Row) -> Option<(f64, BoundBy)> {
    if row.accuracy == Accuracy::Emulated {
        return None;
    }
    let limit = limit(&row.case.op);
    let times = match limit {
        Limit::Latency => return None,
        Limit::Bus => {
            let rates = [peaks.upload, peaks.download].map(|rates| rates.map(|rates| rates.pinned));
            let best = rates.into_iter().flatten().max_by(f64::total_cmp)?;
            vec![(row.work.bytes / best, BoundBy::Bus)]
        }
        Limit::Read | Limit::ReadAndWrite => {
            let memory = bandwidth(peaks, limit).map(|rate| (row.work.bytes / rate, BoundBy::Memory));
            let arithmetic = peak(peaks, row).map(|(rate, _)| (row.work.flop / rate, BoundBy::Arithmetic));
            memory.into_iter().chain(arithmetic).collect()
        }
    };
    let usable = times.into_iter().filter(|(min_s, _)| min_s.is_finite() && *min_s > 0.0);
    usable.max_by(|a, b| a.0.total_cmp(&b.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpubench_report::report::example;

    fn report(op: &str, n: u64, median_s: f64) -> Report {
        example::with_peaks(example::of([example::measured(op, n, "cuda", "v", median_s)]))
    }

    fn found(report: &Report) -> (f64, BoundBy) {
        let share = share(report, &report.rows[0]).unwrap();
        ((1000.0 * share.share).round() / 1000.0, share.bound_by)
    }

    fn peaks_of(report: &mut Report) -> &mut Option<Peaks> {
        &mut report.environment.backends[1].peaks
    }

    #[test]
    fn the_resource_that_takes_longer_limits() {
        use BoundBy::{Arithmetic, Memory};
        type Change = fn(&mut Report);
        let unchanged: Change = |_| {};
        for (op, n, median_s, change, expected) in [
            // 2 N³ FLOP at 50 TFLOP/s and 12 N² bytes at 4 TB/s.
            ("matmul", 10_000, 80e-3, unchanged, (0.5, Arithmetic)),
            ("matmul", 10, 6e-10, unchanged, (0.5, Memory)),
            ("matmul", 10_000, 20e-3, unchanged, (2.0, Arithmetic)),
            // Other rows do not change the peak.
            (
                "matmul",
                10_000,
                20e-3,
                |report| report.rows.push(example::measured("matmul", 10_000, "cuda", "w", 10e-3)),
                (2.0, Arithmetic),
            ),
            ("reduction", 1000, 6e-6, |report| report.rows[0].work.flop = 0.0, (0.444, Memory)),
            ("matmul", 10_000, 10e-3, |report| report.rows[0].accuracy = Accuracy::Tf32, (0.5, Arithmetic)),
            // A wider type that is faster.
            (
                "matmul",
                10_000,
                80e-3,
                |report| {
                    peaks_of(report).as_mut().unwrap().matmul.insert("f64".into(), 100e12);
                },
                (0.25, Arithmetic),
            ),
        ] {
            let mut report = report(op, n, median_s);
            change(&mut report);
            assert_eq!(found(&report), expected, "{op} {n} {median_s}");
        }
    }

    #[test]
    fn emulated_arithmetic_and_backends_without_peaks_have_no_share() {
        let changes: [fn(&mut Report); 2] =
            [|report| report.rows[0].accuracy = Accuracy::Emulated, |report| *peaks_of(report) = None];
        for change in changes {
            let mut report = report("matmul", 100, 1e-3);
            change(&mut report);
            assert_eq!(share(&report, &report.rows[0]), None);
        }
    }

    #[test]
    fn a_time_below_what_the_peaks_allow_is_impossible() {
        let [arithmetic, reading] = ["its arithmetic", "reading its operands"].map(Some);
        let (cold, hot, device, host) = (Cache::Cold, Cache::Hot, Clock::DeviceEvents, Clock::Host);
        for (op, median_s, cache, clock, expected) in [
            // 2 N³ FLOP at 50 TFLOP/s take 40 ms; 8 N² bytes at 4.5 TB/s take 178 us.
            ("matmul", 30e-3, cold, device, arithmetic),
            ("matmul", 30e-3, hot, device, arithmetic),
            ("matmul", 35e-3, cold, device, None),
            ("elementwise", 100e-6, cold, device, reading),
            ("elementwise", 150e-6, cold, device, None),
            ("elementwise", 100e-6, hot, device, None),
            ("elementwise", 100e-6, cold, host, None),
            ("elementwise", 60e-6, cold, host, reading),
        ] {
            let row = &mut report(op, 10_000, median_s).rows[0];
            (row.cache, row.execute.as_mut().unwrap().clock) = (cache, clock);
            if op == "elementwise" {
                row.work.flop = 0.0;
            }
            let found = impossible(&example::peaks(), row).map(|found| found.work);
            assert_eq!(found, expected, "{op} {median_s}");
        }
    }

    #[test]
    fn a_backend_without_peaks_has_those_measured_on_the_same_device() {
        let mut report = report("matmul", 10_000, 80e-3);
        report.rows.push(example::measured("matmul", 10_000, "cupy", "matmul", 160e-3));
        let add = |report: &mut Report, name: &str| {
            report.environment.backends.push(BackendState {
                name: "cupy".into(),
                available: true,
                description: serde_json::json!({ "name": name }),
                ..BackendState::default()
            });
        };
        let reached = |report: &Report| share(report, &report.rows[1]).map(|found| found.share);
        add(&mut report, "NVIDIA H200");
        assert_eq!(reached(&report), Some(0.25));
        assert_eq!(peaks(&report, "cuda"), peaks(&report, "cupy"));
        let cupy = report.rows[1].execute.as_mut().unwrap();
        cupy.median_s = 20e-3;
        assert_eq!(reached(&report), Some(2.0));
        assert_eq!(
            share(&report, &report.rows[0]).map(|found| found.share),
            Some(0.5),
            "its peak is unchanged"
        );
        report.environment.backends.pop();
        add(&mut report, "NVIDIA A2");
        assert_eq!(reached(&report), None);
        report.rows[1].side = Side::Cpu;
        report.environment.backends[0].peaks = Some(example::peaks());
        assert_eq!(reached(&report), None, "another CPU than the host's");
        report.environment.backends[2].description = serde_json::json!({ "threads": 16 });
        assert!(reached(&report).is_some());
    }
}
