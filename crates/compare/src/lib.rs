//! Compares reports with each other: two sides of runs, baselines, the history of a folder, several machines. Reads reports
//! only and touches no device.

#![forbid(unsafe_code)]

pub mod baseline;
pub mod compare;
pub mod fleet;
pub mod trend;
