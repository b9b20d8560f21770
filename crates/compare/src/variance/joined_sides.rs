//! A comparison before its verdicts: the joined cells with their limits and the spreads found for them.

use super::run_variance::RunVariance;
use crate::pairs::pairing::Pair;
use crate::{Limits, Runs};

/// Both sides joined cell by cell, from which means, notes and the origin of the spreads are taken.
pub(crate) struct JoinedSides<'a> {
    pub pairs: &'a [Pair],
    pub limits: &'a [Limits],
    pub(crate) spreads: &'a [Option<RunVariance>],
    pub old: &'a Runs,
    pub new: &'a Runs,
    /// Earlier runs in which nothing changed.
    pub history: &'a Runs,
    /// What every variance from run to run is multiplied by: 1, but where a test breaks the comparison on purpose.
    pub(crate) distortion: f64,
}
