//! Rules of a script: which cells they are about, and what those cells do.

use anyhow::bail;
use serde::Deserialize;

use super::law::{Law, Scatter};
use crate::case::Case;
use crate::glob::glob;

/// What matching cells do. Of two rules that set the same key the later one counts.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rule {
    #[serde(default = "anything")]
    variant: String,
    #[serde(default = "anything")]
    op: String,
    #[serde(default = "anything")]
    dtype: String,
    #[serde(default)]
    n: Sizes,
    time: Option<Law>,
    noise: Option<f64>,
    drift: Option<f64>,
    outliers: Option<f64>,
    outlier_factor: Option<f64>,
    answer: Option<Answer>,
    outcome: Option<Fault>,
    after: Option<u64>,
    allocates: Option<bool>,
}

/// Sizes a rule is about: one, or a text such as `"100..2000"`, `"512.."`, `"..100"` or a glob.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged, expecting = "a size such as 100, or a text such as \"100..2000\" or \"1*\"")]
enum Sizes {
    One(u64),
    Text(String),
}

impl Default for Sizes {
    fn default() -> Self {
        Sizes::Text(anything())
    }
}

impl Sizes {
    fn contains(&self, n: u64) -> bool {
        match self {
            Sizes::One(size) => *size == n,
            Sizes::Text(text) => match range(text) {
                Some(ends) => ends.is_some_and(|(low, high)| (low..=high).contains(&n)),
                None => glob(text, &n.to_string()),
            },
        }
    }
}

/// The ends of a text with two dots, both included; `Some(None)` when an end is no size, `None` for other texts.
fn range(text: &str) -> Option<Option<(u64, u64)>> {
    let (low, high) = text.split_once("..")?;
    let end = |text: &str, open| if text.is_empty() { Some(open) } else { text.trim().parse().ok() };
    Some(end(low, 0).zip(end(high, u64::MAX)))
}

/// Whether answers are right.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Answer {
    /// The reference's answer.
    Right,
    /// The same with one entry changed.
    Wrong,
}

/// What a cell does instead of its work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Fault {
    /// No fault: takes back what an earlier rule said.
    None,
    /// The process aborts.
    Crash,
    /// The call never returns.
    Hang,
    /// The call reports an error.
    Fail,
    /// The variant is missing.
    Unavailable,
    /// The code panics.
    Panic,
    /// The device is lost.
    DeviceLost,
    /// The device has too little memory.
    OutOfMemory,
}

/// What one cell does, from all rules that match it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Behaviour {
    /// Time of one execution, in seconds, before scatter.
    pub time_s: f64,
    /// Scatter around it.
    pub scatter: Scatter,
    /// Whether the answer is right.
    pub answer: Answer,
    /// What it does instead of its work.
    pub fault: Fault,
    /// Executions before the fault.
    pub after: u64,
    /// Whether each execution counts an allocation.
    pub allocates: bool,
}

impl Rule {
    /// Whether its numbers make sense; an error names the key.
    pub fn check(&self) -> anyhow::Result<()> {
        for (key, value) in
            [("noise", self.noise), ("outliers", self.outliers), ("outlier_factor", self.outlier_factor)]
        {
            if value.is_some_and(|v| !(v.is_finite() && v >= 0.0)) {
                bail!("{key} must be a number from 0 on");
            }
        }
        if self.outliers.is_some_and(|share| share > 1.0) {
            bail!("outliers is the share of executions that are outliers: at most 1");
        }
        if let Sizes::Text(text) = &self.n
            && range(text) == Some(None)
        {
            bail!("n = \"{text}\" is no range of sizes: write one such as \"100..2000\"");
        }
        if self.drift.is_some_and(|drift| !drift.is_finite()) {
            bail!("drift must be a finite number");
        }
        Ok(())
    }

    /// Whether it is about `variant` on `case`.
    pub fn is_about(&self, variant: &str, case: &Case) -> bool {
        glob(&self.variant, variant)
            && glob(&self.op, &case.op)
            && glob(&self.dtype, case.dtype.name())
            && self.n.contains(case.n)
    }

    /// Sets what it says.
    pub fn apply(&self, case: &Case, behaviour: &mut Behaviour) {
        fn set<T: Copy>(place: &mut T, value: Option<T>) {
            *place = value.unwrap_or(*place);
        }
        set(&mut behaviour.time_s, self.time.map(|law| law.at(case.n)));
        set(&mut behaviour.scatter.noise, self.noise);
        set(&mut behaviour.scatter.drift, self.drift);
        set(&mut behaviour.scatter.outliers, self.outliers);
        set(&mut behaviour.scatter.outlier_factor, self.outlier_factor);
        set(&mut behaviour.answer, self.answer);
        set(&mut behaviour.fault, self.outcome);
        set(&mut behaviour.after, self.after);
        set(&mut behaviour.allocates, self.allocates);
    }
}

/// The glob that matches everything.
pub fn anything() -> String {
    "*".into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn globs_and_sizes_match_what_they_say() {
        assert!(glob("open*", "openblas") && glob("*", "") && glob("f?2", "f32") && !glob("f?", "f32"));
        assert!(Sizes::Text("..100".into()).contains(100) && !Sizes::Text("..100".into()).contains(101));
        assert!(Sizes::One(7).contains(7) && Sizes::Text("1*".into()).contains(128));
        assert!(!Sizes::Text("a..b".into()).contains(5));
        assert_eq!((range("..b"), range("2..4"), range("1*")), (Some(None), Some(Some((2, 4))), None));
    }
}
