//! What a report answers: does the GPU pay, by how much, from which size on, and how near each side is to its limit.
//!
//! Derived from rows alone; knows no format, no device and no command line.

pub mod cost;
pub mod crossover;
mod estimate;
pub mod first_use;
mod json;
pub mod machine;
mod names;
mod resample;
pub mod roof;
mod sections;
mod speed_up;
pub mod words;

pub use cost::Kind;
pub use crossover::{Crossover, Place};
pub use estimate::Estimate;
pub use json::Answered;
pub use names::Names;
pub use sections::{Comparison, Pair, Section, has_both_caches, sections};
pub use speed_up::{SpeedUp, factor_text};
