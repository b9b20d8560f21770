//! Draws the conclusions: the verdict on each cell, the gate's exit code, and the notes on the comparison as a whole.

pub(crate) mod advice;
pub(crate) mod cell;
pub(crate) mod gate;
pub(crate) mod notes;
pub(crate) mod variance_source;
