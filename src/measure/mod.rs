//! How a prepared job is warmed up and sampled, and what is computed from the samples. Never prints.

pub mod batch;
pub mod drift;
pub mod grade;
pub mod modality;
pub mod sampling;
pub mod stats;
pub mod stopping;
pub mod threads;
