//! Draws a line chart in its frame.

use super::LineChart;
use super::labels::Contents;
use super::strokes::Strokes;
use crate::chart::canvas::Canvas;
use crate::chart::draw::{Drawing, MARKER};
use crate::chart::layout::{Extent, Layout};

/// Em of the labels next to points.
const POINT_TEXT: f64 = 23.0;

impl LineChart {
    /// The contents of the plot.
    pub(crate) fn contents<'a>(&'a self, layout: &Layout) -> Contents<'a> {
        Contents {
            plane: layout.plane(&self.frame),
            series: &self.series,
            reference: self.reference.as_ref(),
            crossings: &self.crossings,
            levels: &self.levels,
            marker: MARKER,
            em: POINT_TEXT,
        }
    }
}

pub(crate) fn draw(chart: &LineChart, extent: Extent, canvas: &Canvas<'_>) -> anyhow::Result<()> {
    let layout = Layout::of(&chart.frame, extent);
    let frame = Drawing::begin(canvas, &chart.frame, &layout)?;
    let strokes = Strokes { canvas, contents: chart.contents(&layout) };
    strokes.ground()?;
    frame.titles()?;
    frame.grid()?;
    strokes.lines()?;
    frame.axis_labels()?;
    frame.legend()
}
