//! A difference between the environments of two sides, and how much it matters.

use serde::{Deserialize, Serialize};

use crate::Sentence;

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

impl Severity {
    /// Every severity, gravest first.
    pub const ALL: [Severity; 3] = [Severity::Block, Severity::Warn, Severity::Ignore];

    /// The word used in policy files, tables and JSON.
    pub fn name(self) -> &'static str {
        match self {
            Severity::Block => "block",
            Severity::Warn => "warn",
            Severity::Ignore => "ignore",
        }
    }
}

/// A fact about machine, libraries or settings that is not the same on both sides.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Difference {
    /// The fact, as a policy names it: `gpu-model`.
    pub fact: String,
    /// How much it matters.
    pub severity: Severity,
    /// What OLD has, in words; several values where its runs differ. It leads with the items, such as libraries, of a fact
    /// that has several; both sides have the same.
    pub old: Sentence,
    /// What NEW has.
    pub new: Sentence,
}
