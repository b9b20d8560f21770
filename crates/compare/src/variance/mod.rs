//! The variance of each cell's time from run to run when nothing has changed.
//!
//! It is measured where a side has several runs and estimated from the other cells where each side has one.

pub(crate) mod joined_sides;
pub(crate) mod run_variance;
pub(crate) mod unreplicated;
