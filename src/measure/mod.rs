//! How a prepared job is warmed up and sampled, and what is computed from the samples. Never prints.

pub mod sampling;
pub mod stats;
