//! Joins the two sides cell by cell and collects the times that the runs of each side have for a cell.
//!
//! All later steps (variances, verdicts, means) read these pairs instead of reports.

pub(crate) mod comparability;
pub(crate) mod evidence;
pub(crate) mod pace;
pub(crate) mod pairing;
