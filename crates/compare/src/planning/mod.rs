//! Analyses unchanged runs: their variation, the number of runs needed to detect a change, and the chance that an
//! unchanged run passes against a baseline.

pub mod calibration;
pub mod plan;
pub mod repetition;
