//! Geometric means over groups of cells: the ratios shown for each op, and the test whether a mean changed.

pub mod changes;
pub mod groups;
pub mod ratios;
