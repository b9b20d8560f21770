//! Charts of lines: time against size, and speed-ups against size.

mod draw;
pub(crate) mod labels;
pub(crate) mod speed_up;
pub(crate) mod strokes;
pub(super) mod time;

use std::collections::BTreeSet;

use super::frame::{Frame, Row, Sample};
use super::series::Series;
pub(super) use draw::draw;
use gpubench_text::palette::Role;

/// The title of an axis of sizes.
pub(crate) const SIZE_TITLE: &str = "N, size of the square operands (log scale)";

/// A value that splits the plot in two named regions.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Reference {
    pub value: f64,
    pub above: &'static str,
    pub below: &'static str,
}

/// The crossover of a series with the reference line.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Crossing {
    pub hue: Role,
    pub size: f64,
    /// The 95 % interval of the size; an end outside the measured sizes is outside the axis.
    pub interval: [f64; 2],
    /// The label next to it: `N = 310`.
    pub label: String,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct LineChart {
    pub(crate) frame: Frame,
    /// The lines, those of one legend group together.
    pub series: Vec<Series>,
    /// The line at which neither side wins.
    pub reference: Option<Reference>,
    pub(crate) crossings: Vec<Crossing>,
}

/// The rows of a legend that list the series under the headings of their groups.
fn legend(series: &[Series]) -> Vec<Row> {
    let mut rows = vec![];
    for group in series.chunk_by(|a, b| a.group == b.group) {
        rows.push(Row::Heading(group[0].group.to_owned()));
        rows.extend(group.iter().map(|one| Row::Entry(Sample::Line(one.style), one.label.clone())));
    }
    rows
}

/// All sizes of the series, ascending.
pub(crate) fn sizes(series: &[Series]) -> Vec<u64> {
    let sizes: BTreeSet<u64> =
        series.iter().flat_map(|one| &one.points).map(|point| point.x as u64).collect();
    sizes.into_iter().collect()
}

/// All values that the y axis must hold; `None` when there is no point.
fn extremes(series: &[Series]) -> Option<Vec<f64>> {
    let points = series.iter().flat_map(|one| &one.points);
    let values: Vec<f64> = points.flat_map(|point| [point.low, point.y, point.high]).collect();
    (!values.is_empty()).then_some(values)
}

#[cfg(test)]
mod tests;
