//! The next steps that several verdicts and notes recommend, each worded once.

/// Runs per side that show a spread well enough to be recommended where there is none yet.
pub(crate) const MIN_RUNS: usize = 3;

/// How several runs per side are given.
pub(crate) const COMMAND: &str = "--old A B C --new D E F";

/// How earlier runs are given.
pub(crate) const HISTORY: &str = "two or more earlier runs as --history";

pub(crate) const SEE_WHAT_CHANGED: &str =
    "look at what changed; if you doubt the result, compare more runs per side";
