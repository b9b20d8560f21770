//! What became of one cell from OLD to NEW.

use gpubench_model::Side;
use gpubench_model::case::{Cache, Case, Cell};
use gpubench_model::measure::grade::Grade;
use gpubench_ops::Checked;
use serde::{Deserialize, Serialize};

use super::sentence::Sentence;

/// The verdict on one cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// Its answer was right and now is wrong.
    NewlyIncorrect,
    /// It had a time and now fails.
    NewlyFailed,
    /// The whole interval of the ratio lies above the threshold, and the corrected test agrees.
    Slower,
    /// Its error grew by more than the policy allows.
    LessAccurate,
    /// It had a time and now has none: left out of the sweep, or skipped.
    Missing,
    /// The data show neither a change nor its absence; see `InconclusiveReason`.
    #[serde(rename = "unsure")]
    Inconclusive,
    /// The whole interval of the ratio lies below the threshold's inverse, and the corrected test agrees.
    Faster,
    /// It has a time now and had none.
    New,
    /// The whole interval lies within the threshold.
    Same,
    /// It has a time on neither side.
    NotMeasured,
    /// The policy leaves it out, or the machines differ and only the ratio is told.
    NotJudged,
}

impl Verdict {
    /// Every verdict, gravest first.
    pub const ALL: [Verdict; 11] = [
        Verdict::NewlyIncorrect,
        Verdict::NewlyFailed,
        Verdict::Slower,
        Verdict::LessAccurate,
        Verdict::Missing,
        Verdict::Inconclusive,
        Verdict::Faster,
        Verdict::New,
        Verdict::Same,
        Verdict::NotMeasured,
        Verdict::NotJudged,
    ];

    /// The word used in tables and JSON: `newly-incorrect`.
    pub fn name(self) -> &'static str {
        match self {
            Verdict::NewlyIncorrect => "newly-incorrect",
            Verdict::NewlyFailed => "newly-failed",
            Verdict::Slower => "slower",
            Verdict::LessAccurate => "less-accurate",
            Verdict::Missing => "missing",
            Verdict::Inconclusive => "unsure",
            Verdict::Faster => "faster",
            Verdict::New => "new",
            Verdict::Same => "same",
            Verdict::NotMeasured => "not-measured",
            Verdict::NotJudged => "not-judged",
        }
    }

    /// Returns the words that texts use, such as `newly incorrect` or `inconclusive`.
    pub fn words(self) -> String {
        match self {
            Verdict::Inconclusive => "inconclusive".into(),
            other => other.name().replace('-', " "),
        }
    }

    /// Whether it makes the gate trip.
    pub(crate) fn is_regression(self) -> bool {
        matches!(
            self,
            Verdict::NewlyIncorrect | Verdict::NewlyFailed | Verdict::Slower | Verdict::LessAccurate
        )
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum InconclusiveReason {
    /// It may be slower: the interval reaches beyond the threshold, or the corrected test does not agree.
    MaybeSlower,
    /// It may be faster, and is not slower: nothing for a gate to mind.
    MaybeFaster,
    /// It changed as the clock of the multiprocessors did.
    Clock,
    /// Operands, clock or timing differ between both sides, so that the times are of different things.
    Different,
}

impl InconclusiveReason {
    /// The word used in tables and JSON.
    pub(crate) fn name(self) -> &'static str {
        match self {
            InconclusiveReason::MaybeSlower => "maybe-slower",
            InconclusiveReason::MaybeFaster => "maybe-faster",
            InconclusiveReason::Clock => "clock",
            InconclusiveReason::Different => "different",
        }
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Measured {
    pub runs: usize,
    pub rounds: usize,
    pub samples: usize,
    /// Median over runs of the runs' medians, in seconds.
    pub median_s: f64,
    /// Median over runs of the multiprocessors' clock, in MHz.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) sm_mhz: Option<f64>,
    /// The worst grade of the runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub grade: Option<Grade>,
    /// The error found that was nearest to its bound.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<Checked>,
}

/// One cell of either side and what became of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Change {
    /// `op`, `n`, `dtype`, `density` (sparse ops) and `seed`.
    #[serde(flatten)]
    pub case: Case,
    pub backend: String,
    pub variant: String,
    pub cache: Cache,
    /// Side of the CPU-GPU comparison it stands on.
    pub side: Side,
    pub verdict: Verdict,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) doubt: Option<InconclusiveReason>,
    /// Why, in one line without the cell's name: `1.31x slower (1.28 to 1.34)`, `was measured, now: out of memory`. It
    /// leads with the change, where that is the reason.
    pub reason: Sentence,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
    /// Time of NEW over time of OLD: above 1 is slower.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ratio: Option<f64>,
    /// The 95 % interval of that ratio.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interval: Option<[f64; 2]>,
    /// Chance of a ratio at least this far from 1 when nothing changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p: Option<f64>,
    /// The same, corrected for the number of cells tested.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) p_corrected: Option<f64>,
    /// Chance that the ranks of the rounds of both sides are this far apart when nothing changed, by an exact
    /// permutation test; where there are rounds enough for it to say anything.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) p_rounds: Option<f64>,
    /// The smallest slowdown, relative, that these data would have shown with a chance of 80 %: 0.04 is 4 %.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detectable: Option<f64>,
    /// Standard deviation of the time from one run to the next, relative, as used here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run_spread: Option<f64>,
    /// The change beyond which the cell counts as slower or faster, relative: 0.05 is 5 %.
    pub threshold: f64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) old: Option<Measured>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) new: Option<Measured>,
}

impl Change {
    pub fn cell(&self) -> Cell {
        Cell {
            case: self.case.clone(),
            backend: self.backend.clone(),
            variant: self.variant.clone(),
            cache: self.cache,
        }
    }

    /// Whether the gate may pass over it, open as it is, where the verdicts in `accepted` are accepted. Times of different
    /// things tell nothing that could be.
    pub(crate) fn is_accepted(&self, accepted: &[Verdict]) -> bool {
        self.is_open()
            && self.doubt != Some(InconclusiveReason::Different)
            && accepted.contains(&self.verdict)
    }

    /// Whether the gate cannot pass over it without being told to: it is missing, or may be slower.
    pub(crate) fn is_open(&self) -> bool {
        self.verdict == Verdict::Missing
            || (self.verdict == Verdict::Inconclusive && self.doubt != Some(InconclusiveReason::MaybeFaster))
    }
}
