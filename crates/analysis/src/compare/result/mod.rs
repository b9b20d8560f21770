//! The result of a comparison as data: the verdict on each cell, the changes of means, and the gate's conclusion.
//!
//! These types are what `compare.json` holds and what every output format reads. Nothing here computes.

pub(crate) mod change;

use std::collections::BTreeMap;

use gpubench_report::case::{Cache, DType};
use serde::{Deserialize, Serialize};

pub(crate) use self::change::FlatCell;
use self::change::Verdict;
pub use self::change::{
    Change, ComparedCell, ComparedMean, InconclusiveReason, JudgedSubject, Judgement, MeanChange, Measured,
};
use crate::compare::environment::Difference;
use crate::compare::runs::RunInfo;

/// Version of the layout of a comparison in JSON, independent of the program's version.
pub(crate) const COMPARISON_VERSION: u32 = 2;

/// The published JSON Schema (2020-12) of a comparison.
pub const COMPARISON_SCHEMA: &str = include_str!("../../../../../schema/compare-v2.json");

/// The result of a comparison, for each cell and as a whole.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    /// Version of the layout in JSON, independent of the program's version.
    pub comparison_version: u32,
    /// Version of gpubench that compared.
    pub gpubench_version: String,
    /// The conclusion and the exit code.
    pub gate: Gate,
    /// Number of cells by verdict, most severe first.
    pub counts: Vec<VerdictCount>,
    /// The runs of OLD.
    pub old: Vec<RunInfo>,
    /// The runs of NEW.
    pub new: Vec<RunInfo>,
    /// The parameters of the statistics.
    pub method: Method,
    /// Differences between the machines, libraries or settings of both sides, most severe first.
    pub environment: Vec<Difference>,
    /// Weaknesses of the comparison as a whole, each with the next step.
    pub notes: Vec<Note>,
    /// Geometric means of the ratios, one entry per op, backend, element type and cache state.
    pub means: Vec<Mean>,
    /// Tests of larger groups: the whole sweep first, then each backend, then each op of a backend.
    #[serde(default)]
    pub mean_changes: Vec<MeanChange>,
    /// Every cell of either side, by severity of the verdict, then by the size of the change.
    pub cells: Vec<Change>,
}

/// The conclusion for a pipeline, the same in text, JSON and exit code.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Gate {
    /// The conclusion.
    pub conclusion: Conclusion,
    /// Exit code of the program: 0, 1, 2 or 3.
    pub exit_code: u8,
    /// The reason in one line, such as `2 cells slower, 1 mean slower; first: ...`.
    pub reason: String,
    /// The next step: that of the first deciding cell or mean, then, after a semicolon, the option that accepts it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
    /// The open verdicts that the user accepts: `missing`, `inconclusive`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub accepted: Vec<Verdict>,
}

/// The conclusion of a comparison, each with its exit code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Conclusion {
    /// Exit code 0: nothing is worse.
    Pass,
    /// Exit code 1: something is slower, less accurate, newly incorrect or newly failed.
    Regression,
    /// Exit code 2: the files cannot be compared.
    NotComparable,
    /// Exit code 3: nothing is known to be worse, but some cells are missing or inconclusive.
    Inconclusive,
    /// Exit code 0: ratios across machines, without verdicts.
    RatiosOnly,
}

/// The number of cells with one verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct VerdictCount {
    /// The verdict.
    pub verdict: Verdict,
    /// The cells, at least one.
    pub cells: usize,
}

/// The parameters of the statistics.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Method {
    /// Probability of a false regression in the whole comparison if nothing changed.
    pub alpha: f64,
    /// Confidence of the intervals: 0.95.
    pub confidence: f64,
    /// Correction for the number of cells, and of means, tested: `holm`.
    pub correction: String,
    /// Number of cells with a p-value.
    pub cells_tested: usize,
    /// Number of means with a p-value.
    #[serde(default)]
    pub means_tested: usize,
    /// The source of the estimated variation between runs, in words.
    pub variation_source: String,
}

/// A note on the comparison as a whole, with the next step.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Note {
    /// The weakness in one sentence, without a full stop.
    pub text: String,
    /// The next step.
    pub next: String,
}

/// The geometric mean of the ratios of one op, backend, element type and cache state.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Mean {
    /// Name of the op.
    pub op: String,
    /// Name of the backend.
    pub backend: String,
    /// Element type.
    pub dtype: DType,
    /// State of the caches before each execution.
    pub cache: Cache,
    /// Cells with a ratio.
    pub cells: usize,
    /// Time of NEW over time of OLD: above 1 is slower.
    pub ratio: f64,
}

impl VerdictCount {
    /// Counts the cells by verdict, most severe first.
    pub(crate) fn of<'a>(cells: impl IntoIterator<Item = &'a Change>) -> Vec<VerdictCount> {
        let mut counts = BTreeMap::<Verdict, usize>::new();
        cells.into_iter().for_each(|change| *counts.entry(change.verdict).or_default() += 1);
        counts.into_iter().map(|(verdict, cells)| VerdictCount { verdict, cells }).collect()
    }
}

impl Comparison {
    /// Returns true if a cell that is no regression keeps the gate from passing: it is open and not accepted.
    pub fn blocks_pass(&self, change: &Change) -> bool {
        self.gate.exit_code != 0 && change.is_open() && !change.is_accepted(&self.gate.accepted)
    }
}
