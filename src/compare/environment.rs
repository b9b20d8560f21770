//! Where the environments of two sides differ, and how much that matters.

use serde::{Deserialize, Serialize};

use super::{Policy, Runs};

/// How much a difference matters; the gravest is smallest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Severity {
    /// Times are not comparable.
    Block,
    /// Times may differ for this reason.
    Warn,
    /// Of no concern.
    Ignore,
}

/// A fact about machine, libraries or settings that is not the same on both sides.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Difference {
    /// The fact, as a policy names it: `gpu-model`.
    pub fact: String,
    /// How much it matters.
    pub severity: Severity,
    /// What OLD has, in words; several values where its runs differ.
    pub old: String,
    /// What NEW has.
    pub new: String,
}

/// Where they differ.
pub fn differences(_old: &Runs, _new: &Runs, _policy: &Policy) -> Vec<Difference> {
    vec![]
}
