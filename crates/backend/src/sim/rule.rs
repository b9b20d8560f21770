//! Defines the rules of a script: the cells that they match, and the behaviour of those cells, with faults. Faults are real: a crash
//! ends the process, a hang never ends.

use std::time::Duration;

use crate::Variant;
use anyhow::{bail, ensure};
use gpubench_ops::OPS;
use gpubench_report::case::{Cache, Case, DType};
use gpubench_report::error::{CellError, Unavailable};
use gpubench_text::glob::glob;
use gpubench_text::size_filter::SizeFilter;
use gpubench_text::words::matches_some;
use serde::Deserialize;

use super::law::{Scatter, Seconds, TimeLaw};

/// Behaviour of matching cells. If two rules set the same key, the later one wins.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct CellRule {
    #[serde(default = "anything")]
    variant: String,
    #[serde(default = "anything")]
    op: String,
    #[serde(default = "anything")]
    dtype: String,
    #[serde(default = "anything")]
    cache: String,
    #[serde(default)]
    n: SizeFilter,
    time: Option<TimeLaw>,
    noise: Option<f64>,
    drift: Option<f64>,
    outliers: Option<f64>,
    outlier_factor: Option<f64>,
    ramp: Option<f64>,
    ramp_time: Option<Seconds>,
    throttled: Option<f64>,
    switched: Option<f64>,
    answer: Option<AnswerFault>,
    outcome: Option<CellFault>,
    after: Option<u64>,
    allocates: Option<bool>,
}

/// Fault of the answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum AnswerFault {
    Right,
    /// The right answer with one entry changed.
    Wrong,
    Nan,
    /// An execution writes nothing.
    Stale,
    /// An execution writes the answer of the first execution, for any operands.
    Cached,
    /// The answer is right, and an operand is overwritten.
    OverwritesOperand,
}

/// Fault of a cell, in place of its work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum CellFault {
    /// No fault; cancels that of an earlier rule.
    None,
    Crash,
    Hang,
    Fail,
    /// The variant is missing.
    Unavailable,
    Panic,
    DeviceLost,
    OutOfMemory,
}

impl CellFault {
    /// Causes the fault; returns normally only for [`CellFault::None`].
    pub(crate) fn suffer(self, reason: &str) -> Result<(), CellError> {
        match self {
            CellFault::None => Ok(()),
            CellFault::Crash => std::process::abort(),
            CellFault::Hang => loop {
                std::thread::sleep(Duration::from_secs(3600));
            },
            CellFault::Fail => Err(CellError::Failed(format!("a simulated call failed: {reason}"))),
            CellFault::Unavailable => {
                Err(Unavailable::new(format!("unavailable: {reason}"), "change the script").into())
            }
            CellFault::Panic => panic!("a simulated panic: {reason}"),
            CellFault::DeviceLost => {
                Err(CellError::DeviceLost(format!("the simulated device is lost: {reason}")))
            }
            CellFault::OutOfMemory => {
                Err(CellError::OutOfMemory { place: "device", needed: Some(2 << 30), free: 1 << 30 })
            }
        }
    }
}

/// Behaviour of one cell, from all rules that match it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Behaviour {
    /// Time of one execution, in seconds, before scatter.
    pub(crate) time_s: f64,
    pub(crate) scatter: Scatter,
    /// Relative slow-down of the first execution after a pause; it fades with time.
    pub(crate) ramp: f64,
    /// Time in which it fades to a third, in seconds.
    pub(crate) ramp_s: f64,
    /// Share of executions during which the device's clock is throttled, so that they take longer.
    pub throttled: f64,
    /// Share of executions with one involuntary context switch.
    pub(crate) switched: f64,
    pub answer: AnswerFault,
    pub fault: CellFault,
    /// Number of executions before the fault, and before wrong answers.
    pub after: u64,
    pub(crate) allocates: bool,
}

impl CellRule {
    /// Validates its numbers; an error names the key.
    pub(crate) fn check(&self) -> anyhow::Result<()> {
        let shares =
            [("outliers", self.outliers), ("throttled", self.throttled), ("switched", self.switched)];
        for (key, value) in shares.into_iter().chain([("noise", self.noise), ("ramp", self.ramp)]) {
            if value.is_some_and(|v| !(v.is_finite() && v >= 0.0)) {
                bail!("{key} must be 0 or more");
            }
        }
        if let Some((key, _)) = shares.iter().find(|(_, share)| share.is_some_and(|share| share > 1.0)) {
            bail!("{key} is a share of executions and must be at most 1");
        }
        if self.outlier_factor.is_some_and(|factor| !(factor.is_finite() && factor > 0.0)) {
            bail!("outlier_factor must be above 0");
        }
        if self.drift.is_some_and(|drift| !(drift.is_finite() && drift > -1.0)) {
            bail!("drift must be above -1: it is the relative growth from one execution to the next");
        }
        Ok(())
    }

    /// Checks that a cell of `variants` can match; an error names the glob that matches nothing.
    pub(crate) fn check_matches(&self, variants: &[Variant]) -> anyhow::Result<()> {
        let names = || variants.iter().map(|variant| variant.name.as_ref());
        matches_some("variant", "variant of the script", &self.variant, names())?;
        matches_some("op", "op", &self.op, OPS.iter().map(|op| op.name()))?;
        matches_some("dtype", "dtype", &self.dtype, DType::ALL.iter().map(|dtype| dtype.name()))?;
        let caches = Cache::ALL.iter().map(|cache| cache.name());
        matches_some("cache", "state of the caches", &self.cache, caches)?;
        let does = |variant: &Variant| {
            glob(&self.variant, &variant.name)
                && glob(&self.op, &variant.op)
                && variant.dtypes.iter().any(|dtype| glob(&self.dtype, dtype.name()))
        };
        ensure!(
            variants.iter().any(does),
            "no variant named {} supports op {} in dtype {}, so the rule never applies",
            self.variant,
            self.op,
            self.dtype
        );
        Ok(())
    }

    /// Returns whether it matches `variant` on `case` with the caches in that state.
    pub(crate) fn is_about(&self, variant: &str, case: &Case, cache: Cache) -> bool {
        glob(&self.variant, variant)
            && glob(&self.cache, cache.name())
            && glob(&self.op, &case.op)
            && glob(&self.dtype, case.dtype.name())
            && self.n.contains(case.n)
    }
}

impl Behaviour {
    /// Combines the rules that match a cell of `case`. Without a rule for the time, a cell takes 100 µs.
    pub(crate) fn of(rules: &[&CellRule], case: &Case) -> Behaviour {
        fn last<T>(rules: &[&CellRule], key: impl Fn(&CellRule) -> Option<T>) -> Option<T> {
            rules.iter().rev().find_map(|rule| key(rule))
        }
        let scatter = Scatter {
            noise: last(rules, |rule| rule.noise).unwrap_or(0.0),
            drift: last(rules, |rule| rule.drift).unwrap_or(0.0),
            outliers: last(rules, |rule| rule.outliers).unwrap_or(0.0),
            outlier_factor: last(rules, |rule| rule.outlier_factor).unwrap_or(5.0),
        };
        Behaviour {
            time_s: last(rules, |rule| rule.time).map_or(100e-6, |law| law.at(case)),
            scatter,
            ramp: last(rules, |rule| rule.ramp).unwrap_or(0.0),
            ramp_s: last(rules, |rule| rule.ramp_time).map_or(0.03, |time| time.0),
            throttled: last(rules, |rule| rule.throttled).unwrap_or(0.0),
            switched: last(rules, |rule| rule.switched).unwrap_or(0.0),
            answer: last(rules, |rule| rule.answer).unwrap_or(AnswerFault::Right),
            fault: last(rules, |rule| rule.outcome).unwrap_or(CellFault::None),
            after: last(rules, |rule| rule.after).unwrap_or(0),
            allocates: last(rules, |rule| rule.allocates).unwrap_or(false),
        }
    }
}

pub(crate) fn anything() -> String {
    "*".into()
}
