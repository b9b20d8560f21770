//! Derives numbers and verdicts from reports: answers, comparisons, trends and outliers in fleets.

#![forbid(unsafe_code)]

pub mod advice;
pub mod answer;
pub mod compare;
pub mod fleet;
pub mod trend;
