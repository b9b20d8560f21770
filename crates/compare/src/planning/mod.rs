//! The use of runs in which nothing changed: their spread, the runs needed to see a change, and whether a baseline can pass.

pub mod calibration;
pub mod plan;
pub mod repetition;
