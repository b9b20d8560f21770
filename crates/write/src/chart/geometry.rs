//! Points, rectangles and shapes in pixels, y downwards, and the area between two axes.

use super::axis::Axis;

pub(crate) type CanvasPoint = (f64, f64);

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Rect {
    pub left: f64,
    pub top: f64,
    pub right: f64,
    pub(crate) bottom: f64,
}

impl Rect {
    /// The rectangle of that middle.
    pub(crate) fn around((x, y): CanvasPoint, half_width: f64, half_height: f64) -> Rect {
        Rect { left: x - half_width, top: y - half_height, right: x + half_width, bottom: y + half_height }
    }

    /// The rectangle without a rim of `by` pixels.
    pub(crate) fn inset(&self, by: f64) -> Rect {
        Rect { left: self.left + by, top: self.top + by, right: self.right - by, bottom: self.bottom - by }
    }

    /// Two opposite corners.
    pub(crate) fn corners(&self) -> [CanvasPoint; 2] {
        [(self.left, self.top), (self.right, self.bottom)]
    }

    pub(crate) fn width(&self) -> f64 {
        self.right - self.left
    }

    pub(crate) fn height(&self) -> f64 {
        self.bottom - self.top
    }

    pub(crate) fn middle(&self) -> CanvasPoint {
        (f64::midpoint(self.left, self.right), f64::midpoint(self.top, self.bottom))
    }

    /// Returns whether two rectangles share more than an edge.
    pub(crate) fn intersects(&self, other: &Rect) -> bool {
        self.left < other.right
            && other.left < self.right
            && self.top < other.bottom
            && other.top < self.bottom
    }

    /// Returns whether `other` is entirely inside.
    pub(crate) fn holds(&self, other: &Rect) -> bool {
        self.left <= other.left
            && other.right <= self.right
            && self.top <= other.top
            && other.bottom <= self.bottom
    }

    pub(crate) fn has(&self, (x, y): CanvasPoint) -> bool {
        self.left <= x && x <= self.right && self.top <= y && y <= self.bottom
    }
}

/// An area with an axis along its bottom and one along its left edge.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plane<'a> {
    pub(crate) area: Rect,
    /// From left to right.
    pub x: &'a Axis,
    /// From the bottom to the top.
    pub y: &'a Axis,
}

impl Plane<'_> {
    /// The pixels of a value on the x axis.
    pub(crate) fn across(&self, x: f64) -> f64 {
        self.area.left + self.x.fraction(x) * self.area.width()
    }

    /// The pixels of a value on the y axis.
    pub(crate) fn down(&self, y: f64) -> f64 {
        self.area.bottom - self.y.fraction(y) * self.area.height()
    }

    pub(crate) fn place(&self, x: f64, y: f64) -> CanvasPoint {
        (self.across(x), self.down(y))
    }
}

/// The number of shapes of markers.
pub(crate) const SHAPES: usize = 7;

/// The corners of the marker of that index around `(x, y)`; all shapes look equally large at the same `radius`.
pub(crate) fn corners(marker: usize, (x, y): CanvasPoint, radius: f64) -> Vec<CanvasPoint> {
    // Corner count, the angle of the first corner in turns (0 is to the right, y downwards), and optical scale.
    let (count, turn, scale) = match marker % SHAPES {
        // A star: every other corner is near the middle.
        6 => (8, -0.25, 1.5),
        0 => (24, 0.0, 1.0),
        1 => (4, 0.125, 1.28),
        2 => (3, -0.25, 1.32),
        3 => (4, 0.0, 1.24),
        4 => (3, 0.25, 1.32),
        _ => (5, -0.25, 1.16),
    };
    let corner = |index: i32| {
        let angle = (turn + f64::from(index) / f64::from(count)) * std::f64::consts::TAU;
        let radius = if marker % SHAPES == 6 && index % 2 == 1 { 0.45 * radius } else { radius };
        (x + radius * scale * angle.cos(), y + radius * scale * angle.sin())
    };
    (0..count).map(corner).collect()
}
