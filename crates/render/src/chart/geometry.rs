//! Points and rectangles in pixels, y downwards.

pub(crate) type Place = (f64, f64);

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Rect {
    pub left: f64,
    pub top: f64,
    pub right: f64,
    pub(crate) bottom: f64,
}

impl Rect {
    /// The rectangle of that middle.
    pub(crate) fn around((x, y): Place, half_width: f64, half_height: f64) -> Rect {
        Rect { left: x - half_width, top: y - half_height, right: x + half_width, bottom: y + half_height }
    }

    /// The same without so much at every edge.
    pub(crate) fn inset(&self, by: f64) -> Rect {
        Rect { left: self.left + by, top: self.top + by, right: self.right - by, bottom: self.bottom - by }
    }

    /// Two opposite corners.
    pub(crate) fn corners(&self) -> [Place; 2] {
        [(self.left, self.top), (self.right, self.bottom)]
    }

    pub(crate) fn width(&self) -> f64 {
        self.right - self.left
    }

    pub(crate) fn height(&self) -> f64 {
        self.bottom - self.top
    }

    pub(crate) fn middle(&self) -> Place {
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

    pub(crate) fn has(&self, (x, y): Place) -> bool {
        self.left <= x && x <= self.right && self.top <= y && y <= self.bottom
    }
}
