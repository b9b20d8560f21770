//! The cost of the first use of a GPU, and the number of calls that repay it.

use std::fmt;

use gpubench_report::Side;
use gpubench_report::measure::stats::median;
use gpubench_report::report::{Report, Row};
use serde_with_macros::skip_serializing_none;

use super::cost::{Kind, estimate};
use super::{Estimate, Pair};

/// Host seconds that a program pays once, apart from repeated calls.
#[skip_serializing_none]
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize)]
pub struct FirstUse {
    /// Creating the context of the device.
    pub context_s: Option<f64>,
    /// Compiling our own kernels that the variant uses, when nothing is cached.
    pub compile_s: Option<f64>,
    /// Loading them from the cache on disk instead.
    pub compile_cached_s: Option<f64>,
    /// Planning and allocating.
    pub plan_s: Option<f64>,
    /// The extra time of the first call over later ones.
    pub first_call_s: f64,
    /// Copying the operands to the device once and the answer back once.
    pub copies_s: Option<f64>,
}

impl FirstUse {
    /// The costs of a measured row of a GPU; `None` for one of a CPU.
    pub fn of(report: &Report, row: &Row) -> Option<FirstUse> {
        let on_gpu = row.side == Side::Gpu;
        let (phases, execute) = (row.phases.as_ref().filter(|_| on_gpu)?, row.execute.as_ref()?);
        let state = report.environment.backend(&row.backend)?;
        Some(FirstUse {
            context_s: state.description["context_s"].as_f64(),
            compile_s: phases.compile.and_then(|compile| compile.cold_s),
            compile_cached_s: phases.compile.and_then(|compile| compile.cached_s),
            plan_s: phases.plan_s,
            first_call_s: (phases.first_s - execute.host_median_s).max(0.0),
            copies_s: copies_s(row),
        })
    }

    /// The sum without copies, with kernels compiled rather than loaded from the cache.
    pub fn total_s(&self) -> f64 {
        let parts = [self.context_s, self.compile_s.or(self.compile_cached_s), self.plan_s];
        parts.into_iter().flatten().sum::<f64>() + self.first_call_s
    }
}

/// Returns the calls after which B's GPU has repaid one copy each way; `None` on two GPUs or without copies.
pub fn copies_to_repay(pair: &Pair<'_>) -> Option<Repayment> {
    let copies = copies_s(pair.b).filter(|_| pair.a.side == Side::Cpu && pair.b.side == Side::Gpu)?;
    Some(calls(copies, pair.a_s, pair.b_s))
}

fn copies_s(row: &Row) -> Option<f64> {
    let phases = row.phases.as_ref()?;
    let [up, down] = [&phases.upload, &phases.download].map(|copy| median(&copy.as_ref()?.host_s));
    Some(up? + down?)
}

/// The number of calls on the GPU that repay its first use, written as `105` or `never`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Repayment {
    /// After this many calls.
    After(u64),
    /// Calls take longer on the GPU.
    Never,
    /// Inconclusive: the interval of the time saved per call includes 0.
    Open,
}

/// Returns the calls after which B's GPU has repaid its first use, with one copy each way where data stays; `None` on two GPUs.
pub fn repayment(first: &FirstUse, pair: &Pair<'_>) -> Option<Repayment> {
    if pair.a.side == Side::Gpu {
        return None;
    }
    let once = match pair.kind {
        Kind::EndToEnd | Kind::EndToEndPinned => first.total_s(),
        Kind::Kernel | Kind::Resident => first.total_s() + first.copies_s.unwrap_or(0.0),
    };
    // A caller waits for the resident time, not for the kernel alone.
    let b_s = match pair.kind {
        Kind::Kernel => estimate(pair.b, Kind::Resident)?,
        Kind::Resident | Kind::EndToEnd | Kind::EndToEndPinned => pair.b_s,
    };
    Some(calls(once, pair.a_s, b_s))
}

/// The calls that repay the first use of B's GPU, or never; `None` where it is unknown or the saving is within noise.
pub fn calls_to_repay(report: &Report, pair: &Pair<'_>) -> Option<Repayment> {
    repayment(&FirstUse::of(report, pair.b)?, pair).filter(|found| *found != Repayment::Open)
}

impl fmt::Display for Repayment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Repayment::After(calls) => calls.fmt(f),
            Repayment::Never => f.write_str("never"),
            Repayment::Open => f.write_str("open"),
        }
    }
}

fn calls(once_s: f64, cpu_s: Estimate, gpu_s: Estimate) -> Repayment {
    let saved = cpu_s.minus(gpu_s);
    let calls = (once_s / saved.value).ceil().max(1.0);
    match saved {
        Estimate { low, .. } if low > 0.0 && calls < 1e15 => Repayment::After(calls as u64),
        Estimate { high, .. } if high < 0.0 => Repayment::Never,
        _ => Repayment::Open,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::answer::exact;
    use crate::answer::sections;
    use gpubench_report::report::example;

    #[test]
    fn calls_repay_the_first_use_or_never_do() {
        assert_eq!(calls(1.0, exact(0.3), exact(0.1)), Repayment::After(5));
        assert_eq!(calls(0.0, exact(0.3), exact(0.1)), Repayment::After(1));
        assert_eq!(calls(1.0, exact(0.1), exact(0.3)), Repayment::Never);
    }

    #[test]
    fn a_saving_whose_interval_includes_zero_is_inconclusive() {
        let around = |value: f64| Estimate { value, low: 0.9 * value, high: 1.1 * value };
        assert_eq!(calls(1.0, exact(0.1), exact(0.1)), Repayment::Open);
        assert_eq!(calls(1.0, around(0.1), around(0.095)), Repayment::Open);
        assert_eq!(calls(1.0, around(0.095), around(0.1)), Repayment::Open);
        assert_eq!(calls(1.0, around(0.2), around(0.1)), Repayment::After(10));
        assert_eq!(calls(1.0, around(0.1), around(0.2)), Repayment::Never);
    }

    #[test]
    fn costs_are_added_up_and_copies_count_where_data_stays() {
        let mut report = example::of(example::both_sides("fft", 100, 1.0, 0.001));
        report.environment.backends[1].description["context_s"] = 0.15.into();
        let first = FirstUse::of(&report, &report.rows[1]).unwrap();
        assert_eq!((first.context_s, first.compile_s, first.plan_s), (Some(0.15), Some(0.21), Some(0.004)));
        assert!((first.total_s() - (0.15 + 0.21 + 0.004 + 0.03 - 0.001 - 5e-6)).abs() < 1e-9);
        assert!((first.copies_s.unwrap() - 62e-6).abs() < 1e-12);
        let pair = sections(&report)[0].comparisons[0].pair(Kind::Resident).unwrap();
        assert_eq!(repayment(&first, &pair), Some(Repayment::After(1)));
        assert_eq!(calls_to_repay(&report, &pair), Some(Repayment::After(1)));
    }

    #[test]
    fn nothing_is_said_of_calls_whose_saving_is_within_noise() {
        let calls = |cpu_s: f64| {
            let report = example::of(example::both_sides("fft", 100, cpu_s, 100e-6));
            let pair = sections(&report)[0].comparisons[0].pair(Kind::Resident).unwrap();
            calls_to_repay(&report, &pair).map(|calls| calls.to_string())
        };
        assert_eq!(calls(105e-6), None, "the GPU's resident time is the same");
        assert_eq!(calls(50e-6).as_deref(), Some("never"));
        assert!(calls(1.0).is_some_and(|text| text == "1"));
    }
}
