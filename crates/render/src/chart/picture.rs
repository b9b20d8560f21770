//! The trait by which the picture formats draw a chart.

use super::canvas::Canvas;

/// A chart of any kind.
pub(crate) trait Picture: Sync {
    /// The name of its file, without extension.
    fn name(&self) -> &str;

    /// Draws itself on a canvas of [`SIZE`](super::SIZE).
    fn draw(&self, canvas: &Canvas<'_>) -> anyhow::Result<()>;
}
