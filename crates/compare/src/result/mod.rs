//! The result of a comparison as data: the verdict on each cell, the changes of means, and the gate's conclusion.
//!
//! These types are what `compare.json` holds and what every output format reads. Nothing here computes.

pub mod change;
pub mod comparison;
pub mod mean_change;
pub mod sentence;
