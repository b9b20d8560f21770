//! What the formats of pictures ask of a chart.

use super::canvas::Canvas;

/// What a chart of any kind can do.
pub(crate) trait Picture: Sync {
    /// The name of its file, without extension.
    fn name(&self) -> &str;

    /// Draws itself on a canvas of [`SIZE`](super::SIZE).
    fn draw(&self, canvas: &Canvas<'_>) -> anyhow::Result<()>;
}
