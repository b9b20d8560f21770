//! How a comparison is shown, and the type of its formats.

use gpubench_model::format;

use super::sanitized::Sanitized;

/// A format of a comparison.
pub type Format = format::Format<Sanitized, View>;

/// How a comparison is shown.
#[derive(Clone, Copy, Debug, Default)]
pub struct View {
    /// Every cell has its line, unchanged ones and those that were not judged included.
    pub all_cells: bool,
    /// ANSI colours for what became better, worse or could not be told.
    pub color: bool,
}
