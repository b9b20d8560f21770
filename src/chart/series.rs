//! Series of a chart: what is drawn for each variant or report, and how they are told apart. Knows no pixels.

use crate::backend::Side;
use crate::report::Row;

/// One point with its spread.
#[derive(Clone, Debug, PartialEq)]
pub struct Point {
    /// Size of the operands.
    pub x: f64,
    /// Median time in seconds, or ratio.
    pub y: f64,
    /// Low end of the band.
    pub low: f64,
    /// High end of the band.
    pub high: f64,
    /// What stands beside it, if anything.
    pub label: Option<String>,
}

/// How a line is stroked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stroke {
    /// The GPU's side.
    Solid,
    /// The CPU's side.
    Dashed,
    /// Reduced precision, outside the headline.
    Dotted,
}

/// The looks of a series. Stroke and marker tell series apart without colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Style {
    /// Red, green and blue.
    pub color: (u8, u8, u8),
    /// Stroke of the line.
    pub stroke: Stroke,
    /// Index of the marker's shape.
    pub marker: usize,
    /// Whether the marker is filled, as on the GPU's side, or open.
    pub filled: bool,
}

/// One line of a chart.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    /// Its name in the legend.
    pub label: String,
    /// The heading under which the legend lists it.
    pub group: &'static str,
    /// Its looks.
    pub style: Style,
    /// Its points, ascending in x.
    pub points: Vec<Point>,
}

// The colours of Okabe and Ito (2008), safe for the colour-blind; their yellow is left out as too pale on white.
const BLACK: (u8, u8, u8) = (0x00, 0x00, 0x00);
const ORANGE: (u8, u8, u8) = (0xE6, 0x9F, 0x00);
const SKY: (u8, u8, u8) = (0x56, 0xB4, 0xE9);
const GREEN: (u8, u8, u8) = (0x00, 0x9E, 0x73);
const BLUE: (u8, u8, u8) = (0x00, 0x72, 0xB2);
const VERMILION: (u8, u8, u8) = (0xD5, 0x5E, 0x00);
const PURPLE: (u8, u8, u8) = (0xCC, 0x79, 0xA7);

/// The two sides begin with different colours and meet only when both have many series.
const CPU_COLORS: [(u8, u8, u8); 7] = [VERMILION, ORANGE, PURPLE, BLACK, SKY, GREEN, BLUE];
const GPU_COLORS: [(u8, u8, u8); 7] = [BLUE, GREEN, SKY, BLACK, PURPLE, ORANGE, VERMILION];

/// The looks of the `index`-th series of a side.
pub fn style(side: Side, reduced: bool, index: usize) -> Style {
    let (colors, stroke) = match side {
        Side::Cpu => (CPU_COLORS, Stroke::Dashed),
        Side::Gpu => (GPU_COLORS, Stroke::Solid),
    };
    Style {
        color: colors[index % colors.len()],
        stroke: if reduced { Stroke::Dotted } else { stroke },
        marker: index,
        filled: side == Side::Gpu,
    }
}

/// Heading of the legend for a row's series.
pub fn group(row: &Row) -> &'static str {
    match (row.side, row.accuracy.is_headline()) {
        (Side::Cpu, true) => "CPU",
        (Side::Cpu, false) => "CPU, reduced precision",
        (Side::Gpu, true) => "GPU",
        (Side::Gpu, false) => "GPU, reduced precision",
    }
}
