//! The conclusions: the verdict on each cell, the gate's exit code, and the remarks on the comparison as a whole.

pub mod advice;
pub mod cell;
pub mod gate;
pub mod notes;
pub mod origin;
