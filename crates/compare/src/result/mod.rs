//! The result of a comparison as data: the verdict on each cell, the changes of means, and the gate's conclusion.
//!
//! These types are what `compare.json` holds and what every output format reads. Nothing here computes.

pub(crate) mod change;
pub(crate) mod comparison;
pub(crate) mod mean_change;
pub(crate) mod sentence;
