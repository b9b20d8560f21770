//! The input of the verdicts: the joined cells with their limits and variances.

use super::run_variance::RunVariance;
use crate::pairs::pairing::Pair;
use crate::{Limits, Runs};

/// Both sides joined cell by cell, with the data that means, notes and the source of the variances need.
pub(crate) struct JoinedSides<'a> {
    pub pairs: &'a [Pair],
    pub limits: &'a [Limits],
    pub(crate) variances: &'a [Option<RunVariance>],
    pub old: &'a Runs,
    pub new: &'a Runs,
    /// Earlier, unchanged runs.
    pub history: &'a Runs,
    /// Factor for every variance between runs: 1 except in tests that break the comparison on purpose.
    pub(crate) distortion: f64,
}
