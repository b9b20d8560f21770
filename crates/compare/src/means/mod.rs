//! Geometric means over groups of cells: the ratios shown for each op, and the tests for changed means.

pub(crate) mod changes;
pub(crate) mod groups;
pub(crate) mod ratios;
