//! Samples and what is computed from them: medians, intervals, drift, modes, grades, and when there are enough.

pub mod batch;
pub mod drift;
pub mod grade;
pub mod modality;
pub mod sampling;
pub mod stats;
pub mod stopping;
