//! The series of a chart: points and style of each variant or report.

use crate::palette::Role;
use gpubench_analysis::answer::Pair;
use gpubench_report::report::Row;
use gpubench_report::{Accuracy, Side};

/// One point with its spread.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Point {
    /// Size of the operands.
    pub x: f64,
    /// Median time in seconds, or ratio.
    pub y: f64,
    /// Low end of the band.
    pub low: f64,
    /// High end of the band.
    pub high: f64,
    /// The label next to it, if any.
    pub label: Option<String>,
    /// What a reader must know of it before using it.
    pub marks: Marks,
    /// What a page shows of it under the pointer: N, value, interval, variant.
    pub note: String,
}

impl Point {
    /// The value and the ends of its band.
    pub(crate) fn drawn(&self) -> [f64; 3] {
        if self.marks.grade_d { [self.y; 3] } else { [self.low, self.y, self.high] }
    }
}

/// Reservations about a point, which its marker and its label show.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Marks {
    /// The interval of the speed-up includes 1: a tie, in no side's colour.
    pub is_tie: bool,
    /// A time has grade D.
    pub grade_d: bool,
}

impl Marks {
    /// The marks of a speed-up.
    pub(crate) fn of(pair: &Pair<'_>) -> Marks {
        Marks { is_tie: pair.speed_up.winner().is_none(), grade_d: pair.is_unreliable() }
    }
}

/// The stroke of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stroke {
    /// The GPU's side; times end to end with pageable memory.
    Solid,
    /// The CPU's side; times end to end with pinned memory.
    Dashed,
    /// Reduced precision, outside the headline.
    Dotted,
}

impl Stroke {
    /// The stroke for the variant of a row.
    pub(crate) fn of(row: &Row) -> Stroke {
        match (row.is_headline(), row.side) {
            (false, _) => Stroke::Dotted,
            (true, Side::Cpu) => Stroke::Dashed,
            (true, Side::Gpu) => Stroke::Solid,
        }
    }
}

/// The style of a series. Stroke and marker distinguish series without colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Style {
    pub hue: Role,
    pub(crate) stroke: Stroke,
    /// Index of the marker's shape.
    pub(crate) marker: usize,
    /// Set for a filled marker (GPU); otherwise it is open.
    pub filled: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ChartSeries {
    pub label: String,
    /// The heading under which the legend lists it.
    pub group: &'static str,
    pub(crate) style: Style,
    /// The points of the line, ascending in x.
    pub points: Vec<Point>,
    /// Places between its points, as x and y, that its line passes through without a marker: where a ratio is estimated
    /// to cross 1.
    pub(crate) bends: Vec<(f64, f64)>,
}

impl ChartSeries {
    /// The neighbouring points that a band of intervals connects: it leaves out unreliable ones, whose intervals say
    /// nothing and would only cover other lines.
    pub(crate) fn bands(&self) -> impl Iterator<Item = &[Point]> {
        self.points.split(|point| point.marks.grade_d).filter(|points| !points.is_empty())
    }

    /// The places its line connects, ascending in x.
    pub(crate) fn path(&self) -> Vec<(f64, f64)> {
        let points = self.points.iter().map(|point| (point.x, point.y));
        let mut path: Vec<(f64, f64)> = points.chain(self.bends.iter().copied()).collect();
        path.sort_by(|a, b| a.0.total_cmp(&b.0));
        path
    }
}

/// Headings of the legend, in its order.
pub(crate) const GROUPS: [&str; 6] = [
    "CPU",
    "CPU, emulated precision",
    "CPU, reduced precision",
    "GPU",
    "GPU, emulated precision",
    "GPU, reduced precision",
];

/// Heading of the legend for a row's series.
pub(crate) fn group(row: &Row) -> &'static str {
    let of_side = match row.side {
        Side::Cpu => &GROUPS[..3],
        Side::Gpu => &GROUPS[3..],
    };
    match row.accuracy {
        Accuracy::Ieee => of_side[0],
        Accuracy::Emulated => of_side[1],
        Accuracy::Tf32 | Accuracy::F16 | Accuracy::Bf16 => of_side[2],
    }
}
