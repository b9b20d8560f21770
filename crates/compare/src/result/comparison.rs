//! What a comparison says, as its outputs and its JSON have it.

use std::collections::BTreeMap;

use gpubench_model::case::{Cache, DType};
use serde::{Deserialize, Serialize};

use super::sentence::Sentence;
use crate::{Change, Difference, MeanChange, RunInfo, Verdict};

/// Version of the layout of a comparison in JSON, independent of the program's version.
pub(crate) const COMPARISON_VERSION: u32 = 1;

/// The published JSON Schema (2020-12) of a comparison.
pub const COMPARISON_SCHEMA: &str = include_str!("../../../../schema/compare-v1.json");

/// What a comparison found, cell by cell and as a whole.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    pub(crate) comparison_version: u32,
    pub(crate) gpubench_version: String,
    /// What follows from it all.
    pub gate: Gate,
    pub(crate) counts: Vec<Count>,
    pub(crate) old: Vec<RunInfo>,
    pub(crate) new: Vec<RunInfo>,
    /// How the ratios and verdicts came about.
    pub(crate) method: Method,
    /// Where the machines, libraries or settings of both sides differ, the gravest first.
    pub environment: Vec<Difference>,
    /// What the user should know of the comparison as a whole, each with the next step.
    pub notes: Vec<Note>,
    /// Geometric means of the ratios, one entry an op, backend, element type and state of the caches.
    pub(crate) means: Vec<Mean>,
    /// The same of larger groups with a verdict each: the whole sweep first, then each backend, then each op of a backend.
    #[serde(default)]
    pub(crate) mean_changes: Vec<MeanChange>,
    /// Every cell of either side: what the gate trips over first, then by how much they changed.
    pub cells: Vec<Change>,
}

/// What a pipeline should do: the same in text, JSON and exit code.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Gate {
    pub(crate) conclusion: Conclusion,
    /// Exit code of the program: 0, 1, 2 or 3.
    pub exit_code: u8,
    /// The reason in one line, such as `2 cells slower, 1 mean slower; first: ...`.
    pub reason: String,
    /// The next step, where there is one: that of the first cell or mean that decides, then what the user may accept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<Sentence>,
    /// Verdicts that leave a cell open and that the user told the gate to pass over: `missing`, `unsure`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) accepted: Vec<Verdict>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Conclusion {
    /// Exit code 0: nothing is worse.
    Pass,
    /// Exit code 1: something is slower, less accurate, newly incorrect or newly failed.
    Regression,
    /// Exit code 2: the files cannot be compared.
    NotComparable,
    /// Exit code 3: nothing is known to be worse, but some cells are missing or could not be told.
    CannotTell,
    /// Exit code 0: ratios across machines, of which nothing is concluded.
    RatiosOnly,
}

impl Conclusion {
    /// The word used in tables and JSON: `cannot-tell`.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Conclusion::Pass => "pass",
            Conclusion::Regression => "regression",
            Conclusion::NotComparable => "not-comparable",
            Conclusion::CannotTell => "cannot-tell",
            Conclusion::RatiosOnly => "ratios-only",
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Count {
    pub verdict: Verdict,
    /// The cells, at least one.
    pub cells: usize,
}

/// How ratios and verdicts came about.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Method {
    /// Chance, over the whole comparison, of a false regression when nothing changed.
    pub alpha: f64,
    pub(crate) confidence: f64,
    /// Correction for the number of cells, and of means, tested: `holm`.
    pub correction: String,
    pub(crate) tested: usize,
    #[serde(default)]
    pub(crate) means_tested: usize,
    /// Where the spread from run to run came from, in words.
    pub spread: String,
}

/// A remark on the comparison as a whole.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Note {
    pub text: String,
    pub next: String,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Mean {
    pub op: String,
    pub backend: String,
    pub dtype: DType,
    pub cache: Cache,
    /// Cells with a ratio.
    pub cells: usize,
    /// Time of NEW over time of OLD: above 1 is slower.
    pub ratio: f64,
}

impl Count {
    /// How many of `cells` have which verdict, the gravest first.
    pub(crate) fn of<'a>(cells: impl IntoIterator<Item = &'a Change>) -> Vec<Count> {
        let mut counts = BTreeMap::<Verdict, usize>::new();
        cells.into_iter().for_each(|change| *counts.entry(change.verdict).or_default() += 1);
        counts.into_iter().map(|(verdict, cells)| Count { verdict, cells }).collect()
    }
}

impl Comparison {
    /// How many cells have that verdict.
    pub fn count(&self, verdict: Verdict) -> usize {
        self.counts.iter().find(|count| count.verdict == verdict).map_or(0, |count| count.cells)
    }

    /// Whether a cell keeps the gate from passing although it is no regression: it is open, and was not accepted.
    pub(crate) fn blocks_pass(&self, change: &Change) -> bool {
        self.gate.exit_code != 0 && change.is_open() && !change.is_accepted(&self.gate.accepted)
    }
}
