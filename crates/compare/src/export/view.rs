//! The view options of a comparison, and the type of its formats.

use gpubench_model::format;

use super::sanitized::Sanitized;

/// A format of a comparison.
pub type Format = format::Format<Sanitized, View>;

/// View options of a comparison.
#[derive(Clone, Copy, Debug, Default)]
pub struct View {
    /// Show a line for every cell, including unchanged and not judged ones.
    pub all_cells: bool,
    /// Use ANSI colours for better, worse and inconclusive cells.
    pub color: bool,
}
