//! The time of one call of a row by kind: kernel, resident, end to end.

use gpubench_ops as op;
use gpubench_report::measure::drift::by_round;
use gpubench_report::measure::stats::{Summary, median};
use gpubench_report::report::{Clock, Outcome, Row};
use gpubench_report::{PinnedCopies, Side, Transfer};

use super::{Estimate, NORMAL_95};

/// The phases that the time of a call includes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// The work alone: a GPU by its own clock, a CPU by the host's.
    Kernel,
    /// The host's time from the call until the answer is there, on the device: launching and waiting included.
    Resident,
    /// The resident time with the operands copied to the device and the answer back: in pageable memory, if that was measured.
    EndToEnd,
    /// End to end from and to pinned memory, where pageable memory was measured too.
    EndToEndPinned,
}

impl Kind {
    /// Every kind, from the least to the most that is included.
    pub const ALL: [Kind; 4] = [Kind::Kernel, Kind::Resident, Kind::EndToEnd, Kind::EndToEndPinned];

    /// The words for people: `end to end`; [`super::Kinds::name`] names the host memory too where two kinds were measured.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Kernel => "kernel",
            Kind::Resident => "resident",
            Kind::EndToEnd => "end to end",
            Kind::EndToEndPinned => "end to end, pinned",
        }
    }

    /// The key in JSON: `end_to_end`.
    pub fn key(self) -> &'static str {
        match self {
            Kind::Kernel => "kernel",
            Kind::Resident => "resident",
            Kind::EndToEnd => "end_to_end",
            Kind::EndToEndPinned => "end_to_end_pinned",
        }
    }
}

/// Widens the interval of a time by another standard uncertainty, in squares.
fn widened(time: Estimate, standard_error: f64) -> Estimate {
    let reach = NORMAL_95 * standard_error;
    let low = time.value - (time.value - time.low).hypot(reach);
    // A time is not below 0, and ratios have logarithms.
    let low = low.max(0.05 * time.value).min(time.low);
    Estimate { low, high: time.value + (time.high - time.value).hypot(reach), ..time }
}

/// The seconds of one call of `row`; `None` when it was not measured, or when what the kind includes is not known.
pub fn estimate(row: &Row, kind: Kind) -> Option<Estimate> {
    let execute = row.execute.as_ref().filter(|_| row.outcome == Outcome::Measured)?;
    let part = |samples: &[f64], value: f64, [low, high]: [f64; 2]| {
        // Where rounds differ, their samples together seem to know too much: the interval reaches to the medians of all.
        let medians = by_round(samples, &execute.rounds).into_iter().filter_map(|round| median(&round));
        medians.fold(of_few(Estimate { value, low, high }, samples), |wide, median| Estimate {
            low: wide.low.min(median),
            high: wide.high.max(median),
            ..wide
        })
    };
    let on_host = || {
        let interval = execute.host_ci95_s.unwrap_or([execute.host_median_s; 2]);
        part(execute.host_samples(), execute.host_median_s, interval)
    };
    Some(match kind {
        // The host's clock includes launching, so it gives no time of a GPU's work alone.
        Kind::Kernel if row.side == Side::Gpu && execute.clock == Clock::Host => return None,
        Kind::Kernel => {
            let samples = part(&execute.samples_s, execute.median_s, execute.ci95_s);
            execute.event_uncertainty_s.map_or(samples, |error| widened(samples, error))
        }
        Kind::Resident => on_host(),
        Kind::EndToEnd if row.side == Side::Cpu || op::copies_itself(&row.case.op) => on_host(),
        Kind::EndToEnd => {
            let phases = row.phases.as_ref()?;
            whole(phases.upload.as_ref()?, on_host(), phases.download.as_ref()?)?
        }
        Kind::EndToEndPinned if row.side == Side::Cpu => on_host(),
        Kind::EndToEndPinned => {
            let pinned = pinned_copies(row)?;
            whole(&pinned.upload, on_host(), &pinned.download)?
        }
    })
}

/// The copies of a row with pinned memory next to those with pageable memory; `None` for an op that copies itself.
pub(crate) fn pinned_copies(row: &Row) -> Option<&PinnedCopies> {
    row.phases.as_ref()?.pinned.as_ref().filter(|_| !op::copies_itself(&row.case.op))
}

/// The seconds of a call with its copies.
fn whole(upload: &Transfer, resident: Estimate, download: &Transfer) -> Option<Estimate> {
    Some(copies(upload)?.plus(resident).plus(copies(download)?))
}

/// The assumed error of a time known by a single sample, as a factor.
const OF_ONE_SAMPLE: f64 = 3.0;

/// Quantiles of Student's t at 97.5 % with 1, 2 and 3 degrees of freedom.
const STUDENT: [f64; 3] = [12.706, 4.303, 3.182];

/// Widens the interval of fewer than five samples, whose range covers the median in less than 94 % of cases, by Student's t.
fn of_few(estimate: Estimate, samples: &[f64]) -> Estimate {
    let factor = match samples.len() {
        1 => OF_ONE_SAMPLE,
        n @ 2..5 => {
            let logs: Vec<f64> = samples.iter().map(|sample| sample.ln()).collect();
            let mean = logs.iter().sum::<f64>() / n as f64;
            let variance = logs.iter().map(|log| (log - mean).powi(2)).sum::<f64>() / (n - 1) as f64;
            (STUDENT[n - 2] * (variance / n as f64).sqrt()).exp()
        }
        _ => return estimate,
    };
    let (low, high) = (estimate.value / factor, estimate.value * factor);
    Estimate { low: estimate.low.min(low), high: estimate.high.max(high), ..estimate }
}

fn copies(transfer: &Transfer) -> Option<Estimate> {
    let Summary { median, low, high, .. } = Summary::of(&transfer.host_s)?;
    Some(of_few(Estimate { value: median, low, high }, &transfer.host_s))
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpubench_report::report::example;

    fn values(row: &Row) -> [Option<f64>; 4] {
        Kind::ALL.map(|kind| estimate(row, kind).map(|found| (found.value * 1e9).round() / 1e9))
    }

    #[test]
    fn another_uncertainty_widens_both_ends_and_keeps_a_time_above_zero() {
        let time = Estimate { value: 10.0, low: 7.0, high: 14.0 };
        let wide = widened(time, 4.0 / NORMAL_95);
        assert!((wide.low - 5.0).abs() < 1e-9 && (wide.high - 10.0 - 32f64.sqrt()).abs() < 1e-9, "{wide:?}");
        assert_eq!(widened(time, 1e3).low, 0.5);
    }

    #[test]
    fn each_kind_adds_to_the_one_before() {
        let gpu = example::measured("fft", 100, "cuda", "r2c", 100e-6);
        assert_eq!(values(&gpu), [Some(100e-6), Some(105e-6), Some(167e-6), None]);
        let cpu = example::measured("fft", 100, "cpu", "realfft", 100e-6);
        assert_eq!(values(&cpu), [Some(100e-6); 4]);
    }

    #[test]
    fn copies_with_pinned_memory_have_a_time_of_their_own() {
        let gpu = |op| example::measured(op, 100, "cuda", "r2c", 100e-6);
        let report = example::with_pinned(example::of([gpu("fft"), gpu("transfer-loop")]), 10.0);
        assert_eq!(values(&report.rows[0])[2..], [Some(167e-6), Some(111.2e-6)]);
        assert_eq!(values(&report.rows[1])[2..], [Some(105e-6), None], "it has its copies in its executions");
    }

    #[test]
    fn rounds_that_differ_widen_the_interval() {
        let mut cpu = example::measured("fft", 100, "cpu", "realfft", 100e-6);
        let narrow = estimate(&cpu, Kind::Kernel).unwrap();
        let execute = cpu.execute.as_mut().unwrap();
        for (index, sample) in execute.samples_s.iter_mut().enumerate() {
            execute.rounds[index] = (index % 3) as u32;
            *sample = [90e-6, 100e-6, 120e-6][index % 3];
        }
        let wide = estimate(&cpu, Kind::Kernel).unwrap();
        assert!(narrow.low > 99e-6 && narrow.high < 101e-6, "{narrow:?}");
        assert_eq!((wide.low, wide.high), (90e-6, 120e-6));
    }

    #[test]
    fn few_samples_have_an_interval_that_allows_for_it() {
        let of = |samples: &[f64]| {
            let mut cpu = example::measured("fft", 100, "cpu", "realfft", 100e-6);
            let execute = cpu.execute.as_mut().unwrap();
            execute.samples_s = samples.to_vec();
            execute.rounds = vec![0; samples.len()];
            (execute.median_s, execute.ci95_s) = (samples[0], [samples[0]; 2]);
            estimate(&cpu, Kind::Kernel).unwrap()
        };
        let ends = |samples: &[f64]| (of(samples).low, of(samples).high);
        assert_eq!(ends(&[2.0]), (2.0 / 3.0, 6.0));
        assert!(matches!(ends(&[1.0, 1.01]), (..0.95, 1.05..)));
        assert!(matches!(ends(&[1.0, 0.98, 1.02]), (_, 1.03..1.1)));
        assert_eq!(ends(&[1.0, 1.0, 1.0]), (1.0, 1.0));
        assert_eq!(ends(&[1.0, 0.9, 1.1, 1.0, 1.0]), (1.0, 1.0), "its own interval is kept");
    }

    #[test]
    fn a_gpu_that_only_the_host_s_clock_timed_has_no_kernel_time() {
        let mut gpu = example::measured("fft", 100, "jax", "fft2", 100e-6);
        gpu.execute.as_mut().unwrap().clock = Clock::Host;
        assert_eq!(values(&gpu), [None, Some(105e-6), Some(167e-6), None]);
    }

    #[test]
    fn what_is_not_known_has_no_cost() {
        let mut gpu = example::measured("fft", 100, "cuda", "r2c", 100e-6);
        gpu.phases = None;
        assert_eq!(values(&gpu), [Some(100e-6), Some(105e-6), None, None]);
        gpu.outcome = Outcome::Incorrect;
        assert_eq!(values(&gpu), [None; 4]);
    }
}
