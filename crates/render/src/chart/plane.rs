//! Maps values to places in the area between two axes.

use super::axis::Axis;
use super::geometry::{Place, Rect};

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

    pub(crate) fn place(&self, x: f64, y: f64) -> Place {
        (self.across(x), self.down(y))
    }
}
