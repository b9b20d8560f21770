//! Estimates the variance of each cell's time between unchanged runs.
//!
//! It is measured if a side has several runs, and estimated from the other cells if each side has one.

pub(crate) mod joined_sides;
pub(crate) mod run_variance;
pub(crate) mod unreplicated;
