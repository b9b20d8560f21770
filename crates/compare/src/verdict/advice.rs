//! Texts of next steps that several verdicts and notes share.

/// Recommended number of runs per side if each side has one.
pub(crate) const MIN_RUNS: usize = 3;

pub(crate) const COMMAND: &str = "--old A B C --new D E F";

pub(crate) const HISTORY: &str = "two or more earlier runs as --history";

pub(crate) const SEE_WHAT_CHANGED: &str =
    "look at what changed; if you doubt the result, compare more runs per side";
