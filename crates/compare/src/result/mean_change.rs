//! The result for the geometric mean of a group of cells.

use gpubench_text::count::counted;
use serde::{Deserialize, Serialize};

use crate::{InconclusiveReason, Verdict};

/// The change of the geometric mean of a group's times, with its verdict.
///
/// The run is the unit: the mean of the logarithms of the times of one run is one value.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct MeanChange {
    /// Name of the op; absent where cells of all ops are in the mean.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub op: Option<String>,
    /// Name of the backend; absent where cells of all backends are in the mean.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub backend: Option<String>,
    /// Cells in the mean: those with a time in every run of both sides.
    pub cells: usize,
    /// The verdict: slower, faster, same, inconclusive or not judged.
    pub verdict: Verdict,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) inconclusive_reason: Option<InconclusiveReason>,
    /// The reason in one line without the group's name: `1.020x slower (1.017 to 1.023); no single cell is slower`.
    pub reason: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
    /// Geometric mean of the times of NEW over that of OLD: above 1 is slower.
    pub ratio: f64,
    /// The 95 % interval of that ratio.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interval: Option<[f64; 2]>,
    /// Probability of a ratio at least this far from 1 if nothing changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p: Option<f64>,
    /// This probability, corrected for the number of means tested.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) p_corrected: Option<f64>,
    /// The smallest relative slowdown that these data detect with a probability of 80 %: 0.02 is 2 %.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub smallest_detectable_change: Option<f64>,
    /// Relative standard deviation of the mean between runs, as used in the test.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub variation_between_runs: Option<f64>,
    /// The relative threshold: 0.02 is 2 %.
    pub threshold: f64,
}

impl MeanChange {
    /// Returns the group in words: `all 60 cells`, `30 cells of cuda`, `5 cells of fft on cuda`.
    pub(crate) fn name(&self) -> String {
        let cells = counted(self.cells, "cell");
        match (&self.op, &self.backend) {
            (None, None) => format!("all {cells}"),
            (None, Some(backend)) => format!("{cells} of {backend}"),
            (Some(op), None) => format!("{cells} of {op}"),
            (Some(op), Some(backend)) => format!("{cells} of {op} on {backend}"),
        }
    }

    /// Returns an identifier that is unique within a comparison: `mean/all`, `mean/cuda`, `mean/cuda/fft`.
    pub(crate) fn key(&self) -> String {
        let parts = [self.backend.as_deref(), self.op.as_deref()];
        let parts: Vec<&str> = parts.into_iter().flatten().collect();
        if parts.is_empty() { "mean/all".into() } else { format!("mean/{}", parts.join("/")) }
    }

    /// Returns true if the gate reports it as a regression.
    pub(crate) fn is_regression(&self) -> bool {
        self.verdict == Verdict::Slower
    }
}

#[cfg(test)]
mod tests {
    use crate::example;

    #[test]
    fn means_are_named_by_their_backend_and_op() {
        let mut mean = example::full().mean_changes[0].clone();
        let names = |mean: &super::MeanChange| (mean.name(), mean.key());
        assert_eq!(names(&mean), ("all 6 cells".into(), "mean/all".into()));
        mean.backend = Some("cuda".into());
        assert_eq!(names(&mean), ("6 cells of cuda".into(), "mean/cuda".into()));
        mean.op = Some("fft".into());
        assert_eq!(names(&mean), ("6 cells of fft on cuda".into(), "mean/cuda/fft".into()));
    }
}
