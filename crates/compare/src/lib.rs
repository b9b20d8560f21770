//! Compares runs: finds the cells that became slower, faster, incorrect or missing between OLD and NEW, and tests each
//! change against the variation between runs.
//!
//! It reads reports only and uses no device. `docs/compare.md` describes the method.

#![forbid(unsafe_code)]

pub mod baseline;
mod compare;
pub mod environment;
#[cfg(test)]
pub(crate) mod example;
pub mod export;
pub mod load;
mod means;
mod pairs;
mod planning;
pub mod policy;
mod result;
pub mod runs;
pub mod self_test;
mod statistics;
mod variance;
mod verdict;

pub use compare::{compare, compare_with_history};
pub use environment::{Difference, Severity};
pub use planning::{calibration, plan, repetition};
pub use policy::{Limits, Policy};
pub use result::change::Verdict;
pub use result::comparison::{COMPARISON_SCHEMA, Comparison};
pub use result::sentence::Sentence;
pub use runs::{Run, Runs};

pub(crate) use result::change::{Change, InconclusiveReason, Measured};
#[cfg(test)]
pub(crate) use result::comparison::COMPARISON_VERSION;
pub(crate) use result::comparison::{Conclusion, Count, Gate, Mean, Method, Note};
pub(crate) use result::mean_change::MeanChange;
pub(crate) use runs::RunInfo;

#[cfg(test)]
mod tests;
