//! Shapes of markers, as polygons around a place.

use super::geometry::Place;

pub(crate) const SHAPES: usize = 6;

/// The corners of the marker of that index around `(x, y)`; all shapes look equally large at the same `radius`.
pub(crate) fn corners(marker: usize, (x, y): Place, radius: f64) -> Vec<Place> {
    // Corner count, the angle of the first corner in turns (0 is to the right, y downwards), and optical scale.
    let (count, turn, scale) = match marker % SHAPES {
        0 => (24, 0.0, 1.0),
        1 => (4, 0.125, 1.28),
        2 => (3, -0.25, 1.32),
        3 => (4, 0.0, 1.24),
        4 => (3, 0.25, 1.32),
        _ => (5, -0.25, 1.16),
    };
    let corner = |index: i32| {
        let angle = (turn + f64::from(index) / f64::from(count)) * std::f64::consts::TAU;
        (x + radius * scale * angle.cos(), y + radius * scale * angle.sin())
    };
    (0..count).map(corner).collect()
}
