//! The trait by which the picture formats draw a chart.

use super::canvas::{Canvas, SIZE};

/// A chart of any kind.
pub(crate) trait Picture: Sync {
    /// The name of its file, without extension.
    fn name(&self) -> &str;

    /// Its width and height in pixels; bitmaps always have that of files.
    fn size(&self) -> (u32, u32) {
        SIZE
    }

    /// Draws itself on a canvas of that size.
    fn draw(&self, canvas: &Canvas<'_>) -> anyhow::Result<()>;
}
