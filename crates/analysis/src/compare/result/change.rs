//! The results for one cell and for the geometric mean of a group of cells: verdict, ratio and reason.

use gpubench_ops::Checked;
use gpubench_report::Side;
use gpubench_report::case::{Cache, Case, Cell};
use gpubench_report::measure::grade::Grade;
use gpubench_text::count::counted;
use gpubench_text::words::json_word;
use serde::{Deserialize, Serialize};
use serde_with_macros::skip_serializing_none;

/// The verdict on one cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// The answer was correct in OLD and is wrong in NEW.
    NewlyIncorrect,
    /// It had a time in OLD and fails in NEW.
    NewlyFailed,
    /// The whole interval of the ratio lies above the threshold, and the corrected test agrees.
    Slower,
    /// The error grew by more than the policy allows.
    LessAccurate,
    /// It had a time in OLD and has none in NEW: it is not in the sweep, or was skipped.
    Missing,
    /// The data show neither a change nor its absence; see `InconclusiveReason`.
    Inconclusive,
    /// The whole interval of the ratio lies below the threshold's inverse, and the corrected test agrees.
    Faster,
    /// It has a time in NEW and none in OLD.
    New,
    /// The whole interval lies within the threshold.
    Same,
    /// It has a time on neither side.
    NotMeasured,
    /// The policy ignores it, or the machines differ and only the ratio is shown.
    NotJudged,
}

impl Verdict {
    /// Returns the words that texts use, such as `newly incorrect`.
    pub fn words(self) -> String {
        json_word(&self).replace('-', " ")
    }

    /// Returns true if the gate reports it as a regression.
    pub fn is_regression(self) -> bool {
        matches!(
            self,
            Verdict::NewlyIncorrect | Verdict::NewlyFailed | Verdict::Slower | Verdict::LessAccurate
        )
    }
}

/// The reason why a cell or mean is inconclusive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum InconclusiveReason {
    /// It may be slower: the interval reaches beyond the threshold, or the corrected test is not significant.
    MaybeSlower,
    /// It may be faster and is not slower, so the gate passes.
    MaybeFaster,
    /// It is slower in seconds but not in cycles, because the clock of the multiprocessors was lower.
    LowerClock,
    /// Operands, accuracy or timing differ between both sides, so the times cannot be compared.
    NotComparable,
    /// Something disturbed runs of a side, such as other programs.
    Disturbed,
}

/// The times of one side of a cell, over its runs.
#[skip_serializing_none]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Measured {
    /// Number of runs with a time.
    pub runs: usize,
    /// Number of rounds of all runs.
    pub rounds: usize,
    /// Number of samples of all runs.
    pub samples: usize,
    /// Median over runs of the runs' medians, in seconds.
    pub median_s: f64,
    /// Median over runs of the multiprocessor clock, in MHz.
    pub sm_mhz: Option<f64>,
    /// The worst grade of the runs.
    pub grade: Option<Grade>,
    /// The error that was closest to its bound.
    pub error: Option<Checked>,
}

/// A cell as other programs read it, without a level of its own for the case.
#[derive(Serialize, Deserialize)]
#[serde(remote = "Cell")]
pub(crate) struct FlatCell {
    #[serde(flatten)]
    case: Case,
    backend: String,
    variant: String,
    cache: Cache,
}

/// What a judgement is about.
pub trait JudgedSubject {
    /// Digits of its change at least: those in which the smallest changes that count show.
    const MIN_DIGITS: usize;
}

impl JudgedSubject for ComparedCell {
    // A change of a few per cent shows only in the third digit.
    const MIN_DIGITS: usize = 3;
}

impl JudgedSubject for ComparedMean {
    // Smaller changes of a mean count.
    const MIN_DIGITS: usize = 4;
}

/// One cell of either side with its result.
pub type Change = Judgement<ComparedCell>;

/// The change of the geometric mean of a group's times: slower, faster, same, inconclusive or not judged.
///
/// The run is the unit: the mean of the logarithms of the times of one run is one value.
pub type MeanChange = Judgement<ComparedMean>;

/// A cell of either side.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ComparedCell {
    /// The cell.
    #[serde(flatten, with = "FlatCell")]
    pub cell: Cell,
    /// Side of the CPU-GPU comparison.
    pub side: Side,
}

/// A group of cells.
#[skip_serializing_none]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ComparedMean {
    /// Name of the op; absent where cells of all ops are in the mean.
    pub op: Option<String>,
    /// Name of the backend; absent where cells of all backends are in the mean.
    pub backend: Option<String>,
    /// Cells in the mean: those with a time in every run of both sides.
    pub cells: usize,
}

/// The result for a cell or a mean.
#[skip_serializing_none]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Judgement<T> {
    /// The cell or the mean.
    #[serde(flatten)]
    pub subject: T,
    /// The verdict.
    pub verdict: Verdict,
    /// The reason, where the verdict is inconclusive.
    pub inconclusive_reason: Option<InconclusiveReason>,
    /// The reason in one line without the subject's name: `1.31x slower (1.28 to 1.34)`, `was measured, now: out of memory`.
    /// It begins with the change, if that is the reason.
    pub reason: String,
    /// The next step; `None` where there is none.
    pub next: Option<String>,
    /// Time of NEW over time of OLD: above 1 is slower.
    pub ratio: Option<f64>,
    /// The 95 % interval of that ratio.
    pub interval: Option<[f64; 2]>,
    /// Probability of a ratio at least this far from 1 if nothing changed.
    pub p: Option<f64>,
    /// This probability, corrected for the number of cells or means tested.
    pub p_corrected: Option<f64>,
    /// Probability that ranks of a cell's rounds differ this much if nothing changed, by a permutation test; `None` for too few.
    pub p_rounds: Option<f64>,
    /// The smallest relative slowdown that these data detect with a probability of 80 %: 0.04 is 4 %.
    pub smallest_detectable_change: Option<f64>,
    /// Relative standard deviation between runs, as used in the test.
    pub variation_between_runs: Option<f64>,
    /// The relative threshold: 0.05 is 5 %.
    pub threshold: f64,
    /// The times of a cell in OLD, if it has any.
    pub old: Option<Measured>,
    /// The times of a cell in NEW, if it has any.
    pub new: Option<Measured>,
}

impl<T> Judgement<T> {
    /// Returns a judgement without figures.
    pub(crate) fn without_figures(subject: T, threshold: f64) -> Judgement<T> {
        Judgement {
            subject,
            verdict: Verdict::NotJudged,
            inconclusive_reason: None,
            reason: String::new(),
            next: None,
            ratio: None,
            interval: None,
            p: None,
            p_corrected: None,
            p_rounds: None,
            smallest_detectable_change: None,
            variation_between_runs: None,
            threshold,
            old: None,
            new: None,
        }
    }

    /// Removes the verdict: times of different machines are shown but not judged.
    pub(crate) fn remove_verdict(&mut self) {
        (self.verdict, self.inconclusive_reason, self.next) = (Verdict::NotJudged, None, None);
    }
}

impl Change {
    /// Returns the cell: case, backend, variant and cache state.
    pub fn cell(&self) -> &Cell {
        &self.subject.cell
    }

    /// Returns true if it is open and the user accepts its verdict. Cells that cannot be compared are never accepted.
    pub fn is_accepted(&self, accepted: &[Verdict]) -> bool {
        self.is_open()
            && self.inconclusive_reason != Some(InconclusiveReason::NotComparable)
            && accepted.contains(&self.verdict)
    }

    /// Returns true if the gate passes only when the user accepts it: it is missing or may be slower.
    pub fn is_open(&self) -> bool {
        self.verdict == Verdict::Missing
            || (self.verdict == Verdict::Inconclusive
                && self.inconclusive_reason != Some(InconclusiveReason::MaybeFaster))
    }
}

impl MeanChange {
    /// Returns the group in words: `all 60 cells`, `30 cells of cuda`, `5 cells of fft on cuda`.
    pub fn name(&self) -> String {
        let cells = counted(self.subject.cells, "cell");
        match (&self.subject.op, &self.subject.backend) {
            (None, None) => format!("all {cells}"),
            (None, Some(backend)) => format!("{cells} of {backend}"),
            (Some(op), None) => format!("{cells} of {op}"),
            (Some(op), Some(backend)) => format!("{cells} of {op} on {backend}"),
        }
    }

    /// Returns an identifier that is unique within a comparison: `mean/all`, `mean/cuda`, `mean/cuda/fft`.
    pub fn key(&self) -> String {
        let parts = [self.subject.backend.as_deref(), self.subject.op.as_deref()];
        let parts: Vec<&str> = parts.into_iter().flatten().collect();
        if parts.is_empty() { "mean/all".into() } else { format!("mean/{}", parts.join("/")) }
    }

    /// Returns true if the gate reports it as a regression.
    pub fn is_regression(&self) -> bool {
        self.verdict == Verdict::Slower
    }
}

#[cfg(test)]
mod tests {
    use super::MeanChange;
    use crate::compare::example;

    #[test]
    fn means_are_named_by_their_backend_and_op() {
        let mut mean = example::full().mean_changes[0].clone();
        let names = |mean: &MeanChange| (mean.name(), mean.key());
        assert_eq!(names(&mean), ("all 6 cells".into(), "mean/all".into()));
        mean.subject.backend = Some("cuda".into());
        assert_eq!(names(&mean), ("6 cells of cuda".into(), "mean/cuda".into()));
        mean.subject.op = Some("fft".into());
        assert_eq!(names(&mean), ("6 cells of fft on cuda".into(), "mean/cuda/fft".into()));
    }
}
