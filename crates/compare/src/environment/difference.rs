//! The type of a difference between the environments of two sides, with its severity.

use serde::{Deserialize, Serialize};

use crate::Sentence;

/// Severity of a difference; the most severe compares as the smallest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Severity {
    /// Times are not comparable.
    Block,
    /// Times are shown, but leave open whether anything changed: something disturbed a run.
    Inconclusive,
    /// Times may differ for this reason.
    Warn,
    /// The difference is counted but not shown.
    Ignore,
}

impl Severity {
    /// Every severity, most severe first.
    pub const ALL: [Severity; 4] =
        [Severity::Block, Severity::Inconclusive, Severity::Warn, Severity::Ignore];

    /// The word used in policy files, tables and JSON.
    pub fn name(self) -> &'static str {
        match self {
            Severity::Block => "block",
            Severity::Inconclusive => "inconclusive",
            Severity::Warn => "warn",
            Severity::Ignore => "ignore",
        }
    }
}

/// A fact about the machine, libraries or settings that differs between both sides.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Difference {
    /// The fact, as a policy names it: `gpu-model`.
    pub fact: String,
    /// Its severity, from the policy or the default.
    pub severity: Severity,
    /// The value in OLD; several values if its runs differ. For a fact with several items, such as libraries, the lead
    /// names the items, which are the same on both sides.
    pub old: Sentence,
    /// The value in NEW.
    pub new: Sentence,
    /// The sides whose runs were disturbed, `OLD` or `NEW`, which must be measured again; empty if the fact shows none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub disturbed: Vec<String>,
}

impl Difference {
    /// Returns the next step for times that it leaves open.
    pub(crate) fn measure_again(&self) -> String {
        let fact = &self.fact;
        let step = match self.disturbed.as_slice() {
            [] => "measure OLD and NEW again under the same conditions".to_owned(),
            sides => format!("close other programs and measure {} again", sides.join(" and ")),
        };
        format!("{step}, or set {fact} = \"warn\" in a policy file")
    }
}
