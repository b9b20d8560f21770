//! Derives numbers and verdicts from reports: answers, comparisons, trends and findings of fleets. Writes no text.

#![forbid(unsafe_code)]

pub mod answer;
pub mod compare;
pub mod fleet;
pub mod trend;
