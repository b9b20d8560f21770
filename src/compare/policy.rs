//! What counts as a change: thresholds, and what to make of missing cells and differing machines.

use crate::case::Cell;

/// What a comparison is judged by.
#[derive(Clone, Debug, PartialEq)]
pub struct Policy {
    /// The change that counts, relative; by what paces a cell where it is not said.
    pub threshold: Option<f64>,
    /// Chance, over the whole comparison, of calling any cell changed when none did.
    pub alpha: f64,
    /// Missing cells do not keep the gate from passing.
    pub accept_missing: bool,
    /// Unsure cells do not keep the gate from passing.
    pub accept_unsure: bool,
    /// Machines may differ: ratios are told, and nothing is concluded from them.
    pub cross_machine: bool,
}

impl Default for Policy {
    fn default() -> Self {
        Policy {
            threshold: None,
            alpha: 0.01,
            accept_missing: false,
            accept_unsure: false,
            cross_machine: false,
        }
    }
}

/// What the policy says of one cell; what it leaves open has a default.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Limits {
    /// The change that counts, relative: 0.05 is 5 %.
    pub threshold: Option<f64>,
    /// Standard deviation from run to run, relative, that is assumed where it was not measured.
    pub run_spread: Option<f64>,
    /// How many times larger an error may become.
    pub error_growth: Option<f64>,
    /// The cell is left out.
    pub ignored: bool,
}

impl Policy {
    /// What it says of `cell`.
    pub fn limits(&self, _cell: &Cell) -> Limits {
        Limits { threshold: self.threshold, ..Limits::default() }
    }
}
