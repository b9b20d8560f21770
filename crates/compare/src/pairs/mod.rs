//! The two sides joined cell by cell, with the evidence that the runs of each side have of a cell.
//!
//! Everything that is computed later (spreads, verdicts, means) reads these pairs and no report.

pub(crate) mod comparability;
pub(crate) mod evidence;
pub(crate) mod pace;
pub(crate) mod pairing;
