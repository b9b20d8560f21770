//! Derives the answer from the rows of a report: speed-ups, crossovers, the cost of the first use and shares of the
//! peaks. Every format of a report shows it.

#![forbid(unsafe_code)]

pub mod cost;
mod crossing;
pub mod crossover;
pub mod crossover_text;
mod curve;
mod estimate;
pub mod figure;
pub mod first_use;
mod host_memory;
mod json;
pub mod libraries;
mod names;
pub mod peak_share;
pub mod refinement;
mod sections;
mod speed_up;
#[doc(hidden)]
#[expect(clippy::unwrap_used, reason = "a trial is known to have what it unwraps")]
#[cfg(any(test, feature = "testing"))]
pub mod trial;
mod versus;
mod winner;
pub mod words;

pub use cost::Kind;
pub use crossover::{Crossover, Place, Stretch};
pub use estimate::Estimate;
pub use host_memory::{Kinds, memory_decides};
pub use json::Answered;
pub use names::Names;
pub use sections::{Comparison, Pair, Section, has_both_caches, sections, sections_of};
pub use speed_up::{SpeedUp, factor_text};
pub use versus::{Contender, Versus};
