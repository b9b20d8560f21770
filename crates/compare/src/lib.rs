//! Compares runs: finds the cells that became slower, faster, incorrect or missing between OLD and NEW, and tests each
//! change against the variation between runs.
//!
//! It reads reports only and uses no device. `docs/compare.md` describes the method.

#![forbid(unsafe_code)]

pub mod baseline;
mod compare;
pub mod environment;
#[cfg(test)]
mod example;
pub mod export;
pub mod load;
mod means;
mod pairs;
mod phrases;
pub mod planning;
pub mod policy;
mod result;
mod runs;
mod sentence;
mod statistics;
mod variance;
mod verdict;

pub use compare::{compare, compare_with_history};
pub use environment::{Difference, Severity};
pub use policy::{Limits, Policy};
pub use result::change::Verdict;
pub use result::{COMPARISON_SCHEMA, Comparison};
pub use runs::{Run, Runs};
pub use sentence::Sentence;

pub(crate) use result::{Change, InconclusiveReason};

#[cfg(test)]
mod tests;
