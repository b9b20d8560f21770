//! Geometric means over groups of cells: the ratios shown for each op, and the test whether a mean changed.

pub(crate) mod changes;
pub(crate) mod groups;
pub(crate) mod ratios;
