//! Charts of lines: time, throughput and speed-ups against size.

pub(super) mod quantity;
pub(crate) mod speed_up;
pub(crate) mod strokes;
pub(super) mod variants;

use std::collections::BTreeSet;

use super::ChartKind;
use super::canvas::Canvas;
use super::draw::{FrameDrawing, MARKER, grid, x_labels, y_labels};
use super::frame::{Frame, LegendRow, LegendSample};
use super::layout::{Axes, Extent, TEXT};
use super::series::{ChartSeries, Marks, Point, Style};
use crate::palette::Role;
use strokes::Strokes;

/// Em of the labels next to points.
const POINT_TEXT: f64 = 23.0;

/// The crossover of a series with 1.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct CrossingMark {
    pub hue: Role,
    pub size: f64,
    /// The 95 % interval of the size, within the sizes measured.
    pub interval: [f64; 2],
    /// The label next to it: `N = 310`.
    pub label: String,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct LineChart {
    pub(crate) kind: ChartKind,
    pub(crate) frame: Frame,
    pub(crate) axes: Axes,
    pub(crate) lines: PlotLines,
}

/// The lines of a plot, and the values marked on it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct PlotLines {
    /// The lines, those of one legend group together.
    pub series: Vec<ChartSeries>,
    /// Whether the areas above and below 1 have the colours of the faster contender.
    pub(crate) has_sides: bool,
    pub(crate) crossings: Vec<CrossingMark>,
    /// Values that a line across the plot shows: measured peaks.
    pub(crate) levels: Vec<PeakLevel>,
}

/// A value that a line across the plot shows.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct PeakLevel {
    pub value: f64,
    pub label: String,
    pub(crate) style: Style,
}

/// The rows of a legend that list the series under the headings of their groups.
fn legend(series: &[ChartSeries]) -> Vec<LegendRow> {
    let mut rows = vec![];
    for group in series.chunk_by(|a, b| a.group == b.group) {
        rows.push(LegendRow::Heading(group[0].group.to_owned()));
        rows.extend(
            group.iter().map(|one| LegendRow::Entry(LegendSample::Line(one.style), one.label.clone())),
        );
    }
    rows
}

/// The rows of a legend that explain the marks of points, as far as there are such points.
pub(crate) fn mark_notes(series: &[ChartSeries]) -> Vec<LegendRow> {
    let has = |is_set: fn(Marks) -> bool| {
        series.iter().flat_map(|one| &one.points).any(|point| is_set(point.marks))
    };
    let none = Marks::default();
    let (tie, grade_d) = (Marks { is_tie: true, ..none }, Marks { grade_d: true, ..none });
    let rows = [
        (has(|marks| marks.is_tie), LegendSample::Mark(tie), "?: interval includes 1x"),
        (has(|marks| marks.grade_d), LegendSample::Mark(grade_d), "!: unreliable"),
    ];
    let rows = rows.into_iter().filter(|(shown, ..)| *shown);
    LegendRow::headed("Marks", rows.map(|(_, sample, text)| LegendRow::Entry(sample, text.into())).collect())
}

/// All sizes of the series, ascending.
pub(crate) fn sizes(series: &[ChartSeries]) -> Vec<u64> {
    let sizes: BTreeSet<u64> =
        series.iter().flat_map(|one| &one.points).map(|point| point.x as u64).collect();
    sizes.into_iter().collect()
}

/// All values that the y axis must hold.
pub(crate) fn extremes<'a>(series: impl IntoIterator<Item = &'a ChartSeries>) -> Vec<f64> {
    series.into_iter().flat_map(|one| &one.points).flat_map(Point::drawn).collect()
}

pub(super) fn draw(chart: &LineChart, extent: Extent, canvas: &Canvas) {
    let frame = FrameDrawing::begin(canvas, &chart.frame, &chart.axes, extent);
    let (plane, lines) = (frame.layout.plane, &chart.lines);
    // Of hundreds of points, large markers would only cover each other.
    let most = lines.series.iter().map(|series| series.points.len()).max().unwrap_or(0);
    let marker = (0.4 * plane.area.width() / most as f64).clamp(2.5, MARKER);
    let strokes = Strokes { canvas, plane, lines, marker, em: POINT_TEXT };
    strokes.tints(&plane.area);
    frame.titles();
    grid(canvas, &plane);
    strokes.lines();
    x_labels(canvas, &plane, TEXT);
    y_labels(canvas, &plane, TEXT);
    frame.legend();
}

#[cfg(test)]
mod tests;
