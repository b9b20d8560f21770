//! Charts of panels: times in the order in which they were taken, a panel a series, one x axis for all of them.
//!
//! Positions are places in the order, not times of day.

mod draw;

use super::Format;
pub(crate) use super::axis::{Axis, panel_axis};
pub(crate) use super::series::{Marks, Point};
use crate::palette::{Role, Theme};
use gpubench_report::report::file::File;

/// Panels that one chart can hold; more would be too low to show a change.
pub(crate) const MOST_PANELS: usize = 4;

/// A chart of panels.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct PanelChart {
    /// Name of its file, without extension.
    pub name: String,
    pub title: String,
    /// A line under the title.
    pub subtitle: String,
    pub captions: Vec<String>,
    pub x_title: String,
    /// Positions on the x axis: from 0 to one less.
    pub positions: usize,
    /// Positions that may be labelled, ascending, with their labels; those without room are left out.
    pub ticks: Vec<(usize, String)>,
    /// The panels, from the top; 1 to [`MOST_PANELS`].
    pub panels: Vec<Panel>,
}

/// One series.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Panel {
    pub heading: String,
    /// The text next to its name.
    pub remark: String,
    pub hue: Role,
    /// The y axis; points beyond are drawn at the edge.
    pub y: Axis,
    pub points: Vec<Point>,
    /// Points from this position onward are drawn open, as not confirmed.
    pub open_from: Option<f64>,
    /// Lines at a level: first and last position, and value.
    pub levels: Vec<(f64, f64, f64)>,
    pub marks: Vec<Mark>,
    /// Positions without a value.
    pub gaps: Vec<f64>,
}

/// A place where something changed.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Mark {
    /// The position of the mark, between two points.
    pub position: f64,
    /// Labels of the mark, the longest first: the first that has room is drawn.
    pub texts: Vec<String>,
    /// Whether the change is to the worse, to the better, or not confirmed.
    pub kind: MarkKind,
}

/// The kind of a mark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MarkKind {
    Worse,
    Better,
    /// A change that is not confirmed.
    Open,
}

impl Panel {
    /// Returns whether some of its points are beyond the axis.
    pub(crate) fn has_points_beyond(&self) -> bool {
        self.points.iter().any(|point| !(0.0..=1.0).contains(&self.y.fraction(point.y)))
    }
}

/// Charts as files.
///
/// # Errors
/// A chart cannot be drawn or encoded.
pub(crate) fn files(charts: &[PanelChart], format: Format, theme: Theme) -> anyhow::Result<Vec<File>> {
    super::pictures(charts, PanelChart::file, &[format], theme)
}

#[cfg(test)]
mod tests;
