//! Computes statistics of samples: medians, intervals, drift, clusters, grades, and the rule when to stop.

pub mod batch;
pub mod drift;
pub mod grade;
pub mod modality;
pub mod sampling;
pub mod stats;
pub mod stopping;
